internal import VaultAPI
internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The ways in: ChangePassword, AddSlot, RemoveSlot and ListSlots. ``NewSlot`` makes the records.
extension Service {
  func listSlots(_: Wire.Empty, _ connection: Connection) {
    guard case .open(let keychain) = vault.content else { return connection.fail(storeFault) }
    let stale = keychain.staleSlots
    connection.reply(
      Wire.ListSlotsReply(slots: keychain.slots.map { Wire.Slot($0, isStale: stale.contains($0.id)) }))
  }

  /// Replaces the secret that was proven, or the oldest of the kind that the call names. A recovery code stands in for a
  /// password.
  func changePassword(_ call: Wire.ChangePasswordParameters, _ connection: Connection) {
    guard case .open(let keychain) = vault.content else { return connection.fail(storeFault) }
    guard let cost = cost(call.kdfMemory, call.kdfPasses, connection) else { return }
    let named = call.kind.flatMap(SlotKind.init(name:))
    guard call.kind == nil || named?.usesArgon2id == true else { return connection.fail(.invalid("kind")) }
    if named == .login, !keychain.slots.contains(where: { $0.kind == .login }) {
      return connection.fail(.methodUnavailable(method: SlotKind.login.name, reason: Self.noLoginSlot))
    }
    let conversation = Conversation(connection: connection, service: self)
    let purpose = named == .login ? "to take another login password" : "to change the password"
    authenticateOwner(conversation, method: call.method, purpose: purpose, alsoLogin: named != .password) {
      [unowned self] vaultKey, opened in
      let kind = named ?? (opened.kind == .recovery ? .password : opened.kind)
      let old =
        opened.kind == kind ? opened : keychain.slots.filter { $0.kind == kind }.min { $0.id < $1.id }
      // Asked again, because it may have been removed since the prompt.
      guard old != nil || named != .login else {
        return conversation.fail(.methodUnavailable(method: SlotKind.login.name, reason: Self.noLoginSlot))
      }
      let new = NewSlot(
        service: self, conversation: conversation, id: old?.id ?? keychain.nextSlotID, label: old?.label ?? "",
        vaultKey: vaultKey, vaultID: keychain.vaultID)
      new.password(kind, cost: cost) { [unowned self] slot in
        conclude(conversation, vaultKey, without: old) { (key: borrowing SecureBytes) throws(VaultError) in
          if let old {
            try keychain.replaceSlot(slot, given: [opened, old], vaultKey: key)
          } else {
            try keychain.addSlot(slot, given: [opened], vaultKey: key)
          }
        }
      }
    }
  }

  /// Takes note that the login password is another one now, of which the vault was not told.
  func markStale(_: Wire.Empty, _ connection: Connection) {
    guard case .open(let keychain) = vault.content else { return connection.fail(storeFault) }
    guard keychain.slots.contains(where: { $0.kind == .login }) else {
      return connection.fail(.methodUnavailable(method: SlotKind.login.name, reason: Self.noLoginSlot))
    }
    do throws(VaultError) { try keychain.markStale(.login) } catch { return connection.fail(Fault(error)) }
    connection.reply(Wire.Empty())
  }

  private static let noLoginSlot = "the vault has no login slot; `vault slot add login` makes one"

  func addSlot(_ call: Wire.AddSlotParameters, _ connection: Connection) {
    guard case .open(let keychain) = vault.content else { return connection.fail(storeFault) }
    guard let kind = SlotKind(name: call.kind) else { return connection.fail(.invalid("kind")) }
    let label = call.label ?? ""
    guard label.utf8.count <= 64, !label.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else { return connection.fail(.invalid("label")) }
    guard let cost = cost(call.kdfMemory, call.kdfPasses, connection) else { return }
    var keystore = KeystoreKind.memory
    var users: [UInt32] = []
    if kind == .pam {
      do throws(Fault) { (keystore, users) = try presence(call, connection.peer.uid) } catch {
        return connection.fail(error)
      }
    }
    let conversation = Conversation(connection: connection, service: self)
    authenticateOwner(conversation, method: call.method, purpose: "to add a slot") { [unowned self] vaultKey, opened in
      let id = keychain.nextSlotID
      let new = NewSlot(
        service: self, conversation: conversation, id: id, label: label, vaultKey: vaultKey, vaultID: keychain.vaultID)
      let store = { [unowned self] (slot: SlotRecord) in
        let isStored = conclude(conversation, vaultKey, slot: id) { (key: borrowing SecureBytes) throws(VaultError) in
          try keychain.addSlot(slot, given: [opened], vaultKey: key)
          retainKeys(of: [slot], key, vaultID: keychain.vaultID)
        }
        if !isStored { dropPresenceKey(of: slot, vaultID: keychain.vaultID) }
      }
      switch kind {
      case .password, .login: new.password(kind, cost: cost, then: store)
      case .recovery: new.recoveryCode(then: store)
      case .pam: new.presence(keystore, users: users, then: store)
      }
    }
  }

