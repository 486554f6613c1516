/// The state from which the keys of an audit chain come, one after the other: each is known only until the next block is
/// written, and nobody can go back.
///
/// From a state come, by `crypto_kdf` with the context `auditkey`, the key of the next block (1), the state after it (2),
/// the key of the MAC over where the chain ends (3), and, of a chain's first state, the commitment to it (4), which is
/// public. It is the forward-secure stream of keys of M. Bellare and B. Yee, "Forward-Security in Private-Key
/// Cryptography" (CT-RSA 2003), used for a log as by B. Schneier and J. Kelsey, "Secure Audit Logs to Support Computer
/// Forensics" (TISSEC 1999).
public struct AuditKey: ~Copyable, Sendable {
  private var state: SecureBytes
  private var key = SecureBytes(count: 32)

  /// The first state of a chain.
  ///
  /// - Parameter seed: 32 random bytes.
  public init(seed: borrowing SecureBytes) { state = seed.withBytes { SecureBytes(copying: $0) } }

  /// A copy that goes on by itself.
  public init(copying other: borrowing AuditKey) { state = other.state.withBytes { SecureBytes(copying: $0) } }

  /// The public bytes that stand for a seed: with another one no chain begins so.
  public static func commitment(to seed: borrowing SecureBytes) -> Digest {
    KDF.subkey(4, context: "auditkey", of: seed).withBytes { Digest($0)! }
  }

  /// Lends the key of the next block, and goes on to the state after it.
  public mutating func withNextKey<R, E: Error>(_ body: (borrowing SecureBytes) throws(E) -> R) throws(E) -> R {
    KDF.derive(1, context: "auditkey", of: state, into: &key)
    let result: Result<R, E>
    do throws(E) { result = .success(try body(key)) } catch { result = .failure(error) }
    KDF.derive(2, context: "auditkey", of: state, into: &key)
    swap(&state, &key)
    key.wipe()
    return try result.get()
  }

  /// The MAC over where a chain ends now.
  public mutating func mac(_ place: AssociatedData, _ bytes: RawSpan) -> RecordMark {
    KDF.derive(3, context: "auditkey", of: state, into: &key)
    defer { key.wipe() }
    return RecordMark(place, bytes, key: key)
  }
}
