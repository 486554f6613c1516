internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The methods to unlock the vault, each with the reason why it cannot be used now, as far as that is known before any
/// prompt.
extension WaysIn {
  /// A method to unlock the vault.
  package struct Method {
    /// The name of the method: a kind of slot, or `fingerprint`.
    package let name: String
    /// The obstacle to its use now; nil for none.
    package let obstacle: Obstacle?
    /// True when the machine supports the method. If an open vault has no PAM slot, the fingerprint service is not
    /// asked, and `fingerprint` counts as not supported.
    package let isPossible: Bool

    /// - Parameter machine: the obstacle on the side of the machine; nil for none.
    fileprivate init(_ name: String, _ obstacle: Obstacle?, _ machine: Obstacle? = nil) {
      (self.name, self.obstacle, isPossible) = (name, obstacle, machine == nil)
    }
  }

  /// The time to wait for the fingerprint service, in nanoseconds.
  private static let patience: Int64 = 700_000_000

  /// Determines the methods for `uid`, with the enrolled fingers. The answer comes soon, even if the fingerprint
  /// service does not answer.
  package func methods(for uid: UInt32, then: @escaping ([Method]) -> Void) {
    // Without a PAM slot no finger opens anything, so fprintd need not be started.
    guard vault.openKeychain?.presenceSlots.isEmpty == false else {
      return then(methods(for: uid, .noService))
    }
    fingers(of: uid) { [unowned self] fingers in then(methods(for: uid, fingers)) }
  }

  /// Asks for the enrolled fingers of `uid`, with a time limit.
  func fingers(of uid: UInt32, then: @escaping (Fingers) -> Void) {
    var then: ((Fingers) -> Void)? = then
    let answer = { (fingers: Fingers) in
      guard let once = then else { return }
      then = nil
      once(fingers)
    }
    let cancel = timer.after(Self.patience) { answer(.unknown("the fingerprint service does not answer")) }
    presence.means.fingers(uid) { fingers in
      cancel()
      answer(fingers)
    }
  }

  private func methods(for uid: UInt32, _ fingers: Fingers) -> [Method] {
    let keychain: Keychain
    switch vault.store.content {
    case .open(let open): keychain = open
    case .none: return none(because: Obstacle("there is no vault yet", "make one with `vault init`"), uid)
    case .unreadable: return none(because: Obstacle("the store cannot be opened"), uid)
    }
    let pam =
      obstacle(to: .pam, keychain, uid: uid)?.obstacle ?? disagreement(fingers, keychain, uid)
      ?? fingers.obstacle.flatMap { _ in
        attempts.wait(for: Backoff.Source(uid: uid, method: SlotKind.pam.name))?.obstacle
      }
    let noPAM = presence.means.obstacle(presence.passwordQuestion(for: uid))
    let noFinger = presence.means.obstacle(presence.biometryQuestion(for: uid)) ?? fingers.obstacle
    var methods = [Method("pam", pam, noPAM), Method("fingerprint", pam ?? noFinger, noFinger)]
    for kind in SlotKind.allCases where kind.facts.secret != .presenceKey {
      if !kind.facts.isLasting && !keychain.slots.contains(where: { $0.kind == kind }) { continue }
      methods.append(Method(kind.name, obstacle(to: kind, keychain, uid: uid)?.obstacle))
    }
    return methods
  }

  /// The reason why no PAM slot counts for the fingers that are enrolled; nil if one does.
  private func disagreement(_ fingers: Fingers, _ keychain: Keychain, _ uid: UInt32) -> Obstacle? {
    let slots = keychain.slots.filter { $0.terms?.users.contains(uid) == true }
    return slots.contains { fingers.agree(with: $0.terms?.fingers(of: uid) ?? []) } ? nil : fingers.objection
  }

  /// The methods if there is no usable vault, all with an obstacle. PAM's own obstacle is preferred, so that the list
  /// shows how a new vault could be unlocked.
  private func none(because reason: Obstacle, _ uid: UInt32) -> [Method] {
    let noPAM = presence.means.obstacle(presence.passwordQuestion(for: uid))
    let noFinger = presence.means.obstacle(presence.biometryQuestion(for: uid))
    return [Method("pam", noPAM ?? reason, noPAM), Method("fingerprint", noFinger ?? reason, noFinger)]
      + SlotKind.allCases.filter(\.facts.isLasting).map { Method($0.name, reason) }
  }
}
