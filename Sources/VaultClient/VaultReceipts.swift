internal import VaultWire

extension Vault {
  /// Says for the audit log that a version of the item `name` was taken over, or could not be.
  ///
  /// The caller has to have the right to watch the item. A version that there never was is refused.
  ///
  /// - Parameters:
  ///   - held: true where it did not succeed because it waits for a person.
  ///   - detail: what is to be said of it: one line of at most 120 characters is kept.
  ///   - notice: what a person is to see to, which ``status()`` tells administrators until the process says something
  ///     else, or ends: one line of at most 1000 characters is kept.
  public func receipt(
    _ version: Int, of name: String, succeeded: Bool, held: Bool = false, detail: String? = nil, notice: String? = nil
  ) throws(ClientError) {
    _ = try call(
      .receipt, again: false,
      Wire.ReceiptParameters(
        name: name, version: version, succeeded: succeeded, held: held ? true : nil, detail: detail, notice: notice)
    ).decode(Wire.Empty.self)
  }
}
