internal import VaultCore
internal import VaultModel
internal import VaultStore

/// Init: a new vault with its first ways in.
extension WaysIn {
  /// Makes a vault.
  ///
  /// - Parameters:
  ///   - withRecovery: also makes a recovery code.
  ///   - keystore: the place for the key of a PAM slot of the caller's, by its name; nil for no such slot.
  ///   - isInsecure: lets that be a place where every program of the user can read it.
  ///   - offersPresence: asks last whether there shall be such a slot, where nothing is said of it.
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
    // A vault whose key was in memory while the machine slept is not to be made.
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

  /// Looks anew whether a vault can be made here.
  ///
  /// - Throws: that one is there already, or is just coming in from a backup, or something that cannot be read.
  func checkNoVault() throws(Refusal) {
    vault.openStore(because: .repaired)
    switch vault.store.content {
    case .open: throw .vaultExists
    case .unreadable(let error): throw Refusal(error)
    case .none: if let incoming = vault.hooks.incoming() { throw incoming }
    }
  }

  /// The id and key that a new vault begins with.
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

  /// Asks for the place of a PAM slot's key where none is given and there may be such a slot.
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
      // The key comes before the store that it lies beside.
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
    do throws(Refusal) { try checkNoVault() } catch {
      drop(slots, of: new)
      return conversation.fail(error)
    }
    do {
      try StorePath.make(vault.directory)
      try bootKey.write()
      guard let vaultKey = new.vaultKey.take() else { return conversation.fail(.cancelled) }
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

  /// Leaves the new vault unlocked: its password was just given.
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
