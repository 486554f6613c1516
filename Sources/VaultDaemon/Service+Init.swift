internal import VaultAPI
internal import VaultCore
internal import VaultKeystore
internal import VaultModel
internal import VaultStore

/// Init: a new vault with its first ways in.
extension Service {
  func initialize(_ call: Wire.InitParameters, _ connection: Connection) {
    if let obstacle = vaultObstacle() { return connection.fail(obstacle) }
    if let restoreObstacle { return connection.fail(restoreObstacle) }
    if let obstacle = bootKeyObstacle() { return connection.fail(.misconfigured(reason: obstacle.reason)) }
    guard let cost = cost(call.kdfMemory, call.kdfPasses, connection) else { return }
    var keystore: KeystoreKind?
    if let name = call.keystore {
      do throws(Fault) { keystore = try self.keystore(name, insecure: call.insecure) } catch {
        return connection.fail(error)
      }
    }
    let conversation = Conversation(connection: connection, service: self)
    conversation.makesVault = true
    let new = NewVault()
    conversation.willWipe(new.vaultKey)
    // A vault whose key was in memory while the machine slept is not to be made.
    conversation.holdSecret()
    newSlot(1, new, conversation).password(cost: cost) { [unowned self] password in
      offerRecovery(call.recovery == true, new, conversation) { [unowned self] recovery in
        offerPresence(keystore, connection.peer.uid, new, conversation) { [unowned self] presence in
          create(new, [password] + recovery + presence, conversation)
        }
      }
    }
  }

  /// The reason why no vault can be made here, as far as the store tells, which is looked at anew: one is there
  /// already, or something that cannot be read.
  func vaultObstacle() -> Fault? {
    openStore(cause: .repaired)
    switch vault.content {
    case .open: return .vaultExists
    case .unreadable: return storeFault
    case .none: return nil
    }
  }

  /// The id and key that a new vault begins with.
  private struct NewVault {
    let id = VaultID.random().bytes
    let vaultKey = Handover(RandomBytes.secret(count: 32))
  }

  private func newSlot(_ id: UInt32, _ new: NewVault, _ conversation: Conversation) -> NewSlot {
    NewSlot(service: self, conversation: conversation, id: id, vaultKey: new.vaultKey, vaultID: new.id)
  }

  private func offerRecovery(
    _ isWanted: Bool, _ new: NewVault, _ conversation: Conversation, then: @escaping ([SlotRecord]) -> Void
  ) {
    guard isWanted else { return then([]) }
    newSlot(2, new, conversation).recoveryCode { then([$0]) }
  }

  private func offerPresence(
    _ keystore: KeystoreKind?, _ uid: UInt32, _ new: NewVault, _ conversation: Conversation,
    then: @escaping ([SlotRecord]) -> Void
  ) {
    guard let keystore else { return then([]) }
    if keystore == .file {
      // The key comes before the store that it lies beside.
      do throws(SystemError) { try StoreDirectory.prepare(paths.store) } catch {
        return conversation.fail(.storageFailed(reason: "\(error)"))
      }
    }
    newSlot(3, new, conversation).presence(keystore, users: [uid]) { then([$0]) }
  }

  private func create(_ new: NewVault, _ slots: [SlotRecord], _ conversation: Conversation) {
    var isMade = false
    let giveUp = newBootKey(vault: new.id) { [unowned self] made in
      isMade = true
      guard conversation.mayConclude else { return drop(slots, of: new) }
      switch consume made {
      case .success(let bootKey): create(new, slots, bootKey, conversation)
      case .failure(let error):
        drop(slots, of: new)
        conversation.fail(.misconfigured(reason: error.reason))
      }
    }
    conversation.willCallOff { [unowned self] in
      giveUp()
      // Called off, it does not come back.
      if !isMade { drop(slots, of: new) }
    }
  }

  /// Leaves no key behind of a vault that is not made.
  private func drop(_ slots: [SlotRecord], of new: NewVault) {
    for slot in slots { dropPresenceKey(of: slot, vaultID: new.id) }
  }

  private func create(
    _ new: NewVault, _ slots: [SlotRecord], _ bootKey: borrowing NewBootKey, _ conversation: Conversation
  ) {
    // Asked again, because another init may have come first; its boot key must not be replaced.
    openStore(cause: .repaired)
    guard case .none = vault.content else {
      drop(slots, of: new)
      return conversation.fail(.vaultExists)
    }
    if let restoreObstacle {
      drop(slots, of: new)
      return conversation.fail(restoreObstacle)
    }
    do {
      try StoreDirectory.prepare(paths.store)
      try bootKey.write()
      guard let vaultKey = new.vaultKey.take() else { return conversation.fail(.cancelled) }
      try Keychain.create(
        in: paths.store, slots: slots, vaultID: new.id, vaultKey: vaultKey, bootKey: bootKey.key, now: clock.wall())
      retainKeys(of: slots, vaultKey, vaultID: new.id)
    } catch let error as VaultError {
      drop(slots, of: new)
      return conversation.fail(Fault(error))
    } catch {
      drop(slots, of: new)
      return conversation.fail(.storageFailed(reason: "\(error)"))
    }
    openStore(cause: .created)
    conversation.finish()
  }
}
