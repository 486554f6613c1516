internal import VaultCore
internal import VaultModel
internal import VaultStore

// The rekey: the vault gets a new key, and everything is sealed again under it while the items are served.
extension Upkeep {
  /// Gives the vault a new key, or waits for the rekey that is under way.
  ///
  /// - Parameters:
  ///   - method: the method of the proof.
  ///   - prompter: asks the person. It is told when all questions are answered, and which slots are carried over.
  ///   - reader: told the progress from then on, and the end.
  package func rekey(_ method: String?, _ prompter: any Prompter, _ reader: RekeyWork.Reader) {
    let keychain: Keychain
    let loss: String?
    do throws(Refusal) {
      keychain = try vault.keychain()
      if let rekey {
        // The reader waits first, because it must leave if the call ends before this returns.
        rekey.wait(reader)
        return prompter.finish(.rekeying(nil))
      }
      guard vault.state.kind == .unlocked else { throw .locked(vault.state) }
      try Self.check(keychain)
      loss = try keychain.isRekeying ? nil : bootKeyLoss(keychain)
    } catch { return ways.refuse(prompter, error, .rekey) }
    let conversation = ways.converse(prompter, .rekey)
    conversation.keepsSecret = true
    if let loss { tell(loss, conversation) }
    ways.authenticateOwner(
      conversation, method: method, purpose: Purpose(.other("to give the vault a new key")), alsoLogin: true,
      evenRekeying: true
    ) { [unowned self] vaultKey, opened in
      if keychain.isRekeying {
        guard givenUpRekey != nil else { return goOn(conversation, keychain, vaultKey, reader) }
        if let error = dropGivenUpRekey(keychain) { return conversation.fail(vault.refusal(error, "")) }
      }
      guard let secret = conversation.secret else { return conversation.fail(.cancelled) }
      let slots = CarriedSlots(ways, conversation, keychain, opened: opened, secret: secret)
      let giveUp = readBootKey(keychain) { [unowned self] read in
        guard !conversation.isOver else { return }
        switch consume read {
        case .success(let key):
          goOn(NextBootKey(key: Handover(key)), slots, conversation, keychain, vaultKey, reader)
        case .failure(let fault):
          guard case .lost(let reason) = fault else { return conversation.fail(fault.refusal) }
          if loss == nil { tell(reason, conversation) }
          makeBootKey(conversation, keychain) { [unowned self] in
            goOn($0, slots, conversation, keychain, vaultKey, reader)
          }
        }
      }
      conversation.willCallOff(giveUp)
    }
  }

  /// Continues when it is clear which boot key the vault will have.
  private func goOn(
    _ bootKey: NextBootKey, _ slots: CarriedSlots, _ conversation: Conversation, _ keychain: Keychain,
    _ vaultKey: Handover, _ reader: RekeyWork.Reader
  ) {
    conversation.willWipe(bootKey.key)
    slots.make { [unowned self] slots in begin(slots, conversation, keychain, vaultKey, bootKey, reader) }
  }

  private static func check(_ keychain: Keychain) throws(Refusal) {
    do throws(VaultError) {
      if keychain.hasFailed { throw .corrupt("the check of the store found that it was changed") }
      if !keychain.isRekeying { try Rekey.checkRoom(for: keychain) }
    } catch { throw Refusal(error) }
  }

  /// Removes a reader who waits for a rekey.
  package func leaveRekey(_ id: ObjectIdentifier) { rekey?.leave(id) }

  /// The reason why the boot key of the vault cannot be used.
  private enum BootKeyFault: Error {
    /// The key is gone or useless, for this reason.
    case lost(String)
    /// The key or the store cannot be read now.
    case unusable(Refusal)

    var refusal: Refusal {
      switch self {
      case .lost(let reason): .misconfigured(reason)
      case .unusable(let refusal): refusal
      }
    }
  }

  /// The boot key of the vault with the new key: the present one or, if that is lost, a new one.
  private struct NextBootKey {
    let key: Handover
    /// The file that a new key must be written to; nil for the present key, and for a credential.
    var file: KeyFile?
    /// The new key, sealed by the TPM; nil if the file is to contain the key itself.
    var sealed: [UInt8]?
    /// The place in the settings for which a new key was made; nil for the present key.
    var place: BootKey?

