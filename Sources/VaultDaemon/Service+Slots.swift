internal import VaultAPI
internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The ways in: Init, ChangePassword, AddSlot, RemoveSlot and ListSlots.
extension Service {
  func initialize(_ call: Wire.InitParameters, _ connection: Connection) {
    openStore(cause: .repaired)
    switch vault.content {
    case .open: return connection.fail(.vaultExists)
    case .unreadable: return connection.fail(storeFault)
    case .none: break
    }
    guard let kdf = kdf(call.kdfMemory, call.kdfPasses, connection) else { return }
    let conversation = Conversation(connection: connection, service: self)
    let new = NewVault()
    newPassword(conversation, id: 1, label: "", kdf: kdf, vaultKey: new.vaultKey, vaultID: new.id) {
      [unowned self] password in
      guard call.recovery == true else { return create(new, [password], conversation) }
      newRecoveryCode(conversation, id: 2, label: "", vaultKey: new.vaultKey, vaultID: new.id) {
        [unowned self] recovery in
        create(new, [password, recovery], conversation)
      }
    }
  }

  /// What a new vault begins with.
  private struct NewVault {
    let id = VaultID.random().bytes
    let vaultKey = Handover(RandomBytes.secret(count: 32))
  }

  private func create(_ new: NewVault, _ slots: [SlotRecord], _ conversation: Conversation) {
    // Asked again, because another init may have come first; its boot key must not be replaced.
    openStore(cause: .repaired)
    guard case .none = vault.content else { return conversation.fail(.vaultExists) }
    do {
      try StoreDirectory.prepare(paths.store)
      let bootKey = try BootKey.create(configuration.bootKey ?? paths.store + "/boot.key")
      guard let vaultKey = new.vaultKey.take() else { return conversation.fail(.cancelled) }
      try Keychain.create(
        in: paths.store, slots: slots, vaultID: new.id, vaultKey: vaultKey, bootKey: bootKey, now: clock.wall())
    } catch let error as VaultError {
      return conversation.fail(Fault(error))
    } catch {
      return conversation.fail(.storageFailed(reason: "\(error)"))
    }
    openStore(cause: .created)
    conversation.finish()
  }

  func listSlots(_: Wire.Empty, _ connection: Connection) {
    guard case .open(let keychain) = vault.content else { return connection.fail(storeFault) }
    connection.reply(Wire.ListSlotsReply(slots: keychain.slots.map { Wire.Slot($0) }))
  }

  func changePassword(_ call: Wire.ChangePasswordParameters, _ connection: Connection) {
    guard case .open(let keychain) = vault.content else { return connection.fail(storeFault) }
    guard let kdf = kdf(call.kdfMemory, call.kdfPasses, connection) else { return }
    let conversation = Conversation(connection: connection, service: self)
    authenticate(conversation, method: call.method, purpose: "to change the password") {
      [unowned self] vaultKey, opened in
      // The one that was proven; a recovery code stands in for the oldest password.
      let old = opened.kind == .password ? opened : keychain.slots.filter { $0.kind == .password }.min { $0.id < $1.id }
      newPassword(
        conversation, id: old?.id ?? keychain.nextSlotID, label: old?.label ?? "", kdf: kdf, vaultKey: vaultKey,
        vaultID: keychain.vaultID
      ) { slot in
        Self.conclude(conversation) { () throws(VaultError) in
          if old == nil { try keychain.addSlot(slot) } else { try keychain.replaceSlot(slot) }
        }
      }
    }
  }

  func addSlot(_ call: Wire.AddSlotParameters, _ connection: Connection) {
    guard case .open(let keychain) = vault.content else { return connection.fail(storeFault) }
    guard let kind = Self.methods[call.kind] else { return connection.fail(.invalid("kind")) }
    let label = call.label ?? ""
    guard label.utf8.count <= 64, !label.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else { return connection.fail(.invalid("label")) }
    guard let kdf = kdf(call.kdfMemory, call.kdfPasses, connection) else { return }
    let conversation = Conversation(connection: connection, service: self)
    authenticate(conversation, method: call.method, purpose: "to add a slot") { [unowned self] vaultKey, _ in
      let id = keychain.nextSlotID
      let store = { (slot: SlotRecord) in
        Self.conclude(conversation, slot: id) { () throws(VaultError) in try keychain.addSlot(slot) }
      }
      switch kind {
      case .password:
        newPassword(
          conversation, id: id, label: label, kdf: kdf, vaultKey: vaultKey, vaultID: keychain.vaultID, then: store)
      case .recovery:
        newRecoveryCode(
          conversation, id: id, label: label, vaultKey: vaultKey, vaultID: keychain.vaultID, then: store)
      }
    }
  }

