internal import VaultModel
internal import VaultService

/// A call that uses an item's key, and that may have to wait until the vault is open.
struct AskedUse: AskedItem {
  let name: ItemName
  let said: Said
  let action = AuditAction.use
  let patience: Patience
  private let make: (VarlinkConnection) throws(Refusal) -> Wait?

  /// - Parameters:
  ///   - milliseconds: the time that the call waits; nil if it does not say.
  ///   - ask: true if the call waits for a person only when an agent can ask one.
  ///   - make: sends the answer, or returns what must happen first.
  init(
    of name: ItemName, waiting milliseconds: Int?, ask: Bool?, _ said: Said, _ clock: Clock,
    _ make: @escaping (VarlinkConnection) throws(Refusal) -> Wait?
  ) {
    (self.name, self.said, self.make) = (name, said, make)
    patience = Patience(milliseconds: milliseconds, asks: ask ?? false, clock)
  }

  func send(_: VarlinkDoor, _ connection: VarlinkConnection, upTo _: Int) throws(Refusal) -> Wait? {
    try make(connection)
  }
}
