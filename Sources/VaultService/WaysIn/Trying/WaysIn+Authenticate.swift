internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The proof of the right to unlock the vault. Every method that needs it uses these functions, so that every attempt
/// is counted.
extension WaysIn {
  /// The secret that is asked for if no method is named: the first kind that gives a right to every change, which is
  /// the password, or the recovery code of a vault without a password.
  private static func usualSecret(_ keychain: Keychain) -> SlotKind {
    let kinds = keychain.slots.map(\.kind)
    return SlotKind.allCases.first { $0.facts.rights == .everyChange && kinds.contains($0) } ?? .password
  }

  /// Asks for a proof with `method`, or with the best possible method, and passes on the vault key and the slot that
  /// was opened.
  func authenticate(
    _ conversation: Conversation, method: String?, purpose: Purpose,
    then: @escaping (_ vaultKey: Handover, _ slot: SlotRecord) -> Void
  ) {
    let keychain: Keychain
    do throws(Refusal) { keychain = try vault.keychain() } catch { return conversation.fail(error) }
    let presenceKinds = keychain.presenceSlots.map(\.kind)
    var kinds = SlotKind.allCases.filter { presenceKinds.contains($0) }
    kinds.append(Self.usualSecret(keychain))
    if let method {
      guard let kind = SlotKind(name: method) else {
        let known = SlotKind.allCases.map(\.name).joined(separator: ", ")
        return conversation.fail(
          .unavailable(method, "there is no such method", "there are \(known)"))
      }
      kinds = [kind]
    }
    Authentication(self, conversation, keychain, kinds: kinds, purpose: purpose, then: then).start()
  }

  /// Asks for a proof like ``authenticate(_:method:purpose:then:)``, for a change of the slots.
  func authenticateOwner(
    _ conversation: Conversation, method: String?, purpose: Purpose, alsoLogin: Bool = false,
    evenRekeying: Bool = false,
    then: @escaping (_ vaultKey: Handover, _ slot: SlotRecord) -> Void
  ) {
    let method = method ?? (vault.openKeychain.map(Self.usualSecret) ?? .password).name
    // A name that is not the name of a kind is refused below.
    let rights = SlotKind(name: method)?.facts.rights ?? .everyChange
    guard rights == .everyChange || rights == .ownChange && alsoLogin else {
      let strong = SlotKind.allCases.filter { $0.facts.rights == .everyChange }
      let known = strong.map(\.name).joined(separator: " or ")
      return conversation.fail(.unavailable(method, "only \(known) allows a change of the slots"))
    }
    // During a rekey the new vault has its slots already, so a change now would be lost.
    guard evenRekeying || !isRekeying else {
      hooks.rekeyDelays()
      return conversation.fail(.rekeying)
    }
    authenticate(conversation, method: method, purpose: purpose) { [unowned self] vaultKey, slot in
      // Checked again, because a rekey may have begun since the prompt.
      guard evenRekeying || !isRekeying else { return conversation.fail(.rekeying) }
      then(vaultKey, slot)
    }
  }

  private var isRekeying: Bool {
    vault.openKeychain?.isRekeying ?? false
  }

  /// The reason why `uid` cannot use a method now, as far as it can be determined at once; nil for none.
  ///
  /// - Parameter mayWait: true for an attempt, which waits for another one that is under way.
  func obstacle(to kind: SlotKind, _ keychain: Keychain, uid: UInt32, mayWait: Bool = false) -> Refusal? {
    let slots = keychain.triedSlots(kind)
    guard !slots.isEmpty else {
      let isStale = keychain.slots.contains { $0.kind == kind }
      return isStale
        ? .unavailable(
          kind.name, "the login password was changed without the vault", "`vault passwd --login` takes the new one")
        : .unavailable(
          kind.name, "the vault has no \(kind.name) slot",
          kind == .password && keychain.slots.contains { $0.kind.facts.secret == .code }
            ? "`vault slot add password` makes one with the recovery code" : nil)
    }
    let caller = Backoff.Source(uid: uid, method: kind.name)
    guard kind.facts.secret == .presenceKey else { return attempts.wait(for: caller, afterTrial: mayWait) }
    let obstacles = slots.compactMap { obstacle(toSlot: $0, uid: uid) }
    if obstacles.count == slots.count {
      let reasons = obstacles.map(\.reason).joined(separator: "; ")
      return .unavailable(kind.name, reasons, obstacles.lazy.compactMap(\.advice).first)
    }
    guard let obstacle = presence.means.obstacle(presence.question(for: uid)) else { return nil }
    return attempts.wait(for: caller) ?? .unavailable(kind.name, obstacle)
  }

  /// The obstacle that keeps `uid` from opening a PAM slot now, as far as it can be determined at once; nil for none.
  func obstacle(toSlot slot: SlotRecord, uid: UInt32) -> Obstacle? {
    guard let terms = slot.terms, terms.users.contains(uid) else {
      return Obstacle("slot \(slot.id) is not for uid \(uid)")
    }
    guard let kind = KeystoreKind(rawValue: terms.keystore) else {
      return Obstacle("slot \(slot.id) has a keystore this program does not know")
    }
    if kind == .memory && !retained.has(slot.id) {
      return Obstacle("this is the first unlock \(retained.lostSince)", "use your vault password")
    }
    return nil
  }
}

extension Keychain {
  /// The slots whose key a keystore releases for a proof of presence.
  var presenceSlots: [SlotRecord] { slots.filter { $0.kind.facts.secret == .presenceKey } }

  /// The slots of a kind on which a proof is tried. A stale slot is left out until it is replaced. Anybody who can
  /// write to the store can mark a slot stale, so the mark counts only for secrets of the system.
  func triedSlots(_ kind: SlotKind) -> [SlotRecord] {
    let stale = kind.facts.isOfSystem ? staleSlots : []
    return slots.filter { $0.kind == kind && !stale.contains($0.id) }
  }
}