  func removeSlot(_ call: Wire.RemoveSlotParameters, _ connection: Connection) {
    guard case .open(let keychain) = vault.content else { return connection.fail(storeFault) }
    guard let id = UInt32(exactly: call.id), keychain.slots.contains(where: { $0.id == id }) else {
      return connection.fail(.noSuchSlot(id: call.id))
    }
    guard keychain.slots.count > 1 else { return connection.fail(.lastSlot) }
    let conversation = Conversation(connection: connection, service: self)
    authenticate(conversation, method: call.method, purpose: "to remove slot \(id)") { _, _ in
      Self.conclude(conversation) { () throws(VaultError) in try keychain.removeSlot(id: id) }
    }
  }

  // MARK: Parts

  private static func conclude(
    _ conversation: Conversation, slot: UInt32? = nil, _ change: () throws(VaultError) -> Void
  ) {
    do throws(VaultError) { try change() } catch { return conversation.fail(Fault(error)) }
    conversation.finish(slot: slot)
  }

  /// The parameters a caller asks for; nil for "measure this machine". Below the floor or above the ceiling is refused.
  private enum KDFChoice {
    case calibrated
    case fixed(Argon2id.Parameters)
  }

  private func kdf(_ memory: Int?, _ passes: Int?, _ connection: Connection) -> KDFChoice? {
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

  private func newPassword(
    _ conversation: Conversation, id: UInt32, label: String, kdf: KDFChoice, vaultKey: Handover, vaultID: [UInt8],
    then: @escaping (SlotRecord) -> Void
  ) {
    conversation.ask(.newSecret, method: "password", text: "New password for the vault") { [unowned self] password in
      guard password.count >= Self.shortestPassword else {
        return conversation.fail(
          .weakSecret(reason: "a password has at least \(Self.shortestPassword) bytes; this one has \(password.count)"))
      }
      let password = Handover(password)
      let now = clock.wall()
      workers.run(on: loop) { () -> Result<SlotRecord, CryptoError>? in
        let parameters =
          switch kdf {
          case .calibrated: Argon2id.Parameters.calibrated()
          case .fixed(let parameters): parameters
          }
        return Self.makeSlot(
          id: id, kind: .password, label: label, now: now, secret: password, kdf: parameters, vaultKey, vaultID)
      } then: { made in
        Self.goOn(conversation, made, then)
      }
    }
  }

  private func newRecoveryCode(
    _ conversation: Conversation, id: UInt32, label: String, vaultKey: Handover, vaultID: [UInt8],
    then: @escaping (SlotRecord) -> Void
  ) {
    let kept = Handover(RecoveryCode.random().text())
    let now = clock.wall()
    func ask(_ text: String) {
      conversation.ask(.confirm, method: "recovery", text: text, code: kept) { typed in
        guard Self.isSame(kept, typed) else { return ask("That is another code. Type this one back") }
        let made = Self.makeSlot(
          id: id, kind: .recovery, label: label, now: now, secret: kept, kdf: nil, vaultKey, vaultID)
        Self.goOn(conversation, made, then)
      }
    }
    ask("This recovery code is shown once. Write it down, then type it back")
  }

  private static let shortestPassword = 8

  /// Whether both spell the same code, however it was typed.
  private static func isSame(_ kept: Handover, _ typed: borrowing SecureBytes) -> Bool {
    guard let typed = try? RecoveryCode(typed: typed).text() else { return false }
    return kept.withSecret { $0.isEqual(to: typed) } ?? false
  }

  private static func makeSlot(
    id: UInt32, kind: SlotKind, label: String, now: Int64, secret: Handover, kdf: Argon2id.Parameters?,
    _ vaultKey: Handover, _ vaultID: [UInt8]
  ) -> Result<SlotRecord, CryptoError>? {
    vaultKey.withSecret { key in
      secret.withSecret { secret in
        do throws(CryptoError) {
          return .success(
            try SlotRecord.make(
              id: id, kind: kind, label: label, created: now, secret: secret, kdf: kdf, vaultKey: key, vaultID: vaultID)
          )
        } catch {
          return .failure(error)
        }
      }
    } ?? nil
  }

  private static func goOn(
    _ conversation: Conversation, _ made: Result<SlotRecord, CryptoError>?, _ then: (SlotRecord) -> Void
  ) {
    guard !conversation.isOver else { return }
    switch made {
    case .success(let slot): then(slot)
    case .failure(let error): conversation.fail(Fault(error))
    case nil: conversation.fail(.cancelled)
    }
  }
}