  /// The keystore and the users that a call names for a PAM slot.
  private func presence(
    _ call: Wire.AddSlotParameters, _ caller: UInt32
  ) throws(Fault) -> (KeystoreKind, [UInt32]) {
    let keystore = try keystore(call.keystore ?? "", insecure: call.insecure)
    var users: [UInt32] = []
    for user in call.users ?? [Int(caller)] {
      guard let uid = UInt32(exactly: user), uid != .max else { throw .invalid("users") }
      users.append(uid)
    }
    guard (1...PresenceTerms.maximumUsers).contains(users.count) else { throw .invalid("users") }
    return (keystore, users)
  }

  /// The keystore of that name, if it may be used.
  func keystore(_ name: String, insecure: Bool?) throws(Fault) -> KeystoreKind {
    guard let keystore = KeystoreKind(rawValue: name) else { throw .invalid("keystore") }
    if keystore == .file && !isSystem && insecure != true {
      throw .methodUnavailable(
        method: SlotKind.pam.name,
        reason: "in a file the key would lie where every program of yours can read it; --insecure-file does it anyway")
    }
    return keystore
  }

  func removeSlot(_ call: Wire.RemoveSlotParameters, _ connection: Connection) {
    guard case .open(let keychain) = vault.content else { return connection.fail(storeFault) }
    guard let id = UInt32(exactly: call.id), keychain.slots.contains(where: { $0.id == id }) else {
      return connection.fail(.noSuchSlot(id: call.id))
    }
    guard keychain.isLasting(without: id) else { return connection.fail(.lastSlot) }
    let conversation = Conversation(connection: connection, service: self)
    authenticateOwner(conversation, method: call.method, purpose: "to remove slot \(id)") {
      [unowned self] vaultKey, opened in
      // As it is now: its password may have been changed since the prompt, and its number is nobody else's.
      guard let slot = keychain.slots.first(where: { $0.id == id }) else {
        return conversation.fail(.noSuchSlot(id: call.id))
      }
      conclude(conversation, vaultKey, without: slot) { (key: borrowing SecureBytes) throws(VaultError) in
        try keychain.removeSlot(id: id, given: [opened, slot], vaultKey: key)
        retained.drop(id)
        dropPresenceKey(of: slot, vaultID: keychain.vaultID)
      }
    }
  }

  // MARK: Parts

  /// Makes a change of the slots, after which `gone` is none of them any more, and ends what went by those before. The
  /// answer is whether it was made.
  @discardableResult
  private func conclude(
    _ conversation: Conversation, _ vaultKey: Handover, slot: UInt32? = nil, without gone: SlotRecord? = nil,
    _ change: (borrowing SecureBytes) throws(VaultError) -> Void
  ) -> Bool {
    guard conversation.mayConclude else { return false }
    do throws(VaultError) {
      guard let _: Void = try vaultKey.withSecret(change) else {
        conversation.fail(.cancelled)
        return false
      }
    } catch {
      conversation.fail(Fault(error))
      return false
    }
    slotsChanged(by: conversation, without: gone.map { [$0] } ?? [])
    conversation.finish(slot: slot)
    return true
  }

  /// The slots are others now, and those in `gone` are none of them any more: ends what began under the ones before.
  ///
  /// A conversation that has proven the right is about to make slots, or has made some, that others have overtaken. One
  /// that has yet to prove it is judged by the slots that there are then.
  func slotsChanged(by conversation: Conversation? = nil, without gone: [SlotRecord]) {
    let fault = Fault(VaultError.overtaken)
    for other in Array(conversations.values) where other !== conversation && other.proof != nil { other.fail(fault) }
    authorizations.forget(gone)
    callOffSalvage(because: fault)
  }

  /// The parameters a caller asks for; nil, after the call has failed, for what is below the floor or above the ceiling.
  func cost(_ memory: Int?, _ passes: Int?, _ connection: Connection) -> NewSlot.Cost? {
    if memory == nil && passes == nil { return .calibrated }
    let standard = Argon2id.Parameters.default
    let chosen = Argon2id.Parameters(
      memory: memory ?? standard.memory, passes: passes ?? standard.passes)
    do throws(CryptoError) { try chosen.validate() } catch {
      connection.fail(.weakSecret(reason: "Argon2id has to use from 19 MiB and 2 passes to 1 GiB and 20 passes"))
      return nil
    }
    return .fixed(chosen)
  }
}
