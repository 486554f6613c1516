/// The state from which the keys of an audit chain are derived, one after another. Each key is known only until the
/// next block is written, and nobody can go back to an earlier key.
///
/// From a state, `crypto_kdf` with the context `auditkey` derives the key of the next block (1), the next state (2),
/// the key of the MAC over the chain's end (3) and, from the first state of a chain, the commitment to that state (4),
/// which is public. This is the forward-secure stream of keys of M. Bellare and B. Yee, "Forward-Security in
/// Private-Key Cryptography" (CT-RSA 2003), used for a log as by B. Schneier and J. Kelsey, "Secure Audit Logs to
/// Support Computer Forensics" (TISSEC 1999).
public struct AuditKey: ~Copyable, Sendable {
  private var state: SecureBytes
  private var key = SecureBytes(count: 32)

  /// Makes the first state of a chain.
  ///
  /// - Parameter seed: 32 random bytes.
  public init(seed: borrowing SecureBytes) { state = seed.withBytes { SecureBytes(copying: $0) } }

  /// Makes a copy, which then advances on its own.
  public init(copying other: borrowing AuditKey) { state = other.state.withBytes { SecureBytes(copying: $0) } }

  /// The public commitment to a seed: no chain with this commitment can begin with another seed.
  public static func commitment(to seed: borrowing SecureBytes) -> Digest {
    KDF.subkey(4, context: "auditkey", of: seed).withBytes { Digest($0)! }
  }

  /// Lends the key of the next block, and advances to the next state.
  public mutating func withNextKey<R, E: Error>(_ body: (borrowing SecureBytes) throws(E) -> R) throws(E) -> R {
    KDF.derive(1, context: "auditkey", of: state, into: &key)
    let result: Result<R, E>
    do throws(E) { result = .success(try body(key)) } catch { result = .failure(error) }
    KDF.derive(2, context: "auditkey", of: state, into: &key)
    swap(&state, &key)
    key.wipe()
    return try result.get()
  }

  /// Makes the MAC over the current end of a chain.
  public mutating func mac(_ place: AssociatedData, _ bytes: RawSpan) -> RecordMark {
    KDF.derive(3, context: "auditkey", of: state, into: &key)
    defer { key.wipe() }
    return RecordMark(place, bytes, key: key)
  }
}
