package import VaultCore
package import VaultModel
internal import VaultStore

/// The calls for slots: ChangePassword, AddSlot, RemoveSlot and ListSlots. ``NewSlot`` makes the records.
extension WaysIn {
  /// The slots, and the ids of those that no longer fit the login password.
  package func slots() throws(Refusal) -> (slots: [SlotRecord], stale: Set<UInt32>) {
    let keychain = try vault.keychain()
    return (keychain.slots, keychain.staleSlots)
  }

  /// The ids of the slots whose keys are in a keystore; empty without a store.
  package func slots(in keystore: KeystoreKind) -> [UInt32] {
    (vault.openKeychain?.slots ?? []).filter { $0.terms?.keystore == keystore.rawValue }.map(\.id)
  }

  /// Replaces the secret of the slot that the call names; otherwise the secret that proved the right, or the oldest
  /// secret of the kind that the call names. With a recovery code as the proof, a password is replaced if no kind is
  /// named. If the vault has no such password, one is added.
  package func changePassword(
    provenBy method: String?, kind: SlotKind?, slot number: Int? = nil, cost wanted: WantedCost,
    _ prompter: any Prompter
  ) {
    let keychain: Keychain
    let cost: NewSlot.Cost
    let chosen: SlotRecord?
    let named: SlotKind?
    let ofSystem: SlotKind?
    do throws(Refusal) {
      keychain = try vault.keychain()
      cost = try wanted.cost()
      chosen = try number.map { (number) throws(Refusal) in try Self.passwordSlot(number, kind, keychain.slots) }
      named = kind ?? chosen?.kind
      ofSystem = named?.facts.isOfSystem == true ? named : nil
      if let ofSystem, !keychain.slots.contains(where: { $0.kind == ofSystem }) { throw Self.noSlot(of: ofSystem) }
    } catch { return refuse(prompter, error, .passwd) }
    let conversation = converse(prompter, .passwd)
    let purpose =
      if let ofSystem {
        Purpose(.other("to take another \(ofSystem.facts.secretName)"))
      } else { Purpose(.changePassword) }
    authenticateOwner(conversation, method: method, purpose: purpose, alsoLogin: named != .password) {
      [unowned self] vaultKey, opened in
      let kind = named ?? (opened.kind.facts.secret == .password ? opened.kind : .password)
      let peers = keychain.slots.filter { $0.kind == kind }
      let old =
        if let chosen {
          peers.first { $0.id == chosen.id }
        } else if opened.kind == kind { opened } else { peers.min { $0.id < $1.id } }
      // Checked again, because the slot may have been removed since the prompt.
      if let chosen, old == nil { return conversation.fail(.noSuchSlot(Int(chosen.id))) }
      guard old != nil || ofSystem == nil else { return conversation.fail(Self.noSlot(of: kind)) }
      let new = NewSlot(
        ways: self, conversation: conversation, id: old?.id ?? keychain.nextSlotID, label: old?.label ?? "",
        vaultKey: vaultKey, vaultID: keychain.vaultID)
      new.password(kind, cost: cost.replacing(old?.kdf), isOneOfSeveral: peers.count > 1) { [unowned self] slot in
        let secret = kind.facts.secretName
        let change = old.map { "the \(secret) of slot \($0.id) was changed" } ?? "slot \(slot.id) was added"
        conclude(conversation, vaultKey, without: old, change) { (key: borrowing SecureBytes) throws(VaultError) in
          if let old {
            try keychain.replaceSlot(slot, given: [opened, old], vaultKey: key)
          } else {
            try keychain.addSlot(slot, given: [opened], vaultKey: key)
          }
        }
      }
    }
  }

  /// The slot with that number, if a password opens it.
  private static func passwordSlot(
    _ number: Int, _ kind: SlotKind?, _ slots: [SlotRecord]
  ) throws(Refusal) -> SlotRecord {
    guard let slot = slots.first(where: { Int($0.id) == number }) else { throw .noSuchSlot(number) }
    guard slot.kind.facts.secret == .password, kind == nil || kind == slot.kind else {
      throw .unavailable(slot.kind.name, "slot \(number) has no \((kind ?? .password).facts.secretName)", nil)
    }
    return slot
  }

  /// Notes that the login password was changed without the vault.
  package func markStale(for caller: Caller) throws(Refusal) {
    try vault.audit.recording(.slot, caller, "the login password was changed without the vault") {
      entry throws(Refusal) in
      let keychain = try vault.keychain()
      guard let kind = keychain.slots.first(where: \.kind.facts.isOfSystem)?.kind else {
        throw Self.noSlot(of: .login)
      }
      do throws(VaultError) {
        try vault.audit.taking(effect: { () throws(VaultError) in try keychain.markStale(kind) }, with: entry)
      } catch { throw Refusal(error) }
    }
  }

