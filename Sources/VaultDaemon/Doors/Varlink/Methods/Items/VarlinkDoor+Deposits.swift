internal import VaultBytes
internal import VaultCore
internal import VaultModel
internal import VaultService
internal import VaultWire

// Deposit, SealDeposit, DepositSealed, Deposits and SettleDeposit.
extension VarlinkDoor {
  /// The number of deposits in one reply.
  private static let depositsAtATime = 32

  func deposit(_ call: Wire.DepositParameters, _ frame: borrowing Frame, _ connection: VarlinkConnection) {
    let said = note(nil, call.reason, connection)
    do throws(Refusal) {
      try vault.checkStore()
      let field = SecretField(call.value, call.data, frame)
      let item = try call.item()
      let answer = try items.deposit(
        item.name, kind: item.kind, attributes: item.attributes, accessible: item.accessible, count: field.count,
        for: connection.caller, said
      ) { bytes in field.copy(frame, into: &bytes) }
      connection.reply(
        Wire.DepositReply(
          number: answer.number, waiting: answer.isWaiting, version: answer.version, kept: answer.obstacle?.text))
    } catch { connection.fail(error) }
  }

  func sealDeposit(_ call: Wire.SealDepositParameters, _ frame: borrowing Frame, _ connection: VarlinkConnection) {
    do throws(Refusal) {
      let field = SecretField(call.value, call.data, frame)
      let asked = try call.item()
      let item = DepositedItem(
        name: asked.name, accessible: asked.accessible ?? Policy().accessible, kind: asked.kind,
        attributes: asked.attributes)
      let (box, fingerprint) = try items.seal(for: call.key, item, count: field.count) { bytes in
        field.copy(frame, into: &bytes)
      }
      connection.reply(Wire.SealDepositReply(box: box, fingerprint: fingerprint))
    } catch { connection.fail(error) }
  }

  func depositSealed(_ call: Wire.DepositSealedParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    let said = note(nil, call.reason, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let answer = try items.deposit(box: call.box, for: connection.caller, said)
      connection.reply(
        Wire.DepositSealedReply(
          number: answer.number, waiting: answer.isWaiting, version: answer.version, kept: answer.obstacle?.text,
          name: answer.name?.text))
    }
  }

  func deposits(_: Wire.Empty, _: borrowing Frame, _ connection: VarlinkConnection) {
    tellDeposits(after: 0, connection)
  }

  /// Sends the next deposits, lets other clients have their turn, and continues as the client reads.
  private func tellDeposits(after number: Int, _ connection: VarlinkConnection) {
    answerFromVault(connection) { () throws(Refusal) in
      let (found, next) = try items.deposits(after: number, limit: Self.depositsAtATime)
      if next == nil || !found.isEmpty {
        connection.reply(Wire.DepositsReply(deposits: found.map { Wire.DepositInfo($0) }), continues: next != nil)
      }
      guard let next else { return }
      var isWanted = true
      connection.hold(withName: true) { isWanted = false }
      connection.whenKeepingUp { [weak self, weak connection] in
        if isWanted, let self, let connection { tellDeposits(after: next, connection) }
      }
    }
  }

  func settleDeposit(_ call: Wire.SettleDepositParameters, _: borrowing Frame, _ connection: VarlinkConnection) {
    _ = note(call.interactive, nil, connection)
    answerFromVault(connection) { () throws(Refusal) in
      let (name, version) = try items.settleDeposit(call.number, isAccepted: call.accept, for: connection.caller)
      connection.reply(Wire.SettleDepositReply(name: name?.text, version: version))
    }
  }
}

extension Wire.DepositInfo {
  fileprivate init(_ told: ToldDeposit) {
    self.init(
      number: told.number, waiting: told.isWaiting,
      reason: told.isWaiting ? nil : told.obstacle?.text ?? "a newer version of vault kept it aside",
      name: told.item?.name.text,
      kind: told.item?.kind?.rawValue, accessible: told.item?.accessible.name, size: told.size, time: told.time,
      depositor: told.author, sealed: told.item == nil ? nil : told.isBox)
  }
}

/// The facts that a depositor states about an item.
private protocol DepositFields {
  var name: String { get }
  var kind: String? { get }
  var attributes: [String: String]? { get }
  var accessible: String? { get }
}

extension Wire.DepositParameters: DepositFields {}
extension Wire.SealDepositParameters: DepositFields {}

extension DepositFields {
  fileprivate func item() throws(Refusal) -> (
    name: ItemName, kind: ItemKind?, attributes: [String: String]?, accessible: AccessClass?
  ) {
    let item = try VarlinkDoor.itemName(name)
    let known = kind.flatMap(ItemKind.init(rawValue:))
    if let kind, known == nil { throw .invalidValue(kind: kind, reason: "there is no such kind") }
    let ofClass = accessible.flatMap { AccessClass(name: $0) }
    if accessible != nil, ofClass == nil { throw .invalid("accessible") }
    return (item, known, attributes, ofClass)
  }
}
