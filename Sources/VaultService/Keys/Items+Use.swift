internal import VaultCore
internal import VaultModel
internal import VaultStore

// The use of a key without reading it: the common part of all methods that do so.
extension Items {
  /// Makes something with the key that is an item's value, and lends the result to `answer`. A caller who may have the
  /// result need not have the right to get the key.
  ///
  /// - Parameters:
  ///   - use: the use that the key must be made for.
  ///   - detail: the result in words for the audit log; evaluated when the entry is written.
  ///   - order: the work of this call with large RSA keys, if `make` may need one.
  ///   - make: reads the item and makes the result. Before the value is opened, `decide` is called with the item.
  /// - Returns: nil if the result was lent; otherwise what the caller may wait for.
  /// - Throws: the reason why there is no result.
  func use<Value: ~Copyable>(
    _ reading: Reading, for use: KeyUse, _ detail: @autoclosure () -> String, _ order: RSAOrder? = nil,
    making make: (Keychain, _ decide: (ItemInfo) -> Decision) throws(VaultError) -> Made<Value>,
    _ answer: (borrowing Value) -> Void
  ) throws(Refusal) -> Wait? {
    // Deeper calls occur only in libgcrypt, which wipes its own stack.
    defer { Stack.wipe(Stack.exchange) }
    order?.begin()
    defer { order?.end() }
    return try read(reading, for: use, order, at: vault.clock.wall(), detail(), making: make, answer)
  }
}