  private static func noSlot(of kind: SlotKind) -> Refusal {
    .unavailable(kind.name, "the vault has no \(kind.name) slot", "`vault slot add \(kind.name)` makes one")
  }

  /// A slot that a caller wants to add.
  package struct WantedSlot {
    package var kind: SlotKind
    package var label: String
    /// For a PAM slot: the name of the keystore for its key, and the uids whose presence opens it; nil for the caller's
    /// uid.
    package var keystore: String?
    package var users: [Int]?
    /// True to allow a keystore that every program of the user can read.
    package var isInsecure: Bool
    package var cost: WantedCost

    package init(
      kind: SlotKind, label: String = "", keystore: String? = nil, users: [Int]? = nil, isInsecure: Bool = false,
      cost: WantedCost = WantedCost()
    ) {
      self.kind = kind
      self.label = label
      self.keystore = keystore
      self.users = users
      self.isInsecure = isInsecure
      self.cost = cost
    }
  }

  /// Adds a slot. The result of the conversation is the slot's number.
  package func addSlot(_ wanted: WantedSlot, provenBy method: String?, _ prompter: any Prompter) {
    let (kind, label) = (wanted.kind, wanted.label)
    let keychain: Keychain
    let cost: NewSlot.Cost
    var keystore = KeystoreKind.memory
    var users: [UInt32] = []
    do throws(Refusal) {
      keychain = try vault.keychain()
      guard label.utf8.count <= 64,
        !label.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
      else { throw .invalid("label") }
      cost = try wanted.cost.cost()
      if kind.facts.secret == .presenceKey { (keystore, users) = try presence(wanted, prompter.caller.uid) }
    } catch { return refuse(prompter, error, .slot) }
    let conversation = converse(prompter, .slot)
    authenticateOwner(conversation, method: method, purpose: Purpose(.other("to add a slot"))) {
      [unowned self] vaultKey, opened in
      let id = keychain.nextSlotID
      let new = NewSlot(
        ways: self, conversation: conversation, id: id, label: label, vaultKey: vaultKey, vaultID: keychain.vaultID)
      let store = { [unowned self] (slot: SlotRecord) in
        let change = "slot \(id) was added, a way in by \(kind.name)"
        let isStored = conclude(conversation, vaultKey, slot: id, change) {
          (key: borrowing SecureBytes) throws(VaultError) in
          try keychain.addSlot(slot, given: [opened], vaultKey: key)
        } afterwards: { [unowned self] (key: borrowing SecureBytes) in
          retainKeys(of: [slot], key, vaultID: keychain.vaultID)
        }
        if !isStored { dropPresenceKey(of: slot, vaultID: keychain.vaultID) }
      }
      switch kind.facts.secret {
      case .password: new.password(kind, cost: cost, then: store)
      case .code: new.recoveryCode(then: store)
      case .presenceKey: new.presence(keystore, users: users, then: store)
      }
    }
  }

  /// The keystore and the users that a call names for a PAM slot.
  private func presence(_ wanted: WantedSlot, _ caller: UInt32) throws(Refusal) -> (KeystoreKind, [UInt32]) {
    let keystore = try keystore(wanted.keystore ?? "", isInsecure: wanted.isInsecure)
    var users: [UInt32] = []
    for user in wanted.users ?? [Int(caller)] {
      guard let uid = UInt32(exactly: user), uid != .max else { throw .invalid("users") }
      users.append(uid)
    }
    guard (1...PresenceTerms.maximumUsers).contains(users.count) else { throw .invalid("users") }
    return (keystore, users)
  }

  /// The keystore with that name, if it may be used.
  func keystore(_ name: String, isInsecure: Bool) throws(Refusal) -> KeystoreKind {
    guard let keystore = KeystoreKind(rawValue: name) else { throw .invalid("keystore") }
    if keystore == .file && !isSystem && !isInsecure {
      throw .unavailable(
        SlotKind.pam.name, "every program that you run could read a key in a file",
        "--insecure-file allows it")
    }
    return keystore
  }

