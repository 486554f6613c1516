internal import NIOCore
internal import VaultAPI
internal import VaultCore
internal import VaultStore

/// The ways to open the vault, each with the reason why it cannot be used now: what is known before any prompt.
extension Service {
  /// The time that Status waits for the fingerprint service, in milliseconds.
  private static let patience: Int64 = 700

  /// Asks about fingers and hands on what is possible for `uid`; soon, whether or not anybody answers.
  func methods(for uid: UInt32, _ connection: Connection, then: @escaping ([Wire.Method]) -> Void) {
    // Without a slot no finger opens anything, and fprintd need not be started to tell.
    guard case .open(let keychain) = vault.content, keychain.slots.contains(where: { $0.kind == .pam }) else {
      return then(methods(for: uid, .noService))
    }
    var then: (([Wire.Method]) -> Void)? = then
    let answer = { [unowned self] (fingers: Fingers) in
      guard let once = then else { return }
      then = nil
      once(methods(for: uid, fingers))
    }
    let limit = connection.after(.milliseconds(Self.patience)) {
      answer(.unknown("the fingerprint service does not answer"))
    }
    askFingers(uid) { fingers in
      limit?.cancel()
      answer(fingers)
    }
  }

  private func methods(for uid: UInt32, _ fingers: Fingers) -> [Wire.Method] {
    let keychain: Keychain
    switch vault.content {
    case .open(let open): keychain = open
    case .none: return none(because: "there is no vault yet; make one with vault init", uid)
    case .unreadable: return none(because: "the store cannot be opened", uid)
    }
    let pam =
      obstacle(to: .pam, keychain, uid: uid)?.sentence ?? disagreement(fingers, keychain, uid)
      ?? fingers.reason.flatMap { _ in wait(for: Backoff.Caller(uid: uid, method: SlotKind.pam.name))?.sentence }
    let finger = pam ?? unavailability(of: biometryQuestion(for: uid)) ?? fingers.reason
    var methods = [method("pam", pam), method("fingerprint", finger)]
    for kind in [SlotKind.password, .recovery, .login] {
      if kind == .login && !keychain.slots.contains(where: { $0.kind == kind }) { continue }
      methods.append(method(kind.name, obstacle(to: kind, keychain, uid: uid)?.sentence))
    }
    return methods
  }

  /// The reason why none of the PAM slots counts for the fingers that are enrolled.
  private func disagreement(_ fingers: Fingers, _ keychain: Keychain, _ uid: UInt32) -> String? {
    let slots = keychain.slots.filter { $0.terms?.users.contains(uid) == true }
    return slots.contains { fingers.agree(with: $0.terms?.fingers(of: uid) ?? []) } ? nil : fingers.objection
  }

  /// Every way has an obstacle; PAM's own comes first, so that it shows what a new vault could be opened with.
  private func none(because reason: String, _ uid: UInt32) -> [Wire.Method] {
    [
      method("pam", unavailability(of: question(for: uid)) ?? reason),
      method("fingerprint", unavailability(of: biometryQuestion(for: uid)) ?? reason),
      method("password", reason), method("recovery", reason),
    ]
  }

  private func unavailability(of question: PresencePrompt.Question) -> String? {
    PresenceCheck.availability(of: question.pam, uid: question.uid, through: presenceHelper)
  }

  private func method(_ name: String, _ reason: String?) -> Wire.Method {
    Wire.Method(name: name, available: reason == nil, reason: reason)
  }
}
