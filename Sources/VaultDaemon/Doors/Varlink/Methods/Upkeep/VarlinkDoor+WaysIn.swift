internal import VaultBytes
internal import VaultCore
internal import VaultModel
internal import VaultService
internal import VaultWire

// Init, Unlock, Authenticate, Respond, Lock, and the slots.
extension VarlinkDoor {
  func `init`(_ call: Wire.InitParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    ways.makeVault(
      withRecovery: call.recovery ?? false, keystore: call.keystore, isInsecure: call.insecure ?? false,
      offersPresence: call.offer ?? false,
      cost: WantedCost(memory: call.kdfMemory, passes: call.kdfPasses), prompter(connection))
  }

  func unlock(_ call: Wire.UnlockParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    if let obstacle = obstacle() { return connection.fail(Refusal.misconfigured(obstacle)) }
    let said = Said(purpose: call.reason, isInteractive: call.interactive)
    ways.unlock(call.method, for: call.for, said, prompter(connection))
  }

  func authenticate(_ call: Wire.AuthenticateParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    let said = note(call.interactive, call.reason, connection)
    answerFromVault(connection) { () throws(Refusal) in
      if let inquiry = call.inquiry.map(QuestionNumber.init) {
        if call.name != nil { throw .invalid("name") }
        let item = try attendance.item(of: inquiry, for: connection.caller)
        return ways.prove(item, for: inquiry, attendance, said, prompter(connection))
      }
      guard let text = call.name else {
        try access.checkAdministrator(connection.caller)
        return ways.proveForGrants(said, prompter(connection))
      }
      ways.prove(try items.itemToProve(try Self.itemName(text), for: connection.caller), said, prompter(connection))
    }
  }

  func respond(_ call: Wire.RespondParameters, _ frame: borrowing Frame, _ connection: VarlinkConnection) {
    guard let conversation = conversations[call.conversation], conversation.caller.uid == connection.caller.uid else {
      return connection.fail(Fault.noSuchConversation)
    }
    let field = SecretField(call.answer, call.data, frame)
    if case .absent = field { return connection.fail(Refusal.invalid("answer")) }
    guard let answer = field.bytes(frame) else { return connection.fail(Refusal.invalid("data")) }
    if conversation.answer(answer, to: call.number) {
      connection.reply(Wire.Empty())
    } else {
      connection.fail(Fault.noSuchConversation)
    }
  }

  func lock(_: Wire.Empty, _: borrowing Frame, _ connection: VarlinkConnection) {
    answer(connection) { () throws(Refusal) in
      vault.lock(because: .asked, connection.caller)
      try vault.checkLocked()
      connection.reply(Wire.Empty())
    }
  }

  // MARK: Slots

  func listSlots(_: Wire.Empty, _: borrowing Frame, _ connection: VarlinkConnection) {
    answer(connection) { () throws(Refusal) in
      let (slots, stale) = try ways.slots()
      connection.reply(Wire.ListSlotsReply(slots: slots.map { Wire.Slot($0, isStale: stale.contains($0.id)) }))
    }
  }

  func changePassword(_ call: Wire.ChangePasswordParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    answerFromVault(connection) { () throws(Refusal) in
      let kind = call.kind.flatMap(SlotKind.init(name:))
      guard call.kind == nil || kind?.facts.secret == .password else { throw .invalid("kind") }
      ways.changePassword(
        provenBy: call.method, kind: kind, slot: call.slot,
        cost: WantedCost(memory: call.kdfMemory, passes: call.kdfPasses),
        prompter(connection))
    }
  }

  func markStale(_: Wire.Empty, _: borrowing Frame, _ connection: VarlinkConnection) {
    answer(connection) { () throws(Refusal) in
      try ways.markStale(for: connection.caller)
      connection.reply(Wire.Empty())
    }
  }

  func addSlot(_ call: Wire.AddSlotParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    answerFromVault(connection) { () throws(Refusal) in
      guard let kind = SlotKind(name: call.kind) else { throw .invalid("kind") }
      let wanted = WaysIn.WantedSlot(
        kind: kind, label: call.label ?? "", keystore: call.keystore, users: call.users,
        isInsecure: call.insecure ?? false, cost: WantedCost(memory: call.kdfMemory, passes: call.kdfPasses))
      ways.addSlot(
        wanted, provenBy: call.method,
        prompter(connection) { result in
          var slot: Int?
          if case .slot(let id) = result { slot = Int(id) }
          connection.reply(Wire.AddSlotReply(slot: slot))
        })
    }
  }

  func removeSlot(_ call: Wire.RemoveSlotParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    ways.removeSlot(call.id, provenBy: call.method, prompter(connection))
  }

  /// Asks over the connection of the call, and ends the call with an empty reply.
  private func prompter(_ connection: VarlinkConnection) -> VarlinkPrompter {
    prompter(connection) { _ in connection.reply(Wire.Empty()) }
  }

  /// Asks over the connection of the call; `finished` sends the last reply.
  func prompter(_ connection: VarlinkConnection, _ finished: @escaping (ConversationResult) -> Void) -> VarlinkPrompter
  {
    VarlinkPrompter(connection, self, finished)
  }
}