  /// Removes a slot, but never the last lasting one.
  package func removeSlot(_ number: Int, provenBy method: String?, _ prompter: any Prompter) {
    let keychain: Keychain
    let id: UInt32
    do throws(Refusal) {
      keychain = try vault.keychain()
      guard let found = UInt32(exactly: number), keychain.slots.contains(where: { $0.id == found }) else {
        throw .noSuchSlot(number)
      }
      guard keychain.isLasting(without: found) else { throw .lastSlot }
      id = found
    } catch { return refuse(prompter, error, .slot) }
    let conversation = converse(prompter, .slot)
    if let loss = Self.loss(of: id, keychain.slots) {
      conversation.tell(.info, method: SlotKind.password.name, text: loss)
    }
    authenticateOwner(conversation, method: method, purpose: Purpose(.other("to remove slot \(id)"))) {
      [unowned self] vaultKey, opened in
      // The current record is used: the password of the slot may have been changed since the prompt, and its number
      // belongs to no other slot.
      guard let slot = keychain.slots.first(where: { $0.id == id }) else {
        return conversation.fail(.noSuchSlot(number))
      }
      conclude(conversation, vaultKey, without: slot, "slot \(id) was removed") {
        (key: borrowing SecureBytes) throws(VaultError) in
        try keychain.removeSlot(id: id, given: [opened, slot], vaultKey: key)
      } afterwards: { [unowned self] _ in
        retained.drop(id)
        dropPresenceKey(of: slot, vaultID: keychain.vaultID)
      }
    }
  }

  /// The consequence of removing the last password, for the person who is about to do so; nil for any other slot.
  private static func loss(of id: UInt32, _ slots: [SlotRecord]) -> String? {
    let left = slots.filter { $0.id != id }.map(\.kind)
    guard slots.contains(where: { $0.id == id && $0.kind == .password }), !left.contains(.password) else { return nil }
    let kinds = SlotKind.allCases.filter { left.contains($0) }
    let ways =
      kinds.filter { $0.facts.secret != .presenceKey }.map { kind in
        "the \(kind.facts.secretName)\(left.count { $0 == kind } > 1 ? "s" : "")"
      }
      + kinds.filter { $0.facts.secret == .presenceKey }.map { "a \($0.name) slot" }
    return "after that no password opens the vault, only \(ways.joined(separator: " or "))"
  }

  // MARK: Parts

  /// Makes a change of the slots and records it, and ends everything that relied on the earlier slots.
  ///
  /// - Parameters:
  ///   - gone: the slot that is removed or replaced; nil for none.
  ///   - afterwards: runs with the vault key once the change is on the disk.
  /// - Returns: whether the change was made.
  @discardableResult
  private func conclude(
    _ conversation: Conversation, _ vaultKey: Handover, slot: UInt32? = nil, without gone: SlotRecord? = nil,
    _ said: String, _ change: (borrowing SecureBytes) throws(VaultError) -> Void,
    afterwards: (borrowing SecureBytes) -> Void = { _ in }
  ) -> Bool {
    guard conversation.mayConclude else { return false }
    let audit = vault.audit
    do throws(VaultError) {
      let changed: Void? = try audit.making { () throws(VaultError) in
        try vaultKey.withSecret(change)
      } of: { _ in
        [audit.subject(of: conversation.caller)]
      } entries: {
        if $0 != nil { conversation.record(.ok, said) }
      }
      guard changed != nil else {
        conversation.fail(.cancelled)
        return false
      }
    } catch {
      conversation.fail(Refusal(error))
      return false
    }
    vaultKey.withSecret(afterwards)
    vault.log.info("\(said) by uid \(conversation.caller.uid)")
    conversation.said = said
    conversation.conclude(slot.map { .slot($0) } ?? .done, isRecorded: true)
    slotsChanged(by: conversation, without: gone.map { [$0] } ?? [])
    conversation.finish()
    return true
  }

  /// Ends everything that relied on the earlier slots, after a change that removed or replaced the slots in `gone`.
  ///
  /// A conversation that has proven the right relies on the earlier slots, so the change has overtaken it. A
  /// conversation without a proof so far is checked against the new slots later.
  func slotsChanged(by conversation: Conversation? = nil, without gone: [SlotRecord]) {
    let refusal = Refusal(VaultError.overtaken)
    conversations.each { if $0 !== conversation, $0.proof != nil { $0.fail(refusal) } }
    access.forget(gone)
    hooks.slotsChange(refusal)
    vault.hooks.slotsChanged()
  }
}

/// The parameters of Argon2id that a caller asks for. If one of them is nil, its default is used; if both are nil, the
/// cost is measured on this machine.
package struct WantedCost: Sendable {
  /// The memory in bytes.
  package var memory: Int?
  package var passes: Int?

  package init(memory: Int? = nil, passes: Int? = nil) {
    self.memory = memory
    self.passes = passes
  }

  /// - Throws: the refusal of parameters below the floor or above the ceiling.
  func cost() throws(Refusal) -> NewSlot.Cost {
    if memory == nil && passes == nil { return .calibrated() }
    let standard = Argon2id.Parameters.default
    let chosen = Argon2id.Parameters(memory: memory ?? standard.memory, passes: passes ?? standard.passes)
    do throws(CryptoError) { try chosen.validate() } catch {
      throw .weakSecret("Argon2id must use 19 MiB to 1 GiB of memory and 2 to 20 passes")
    }
    return .fixed(chosen)
  }
}
