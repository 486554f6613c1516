internal import VaultModel
internal import VaultService

/// A call about one item that may have to wait until the vault is open, or for a person.
protocol AskedItem {
  var name: ItemName { get }
  /// The action of the call.
  var action: AuditAction { get }
  /// The caller's words for the purpose of the call.
  var said: Said { get }
  /// The time for which the call waits for a person.
  var patience: Patience { get }
  /// Sends the answer, or returns the event that has to come first: also ``Wait/room``, if the answer may have more
  /// than `longest` bytes.
  func send(_ door: VarlinkDoor, _ connection: VarlinkConnection, upTo longest: Int) throws(Refusal) -> Wait?
}

extension VarlinkDoor {
  /// Answers a call now, or holds it until it can be answered.
  func send(_ asked: some AskedItem, _ connection: VarlinkConnection) {
    ask(asked, connection, first: longest(connection))
  }

  /// - Parameter first: the most bytes of an answer that is sent at once.
  private func ask(_ asked: some AskedItem, _ connection: VarlinkConnection, first: Int) {
    let about = AskedCall.About(asked.action, asked.name.text, asked.said)
    let call = AskedCall.begin(about, for: connection.caller, in: asking) { () throws(Refusal) in
      try answer(asked, connection, upTo: first)
    } refuse: {
      connection.fail($0)
    } kept: {
      repeated(asked, connection, about)
    }
    if let call { connection.hold(call) }
  }

  private func answer(
    _ asked: some AskedItem, _ connection: VarlinkConnection, upTo longest: Int
  ) throws(Refusal) -> Wait? {
    let wait = try asked.send(self, connection, upTo: longest)
    guard wait == .room else { return wait }
    waitForRoom(asked, connection)
    return nil
  }

  /// The call as it is made again once an event has come.
  private func repeated(
    _ asked: some AskedItem, _ connection: VarlinkConnection, _ about: AskedCall.About
  ) -> AskedCall {
    let terms = AskedCall.Terms(
      connection.caller, asked.patience, about: about, saying: { asked.said },
      isStillAsking: { [weak connection] in connection?.isStillAsking == true })
    return AskedCall(terms, in: asking, connection.share.answers) {
      [weak self, weak connection] _ throws(Refusal) in
      guard let self, let connection else { return nil }
      return try answer(asked, connection, upTo: longest(connection))
    } refuse: { [weak connection] in
      connection?.fail($0)
    }
  }

  /// The most bytes of an answer that is sent at once, before other users have had their turn and without waiting for
  /// room.
  private func longest(_ connection: VarlinkConnection) -> Int {
    turns.isLong || turns.isAwaited || plaintext.mustWait(connection.plaintextClient) ? Plaintext.small / 2 : .max
  }

  /// Lets a long answer wait for its turn among the works, and for room.
  private func waitForRoom(_ asked: some AskedItem, _ connection: VarlinkConnection) {
    let number = plaintext.wait(connection.plaintextClient) { [weak self, weak connection] in
      if let self, let connection, connection.isStillAsking { ask(asked, connection, first: .max) }
    }
    connection.hold(withName: true) { [plaintext] in plaintext.remove(number) }
  }
}
