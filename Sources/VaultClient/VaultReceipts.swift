internal import VaultWire

extension Vault {
  /// Says for the audit log that a version of the item `name` was taken over, or could not be.
  ///
  /// The caller has to have the right to watch the item. A version that there never was is refused.
  ///
  /// - Parameter detail: what is to be said of it: one line of at most 120 characters is kept.
  public func receipt(
    _ version: Int, of name: String, succeeded: Bool, detail: String? = nil
  ) throws(ClientError) {
    _ = try call(
      .receipt, again: false,
      Wire.ReceiptParameters(name: name, version: version, succeeded: succeeded, detail: detail)
    ).decode(Wire.Empty.self)
  }
}
