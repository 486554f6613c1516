internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The making of a new vault with its first slots.
extension WaysIn {
  /// Makes a vault.
  ///
  /// - Parameters:
  ///   - withRecovery: true to make a recovery code, too.
  ///   - keystore: the name of the keystore for the key of a PAM slot for the caller; nil for no such slot.
  ///   - isInsecure: true to allow a keystore that every program of the user can read.
  ///   - offersPresence: true to ask at the end whether to make a PAM slot, if `keystore` is nil.
  package func makeVault(
    withRecovery: Bool, keystore name: String?, isInsecure: Bool, offersPresence: Bool, cost wanted: WantedCost,
    _ prompter: any Prompter
  ) {
    let cost: NewSlot.Cost
    var keystore: KeystoreKind?
    do throws(Refusal) {
      try checkNoVault()
      if let obstacle = bootKeyObstacle() { throw .misconfigured(obstacle.reason) }
      cost = try wanted.cost()
      if let name { keystore = try self.keystore(name, isInsecure: isInsecure) }
    } catch { return refuse(prompter, error, .create) }
    let conversation = converse(prompter, .create)
    conversation.makesVault = true
    let new = NewVault()
    conversation.willWipe(new.vaultKey)
    // A vault must not be made if its key was in memory while the machine slept.
    conversation.holdSecret()
    newSlot(1, new, conversation).password(cost: cost) { [unowned self] password in
      offerRecovery(withRecovery, new, conversation) { [unowned self] recovery in
        choosePresence(keystore, offersPresence, conversation) { [unowned self] keystore in
          addPresence(keystore, new, conversation) { [unowned self] presence in
            create(new, [password] + recovery + presence, conversation)
          }
        }
      }
    }
  }

  /// Looks for the store once more, and checks that a vault can be made here.
  ///
  /// - Throws: the refusal if there is a vault already, if one is being restored from a backup, or if the store cannot
  ///   be read.
  func checkNoVault() throws(Refusal) {
    vault.lookForStore()
    switch vault.store.content {
    case .open: throw .vaultExists
    case .unreadable(let error): throw Refusal(error)
    case .none: if let incoming = vault.hooks.incoming() { throw incoming }
    }
  }

  /// The id and key of a new vault.
  private struct NewVault {
    let id = VaultID.random().bytes
    let vaultKey = Handover(RandomBytes.secret(count: 32))
  }

  private func newSlot(_ id: UInt32, _ new: NewVault, _ conversation: Conversation) -> NewSlot {
    NewSlot(ways: self, conversation: conversation, id: id, vaultKey: new.vaultKey, vaultID: new.id)
  }

  private func offerRecovery(
    _ isWanted: Bool, _ new: NewVault, _ conversation: Conversation, then: @escaping ([SlotRecord]) -> Void
  ) {
    guard isWanted else { return then([]) }
    newSlot(2, new, conversation).recoveryCode { then([$0]) }
  }

  /// Asks whether to make a PAM slot, if no keystore is given and such a slot is possible.
  private func choosePresence(
    _ keystore: KeystoreKind?, _ isOffered: Bool, _ conversation: Conversation,
    then: @escaping (KeystoreKind?) -> Void
  ) {
    let uid = conversation.caller.uid
    guard keystore == nil, isOffered, presence.means.obstacle(presence.passwordQuestion(for: uid)) == nil else {
      return then(keystore)
    }
    let hasReader = presence.means.obstacle(presence.biometryQuestion(for: uid)) == nil
    let ask = { (means: String) in
      let text = "Also open it with your \(means)?"
      conversation.ask(.choice, method: SlotKind.pam.name, text: text) { answer in then(answer.isYes() ? .memory : nil)
      }
    }
    guard hasReader else { return ask("login password") }
    fingers(of: uid) { ask($0.obstacle == nil ? "fingerprint or login password" : "login password") }
  }

  private func addPresence(
    _ keystore: KeystoreKind?, _ new: NewVault, _ conversation: Conversation, then: @escaping ([SlotRecord]) -> Void
  ) {
    guard let keystore else { return then([]) }
    if keystore == .file {
      // The key is written before the store beside it.
      do throws(SystemError) { try StorePath.make(vault.directory) } catch {
        return conversation.fail(.storageFailed("\(error)"))
      }
    }
    newSlot(3, new, conversation).presence(keystore, users: [conversation.caller.uid]) { then([$0]) }
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
        conversation.fail(.misconfigured(error.reason))
      }
    }
    conversation.willCallOff { [unowned self] in
      giveUp()
      // If the making of the boot key is cancelled, the closure above is not called.
      if !isMade { drop(slots, of: new) }
    }
  }

  /// Removes the presence keys of a vault that is not made.
  private func drop(_ slots: [SlotRecord], of new: NewVault) {
    for slot in slots { dropPresenceKey(of: slot, vaultID: new.id) }
  }

  private func create(
    _ new: NewVault, _ slots: [SlotRecord], _ bootKey: borrowing NewBootKey, _ conversation: Conversation
  ) {
    // Checked again, because another init may have come first, whose boot key must not be replaced.
    do throws(Refusal) { try checkNoVault() } catch {
      drop(slots, of: new)
      return conversation.fail(error)
    }
    // The key is taken before the boot key is written, so that nothing of a vault without a key is on the disk.
    guard let vaultKey = new.vaultKey.take() else {
      drop(slots, of: new)
      return conversation.fail(.cancelled)
    }
    do {
      try StorePath.make(vault.directory)
      bootKey.tell(conversation)
      try bootKey.write()
      try Keychain.create(
        in: vault.directory, slots: slots, vaultID: new.id, vaultKey: vaultKey, bootKey: bootKey.key,
        now: vault.clock.wall())
      retainKeys(of: slots, vaultKey, vaultID: new.id)
      open(vaultKey, provenBy: slots[0], conversation)
    } catch let error as VaultError {
      drop(slots, of: new)
      return conversation.fail(Refusal(error))
    } catch {
      drop(slots, of: new)
      return conversation.fail(.storageFailed("\(error)"))
    }
    conversation.finish()
  }

  /// Leaves the new vault unlocked, because its password was just given.
  private func open(
    _ vaultKey: borrowing SecureBytes, provenBy password: SlotRecord, _ conversation: Conversation
  ) {
    vault.openStore(because: .created)
    guard let keychain = vault.openKeychain else { return }
    do throws(VaultError) { try keychain.unlock(vaultKey: vaultKey) } catch {
      return vault.log.error("the new vault stays locked: \(error.text)")
    }
    access.add(.password, by: conversation.caller, with: [password])
    vault.unlocked(keychain, by: .created, for: nil, conversation.caller)
  }
}

extension SecureBytes {
  /// True for an answer that begins with a `y`.
  fileprivate borrowing func isYes() -> Bool {
    withBytes { bytes in bytes.byteCount > 0 && Span<UInt8>(_bytes: bytes)[0] | 0x20 == UInt8(ascii: "y") }
  }
}
