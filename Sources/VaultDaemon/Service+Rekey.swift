internal import Logging
internal import VaultAPI
internal import VaultCore
internal import VaultKeystore
internal import VaultModel
internal import VaultStore

/// Rekey: a new vault key, and everything sealed anew under it while the items are served.
extension Service {
  func rekey(_ call: Wire.RekeyParameters, _ connection: Connection) {
    guard case .open(let keychain) = vault.content else { return connection.fail(storeFault) }
    if call.cancel == true { return cancelRekey(keychain, connection) }
    if let rekeying { return rekeying.wait(connection) }
    guard state.kind == .unlocked else {
      return connection.fail(.locked(state: state.kind.rawValue, cause: state.cause.text))
    }
    do throws(VaultError) {
      if keychain.integrity == .failed { throw .corrupt("the check of the store found that it was changed") }
      if !keychain.isRekeying { try Rekey.checkRoom(for: keychain) }
    } catch {
      return connection.fail(Fault(error))
    }
    let conversation = Conversation(connection: connection, service: self)
    conversation.keepsSecret = true
    authenticateOwner(
      conversation, method: call.method, purpose: "to give the vault a new key", alsoLogin: true, evenRekeying: true
    ) { [unowned self] vaultKey, opened in
      if keychain.isRekeying { return goOn(conversation, keychain, vaultKey) }
      guard let secret = conversation.secret else { return conversation.fail(.cancelled) }
      let slots = CarriedSlots(self, conversation, keychain, opened: opened, secret: secret)
      let giveUp = readBootKey(keychain) { [unowned self] read in
        guard !conversation.isOver else { return }
        switch consume read {
        case .success(let key):
          let bootKey = Handover(key)
          conversation.willWipe(bootKey)
          slots.make { [unowned self] slots in begin(slots, conversation, keychain, vaultKey, bootKey) }
        case .failure(let error): conversation.fail(.misconfigured(reason: error.reason))
        }
      }
      conversation.willCallOff(giveUp)
    }
  }

  /// The boot key of this vault, which stays what it is; the result calls it off.
  private func readBootKey(
    _ keychain: Keychain, then: @escaping (consuming Result<SecureBytes, KeystoreError>) -> Void
  ) -> () -> Void {
    let place = bootKey.place
    return fetchBootKey(vault: keychain.vaultID) { read in
      switch consume read {
      case .success(let key):
        do throws(VaultError) { try keychain.openAlways(bootKey: key) } catch {
          return then(.failure(KeystoreError(.damaged, "the boot key at \(place) is not this vault's")))
        }
        then(.success(key))
      case .failure(let error): then(.failure(error))
      }
    }
  }

  private func begin(
    _ slots: CarriedSlots, _ conversation: Conversation, _ keychain: Keychain, _ vaultKey: Handover,
    _ bootKey: Handover
  ) {
    guard conversation.mayConclude else { return }
    // Whoever is about to change the ways in would change those of the old store.
    for other in Array(conversations.values) where other !== conversation && other.holdsSecret { other.callOff() }
    guard rekeying == nil, !keychain.isRekeying else { return conversation.fail(.rekeying) }
    guard let nextKey = slots.nextKey.take(), let oldKey = vaultKey.take(), let bootKey = bootKey.take() else {
      return conversation.fail(.cancelled)
    }
    let rekey: Rekey
    do throws(VaultError) {
      rekey = try Rekey(
        keychain, carrying: slots.carried, slots: slots.made, nextKey: nextKey, vaultKey: oldKey, bootKey: bootKey,
        now: clock.wall())
    } catch {
      return conversation.fail(Fault(error))
    }
    slots.keep()
    let new = Rekeying(self, keychain, rekey, nextKey: nextKey)
    rekeying = new
    log.info("the vault is being given a new key")
    // The call goes on, but asks no more.
    conversation.end()
    conversation.connection.reply(
      Wire.RekeyReply(
        done: 0, of: new.progress.of, slots: slots.made.map { Int($0.id) }, leftOut: slots.leftOut.map { Int($0) }),
      continues: true)
    new.wait(conversation.connection)
  }

