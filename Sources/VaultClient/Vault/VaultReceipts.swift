internal import VaultWire

extension Vault {
  /// Records in the audit log that the caller has taken over a version of the item `name`, or has failed to.
  ///
  /// The caller must have the right to watch the item. A version that never existed is refused.
  ///
  /// - Parameters:
  ///   - held: true when the caller failed because it waits for a person.
  ///   - detail: a text about the result; one line of at most 120 characters is kept.
  ///   - notice: a text about something that a person must see to. ``status()`` shows it to administrators until the
  ///     process sends another one or ends; one line of at most 1000 characters is kept.
  ///   - since: the ``Event/cursor`` of the last event that the caller has heard and heeded. The receipt is refused
  ///     with ``Fault/noSuchVersion(name:version:)`` if the name has lost its item since then, or has got one, because
  ///     the version is then another item's. A daemon of an earlier version does not compare this.
  public func receipt(
    _ version: Int, of name: String, succeeded: Bool, held: Bool = false, detail: String? = nil, notice: String? = nil,
    since: String? = nil
  ) throws(ClientError) {
    var said = Wire.ReceiptParameters(
      name: name, version: version, succeeded: succeeded, held: held ? true : nil, detail: detail, notice: notice,
      since: since)
    do throws(ClientError) { try send(said) } catch .fault(.service(.invalidParameter("since"))) {
      said.since = nil
      try send(said)
    }
  }

  private func send(_ said: Wire.ReceiptParameters) throws(ClientError) {
    _ = try call(.receipt, again: false, said).decode(Wire.Empty.self)
  }
}