    /// Writes a new key to its file.
    func write() throws(SystemError) {
      let (file, sealed) = (file, sealed)
      try key.withSecret { (key: borrowing SecureBytes) throws(SystemError) in
        try NewBootKey.write(key, to: file, sealed: sealed)
      }
    }
  }

  /// Returns the reason why the vault needs a new boot key, as far as it can be determined before a person is asked;
  /// nil if the present one serves.
  ///
  /// - Throws: the refusal if the key cannot be read now, but may be later, or if no new one can be made.
  private func bootKeyLoss(_ keychain: Keychain) throws(Refusal) -> String? {
    // The TPM takes its time, so it is asked only after the proof.
    if case .tpm2 = ways.bootKey { return nil }
    var problem: BootKeyFault?
    _ = readBootKey(keychain) { read in
      switch consume read {
      case .success: break
      case .failure(let fault): problem = fault
      }
    }
    guard let problem else { return nil }
    guard case .lost(let reason) = problem, ways.bootKeyObstacle() == nil else { throw problem.refusal }
    return reason
  }

  /// Says beside the question that the vault gets a new boot key.
  private func tell(_ loss: String, _ conversation: Conversation) {
    let effect =
      if case .credential = ways.bootKey {
        "the rekey makes it the vault's boot key"
      } else {
        "the rekey makes a new boot key there, and an older one opens only older copies of the store"
      }
    conversation.tell(.info, method: SlotKind.password.name, text: "\(loss); \(effect)")
  }

  private func makeBootKey(
    _ conversation: Conversation, _ keychain: Keychain, then: @escaping (NextBootKey) -> Void
  ) {
    let place = ways.bootKey
    let giveUp = ways.newBootKey(vault: keychain.vaultID) { made in
      guard !conversation.isOver else { return }
      switch consume made {
      case .success(let made):
        let (file, sealed) = (made.file, made.sealed)
        let key = Handover(made.key.withBytes { SecureBytes(copying: $0) })
        then(NextBootKey(key: key, file: file, sealed: sealed, place: place))
      case .failure(let error): conversation.fail(.misconfigured(error.reason))
      }
    }
    conversation.willCallOff(giveUp)
  }

  /// Reads the boot key of this vault. A rekey changes it only if it is lost.
  ///
  /// - Returns: a closure that cancels the reading.
  private func readBootKey(
    _ keychain: Keychain, then: @escaping (consuming Result<SecureBytes, BootKeyFault>) -> Void
  ) -> () -> Void {
    let bootKey = ways.bootKey
    return ways.fetchBootKey(vault: keychain.vaultID) { read in
      switch consume read {
      case .success(let key):
        do throws(VaultError) { try keychain.openAlways(bootKey: key) } catch {
          let isWrong = error == Keychain.wrongBootKey
          return then(.failure(isWrong ? .lost(bootKey.problem(error)) : .unusable(Refusal(error))))
        }
        then(.success(key))
      case .failure(let error):
        switch error.code {
        case .notFound, .damaged: then(.failure(.lost(error.reason)))
        case .unavailable, .refused: then(.failure(.unusable(.misconfigured(error.reason))))
        }
      }
    }
  }

  private func begin(
    _ slots: CarriedSlots, _ conversation: Conversation, _ keychain: Keychain, _ vaultKey: Handover,
    _ bootKey: NextBootKey, _ reader: RekeyWork.Reader
  ) {
    guard conversation.mayConclude else { return }
    // A caller about to change the slots would change those of the old store.
    ways.conversations.each { if $0 !== conversation, $0.holdsSecret { $0.callOff() } }
    guard rekey == nil, !keychain.isRekeying else { return conversation.fail(.rekeying) }
    if let place = bootKey.place, place != ways.bootKey {
      return conversation.fail(
        .interrupted("the settings of the boot key were changed meanwhile, so nothing was done"))
    }
    // The key is on the disk before anything is sealed with it.
    do throws(SystemError) { try bootKey.write() } catch { return conversation.fail(.storageFailed("\(error)")) }
    guard let nextKey = slots.nextKey.take(), let oldKey = vaultKey.take(), let bootKey = bootKey.key.take() else {
      return conversation.fail(.cancelled)
    }
    let work: RekeyWork
    do throws(VaultError) {
      let begun = try Rekey(
        keychain, carrying: slots.carried, slots: slots.made, nextKey: nextKey, vaultKey: oldKey, bootKey: bootKey,
        now: vault.clock.wall())
      work = RekeyWork(self, keychain, begun, nextKey: nextKey)
    } catch {
      return conversation.fail(vault.refusal(error, ""))
    }
    slots.keep()
    rekey = work
    givenUpRekey = nil
    vault.log.info("the vault is being given a new key")
    work.wait(reader)
    conversation.finish(.rekeying((of: work.progress.of, slots: slots.made.map(\.id), leftOut: slots.leftOut)))
  }

