internal import VaultBytes
internal import VaultCore
package import VaultModel
internal import VaultSigning

/// A large RSA key that is to be stored, with the work that takes long: making the key, or making a signature with it
/// as a check.
package struct LargeKey: Sendable {
  fileprivate let question: RSAQuestion
  /// The value that is to be stored, and the key in it; nil for a new key.
  fileprivate let given: (value: SecretBox, key: SecretBox)?
}

extension Items {
  /// The size of the shortest text that contains a large RSA key, in bytes: its modulus, exponent and primes alone have
  /// more.
  private static let shortestLargeKey = 1500

  /// The large RSA key that a change is to store; nil if there is none.
  ///
  /// - Throws: for a new key, the refusal that storing it would meet.
  package func largeKey(
    _ change: ItemChange, _ value: NewValue, for caller: Caller, fill: (inout MutableRawSpan) -> Bool
  ) throws(Refusal) -> LargeKey? {
    var id: ItemID?
    switch value {
    case .generated(.key(let recipe)):
      guard recipe.takesLong else { return nil }
      let use = try useOfNewKey(change, for: caller, &id)
      return recipe.question(for: use, change.name).map { LargeKey(question: $0, given: nil) }
    case .bytes(let count) where count >= Self.shortestLargeKey:
      // A value that is refused here is refused again, with its reason, when it is stored.
      guard let use = try? useOfNewKey(change, for: caller, &id), use.facts.takesPrivateKeys else { return nil }
      var isFilled = false
      let value = SecureBytes(count: count) { isFilled = fill(&$0) }
      guard isFilled, value.withBytes({ KeyCheck.isPEM($0) }) else { return nil }
      let key: PrivateKey
      do throws(KeyError) {
        key = try value.withBytes { (text: RawSpan) throws(KeyError) in try PrivateKey(text) }
      } catch { return nil }
      guard key.publicKey.isLarge else { return nil }
      return LargeKey(question: .check(key: key.publicKey.sshBlob), given: (SecretBox(value), SecretBox(key.pkcs8())))
    case .bytes, .same, .generated, .wrong: return nil
    }
  }

  /// Stores a change as soon as the long work with its key is done; nil while the change waits for the work. The right
  /// to store it is checked again in each attempt.
  ///
  /// - Parameter order: the work of this call with large RSA keys, the same object in each attempt.
  package func store(
    _ change: ItemChange, _ key: LargeKey, _ order: RSAOrder, for caller: Caller
  ) throws(Refusal) -> StoredVersion? {
    order.begin()
    defer { order.end() }
    let made: SecretBox?
    var id: ItemID?
    do throws(Refusal) {
      _ = try useOfNewKey(change, for: caller, &id)
      made = try order.ask(key.question) { key.given?.key }
    } catch {
      var error = error
      if case .invalidValue("", let reason) = error {
        error = .invalidValue(kind: change.newKind.rawValue, reason: reason)
      }
      vault.audit.record(.set, error.outcome, caller, item: change.name.text, id: id)
      throw error
    }
    guard let value = key.given?.value ?? made, made != nil else { return nil }
    var change = change
    if key.given == nil { change.origin = .generated }
    return try set(change, .bytes(count: value.bytes.count), for: caller) { bytes in
      value.bytes.withBytes { bytes.copy($0) }
      return true
    }
  }

  /// The work of a call that stores a large RSA key. When the work is done, `goOn` repeats the call.
  package func rsaOrder(for caller: Caller, goOn: @escaping () -> Void) -> RSAOrder {
    RSAOrder(rsa, of: caller.uid, goOn: goOn)
  }
}