  /// Resumes a rekey that stopped with an error.
  private func goOn(_ conversation: Conversation, _ keychain: Keychain, _ vaultKey: Handover) {
    let problem: VaultError? = vaultKey.withSecret { takeUpRekey($0, keychain) } ?? nil
    guard let rekeying else { return conversation.fail(problem.map { Fault($0) } ?? .cancelled) }
    conversation.end()
    rekeying.wait(conversation.connection)
  }

  /// After an unlock: goes on with the rekey that is under way, if one is. The answer is why not.
  @discardableResult
  func takeUpRekey(_ vaultKey: borrowing SecureBytes, _ keychain: Keychain) -> VaultError? {
    guard rekeying == nil, keychain.isRekeying else { return nil }
    do throws(VaultError) {
      let nextKey = try keychain.nextKey(vaultKey: vaultKey)
      switch consume nextKey {
      case .some(let nextKey):
        let new = Rekeying(self, keychain, try Rekey(resuming: keychain, nextKey: nextKey), nextKey: nextKey)
        rekeying = new
        new.goOn()
      case .none: break
      }
      return nil
    } catch {
      switch error {
      case .noVault, .corrupt:
        log.error("the rekey is given up, because its store cannot be read: \(error.text)")
        dropRekey(keychain)
      default: log.warning("the rekey rests: \(error.text)")
      }
      return error
    }
  }

  private func cancelRekey(_ keychain: Keychain, _ connection: Connection) {
    guard keychain.isRekeying else { return connection.reply(Wire.RekeyReply(cancelled: false)) }
    // The class records have to hear of it, so that its files are worth nothing when they are put back.
    guard state.kind == .unlocked else {
      return connection.fail(.locked(state: state.kind.rawValue, cause: state.cause.text))
    }
    rekeying?.stop(.cancelled)
    if let error = dropRekey(keychain) { return connection.fail(Fault(error)) }
    log.info("the rekey was cancelled")
    connection.reply(Wire.RekeyReply(cancelled: true))
  }

  /// Forgets a rekey, its store and what keystores hold for its slots, which are read from its store unless given.
  @discardableResult
  func dropRekey(_ keychain: Keychain, _ slots: [SlotRecord]? = nil) -> VaultError? {
    let slots = slots ?? keychain.nextSlots()
    do throws(VaultError) { try keychain.dropRekey() } catch {
      log.error("the rekey cannot be forgotten: \(error.text)")
      return error
    }
    for slot in slots { dropPresenceKey(of: slot, vaultID: keychain.vaultID) }
    return nil
  }

  /// The vault has its new key: what belongs to the old one goes.
  func isRekeyed(_ keychain: Keychain, old: [SlotRecord], _ memoryKeys: [UInt32: Handover]) {
    for conversation in Array(conversations.values) where conversation.holdsSecret { conversation.callOff() }
    slotRenewal?.callOff()
    slotsChanged(without: old)
    retained.replace(with: memoryKeys)
    for slot in old { dropPresenceKey(of: slot, vaultID: keychain.vaultID) }
    dropUnnamedKeys(keychain)
    log.info("the vault has a new key, and everything is sealed under it")
    // Whoever waits for a check of the old store gets one of the new.
    if !check.readers.isEmpty { goOnChecking() }
  }

  /// Opens the store anew when it could not be opened while another one took its place.
  func reopenStore() {
    lock(because: .repaired)
    closeStore()
    openStore(cause: .repaired)
  }

  /// The progress of a rekey, for `Status`.
  func rekeyStatus(_ keychain: Keychain) -> Wire.Progress? {
    if let (done, of) = rekeying?.progress { return Wire.Progress(done: done, of: of) }
    guard keychain.isRekeying else { return nil }
    return Wire.Progress(done: 0, of: (try? keychain.itemCount()) ?? 0)
  }
}