  /// Resumes a rekey that stopped with an error.
  private func goOn(
    _ conversation: Conversation, _ keychain: Keychain, _ vaultKey: Handover, _ reader: RekeyWork.Reader
  ) {
    let problem: VaultError? = vaultKey.withSecret { takeUpRekey($0, keychain) } ?? nil
    guard let rekey else { return conversation.fail(problem.map { vault.refusal($0, "") } ?? .cancelled) }
    rekey.wait(reader)
    conversation.finish(.rekeying(nil))
  }

  /// Continues the rekey that is under way, if there is one, after an unlock. A rekey that was given up is removed
  /// instead.
  ///
  /// - Returns: the error because of which the rekey does not continue; nil for none.
  @discardableResult
  func takeUpRekey(_ vaultKey: borrowing SecureBytes, _ keychain: Keychain) -> VaultError? {
    guard rekey == nil else {
      hastenRekey()
      return nil
    }
    guard keychain.isRekeying else { return nil }
    guard givenUpRekey == nil else { return dropGivenUpRekey(keychain) }
    do throws(VaultError) {
      let nextKey = try keychain.nextKey(vaultKey: vaultKey)
      switch consume nextKey {
      case .some(let nextKey): try resumeRekey(nextKey, keychain)
      case .none: break
      }
      return nil
    } catch {
      giveUpRekey(keychain, because: error)
      return error
    }
  }

  /// - Throws: the error because of which the rekey can never continue.
  private func resumeRekey(_ nextKey: consuming SecureBytes, _ keychain: Keychain) throws(VaultError) {
    let resumed: Rekey
    do throws(VaultError) { resumed = try Rekey(resuming: keychain, nextKey: nextKey) } catch {
      if error.endsRekey { throw error }
      rekey = RekeyWork(self, keychain, nextKey: nextKey, because: error)
      return
    }
    let new = RekeyWork(self, keychain, resumed, nextKey: nextKey)
    rekey = new
    new.goOn()
  }

  /// Ends a pause of the rekey early, because somebody asked for what the rekey delays.
  func hastenRekey() { rekey?.hasten() }

  /// Cancels the rekey that is under way; false if there is none.
  package func cancelRekey(for caller: Caller) throws(Refusal) -> Bool {
    let keychain = try vault.keychain()
    guard keychain.isRekeying else { return false }
    // The class records must be changed, so that the files of the cancelled rekey are worthless if they are put back.
    guard vault.state.kind == .unlocked else { throw .locked(vault.state) }
    rekey?.stop(.cancelled)
    let slots = keychain.nextSlots()
    if let error = dropRekey(keychain, slots) {
      // No unlock may resume what somebody has called off. But nothing is on the disk that could tell the next daemon.
      givenUpRekey = GivenUpRekey(reason: nil, time: vault.clock.wall())
      dropLater(keychain, slots, pause: RekeyWork.firstPause)
      throw keychain.canContinueRekey ? .storageFailed(Self.notCalledOff(error)) : Refusal(error)
    }
    // An earlier attempt may have failed.
    if let givenUp = givenUpRekey, givenUp.reason == nil { givenUpRekey = nil }
    vault.log.info("the rekey was cancelled")
    vault.audit.record(.rekey, .cancelled, caller, item: Self.calledOff)
    return true
  }

  /// The subject matter of the entry about a rekey that was called off.
  private static let calledOff = "called off"

  /// The refusal to say that a rekey was called off, as long as that is known to this process alone.
  private static func notCalledOff(_ error: VaultError) -> String {
    "\(error.text); the rekey stands still, but is not called off for good: vaultd tries again, and if it ends before "
      + "that succeeds, the next unlock continues the rekey"
  }

  /// Gives up a rekey that cannot be completed, and records that.
  func giveUpRekey(_ keychain: Keychain, _ slots: [SlotRecord]? = nil, because error: VaultError) {
    vault.log.error("the rekey is given up: \(error.text)")
    vault.audit.record(.rekey, .failed, nil, item: "given up", detail: error.text)
    givenUpRekey = GivenUpRekey(reason: error.text, time: vault.clock.wall())
    dropGivenUpRekey(keychain, slots)
  }

  /// Removes a rekey that was given up. While that fails, on a full disk for example, it is tried again after a pause,
  /// because backups and changes of the slots are refused until it is done. After a lock the next unlock does it.
  ///
  /// - Parameters:
  ///   - slots: its slots; nil if they are to be read from its store.
  ///   - pause: the time until the next attempt, in nanoseconds.
  /// - Returns: the error because of which it is not removed yet; nil if it is removed.
  @discardableResult
  private func dropGivenUpRekey(
    _ keychain: Keychain, _ slots: [SlotRecord]? = nil, pause: Int64 = RekeyWork.firstPause
  ) -> VaultError? {
    dropTimer?()
    dropTimer = nil
    // An attempt may remove the store, from which the next one could not read the slots.
    let slots = slots ?? keychain.nextSlots()
    let error = dropRekey(keychain, slots, isRepeated: pause > RekeyWork.firstPause)
    if error != nil {
      dropLater(keychain, slots, pause: pause)
    } else if let givenUp = givenUpRekey, givenUp.reason == nil {
      vault.log.info("the rekey was cancelled")
      vault.audit.record(.rekey, .cancelled, nil, item: Self.calledOff)
    }
    return error
  }

  private func dropLater(_ keychain: Keychain, _ slots: [SlotRecord], pause: Int64) {
    dropTimer?()
    dropTimer = ways.timer.after(pause) { [weak self, weak keychain] in
      guard let self, let keychain, vault.openKeychain === keychain, vault.state.kind == .unlocked, rekey == nil,
        keychain.isRekeying
      else { return }
      dropGivenUpRekey(keychain, slots, pause: min(2 * pause, RekeyWork.longestPause))
    }
  }

  /// Removes a rekey with its store, and the keys in keystores for its slots.
  ///
  /// - Parameters:
  ///   - slots: its slots.
  ///   - isRepeated: true after an attempt that failed, so that a further failure is not logged again.
  private func dropRekey(_ keychain: Keychain, _ slots: [SlotRecord], isRepeated: Bool = false) -> VaultError? {
    do throws(VaultError) { try keychain.dropRekey() } catch {
      // Once the rekey is forgotten, its files are worthless. The next start or rekey removes them.
      guard !keychain.isRekeying else {
        if !isRepeated { vault.log.error("the rekey cannot be forgotten: \(error.text)") }
        return error
      }
      vault.log.warning("the rekey is forgotten, but its files cannot be removed: \(error.text)")
    }
    for slot in slots { ways.dropPresenceKey(of: slot, vaultID: keychain.vaultID) }
    return nil
  }

  /// Handles the end of a rekey: removes everything that belongs to the old key.
  func isRekeyed(_ keychain: Keychain, old: [SlotRecord], _ memoryKeys: [UInt32: Handover]) {
    ways.conversations.each { if $0.holdsSecret { $0.callOff() } }
    ways.renewal?.callOff()
    ways.slotsChanged(without: old)
    ways.retained.replace(with: memoryKeys)
    for slot in old { ways.dropPresenceKey(of: slot, vaultID: keychain.vaultID) }
    ways.dropUnnamedKeys(keychain)
    if vault.store.bootKeyProblem != nil { ways.openAlways(keychain) }
    vault.log.info("the vault has a new key, and everything is sealed under it")
    // Readers who wait for a check of the old store get one of the new store.
    if check.isAwaited { check.goOn() }
  }

  /// The progress of the rekey that is under way; nil for none.
  package var rekeyProgress: RekeyWork.Progress? {
    if let rekey { return rekey.progress }
    guard let keychain = vault.openKeychain, keychain.isRekeying else { return nil }
    return (0, (try? keychain.itemCount()) ?? 0)
  }
}
