internal import VaultModel
internal import VaultSigning

/// A key that a client passes to the agent (RFC 9987, types 17 and 25).
public struct AddedKey: Hashable, Sendable {
  /// The key's type, such as `ssh-ed25519`.
  public let type: String
  /// The place of the private key in the frame, which is secret: the type and the fields that RFC 9987 defines for it.
  public let privateKey: Range<Int>
  /// The key's comment, often the path of its file. The client chose the text; bytes that are not UTF-8 are replaced.
  public let comment: String
  /// The conditions that the client sets; none in a message of type 17.
  public let constraints: KeyConstraints

  /// The highest number of bytes of a comment.
  public static let maximumComment = 1024

  /// Reads the data after the message's type, up to the end of the frame.
  ///
  /// The end of the private key depends on its type, so a key of an unknown type cannot be skipped.
  init(_ reader: inout SSHReader, _ frame: RawSpan, areConstraintsExpected: Bool) throws(SSHFormatError) {
    let start = reader.offset
    type = try reader.text(frame, atMost: 64)
    try Self.skipFields(of: type, &reader, frame)
    privateKey = start..<reader.offset
    comment = try Self.comment(&reader, frame)
    constraints = areConstraintsExpected ? try KeyConstraints(&reader, frame) : KeyConstraints()
  }

  private static func skipFields(
    of type: String, _ reader: inout SSHReader, _ frame: RawSpan
  ) throws(SSHFormatError) {
    switch KeyType(sshName: type)?.facts.family {
    case .ed25519:
      // The public key, and then the seed with the public key after it.
      guard try reader.string(frame).count == 32, try reader.string(frame).count == 64 else {
        throw SSHFormatError("an Ed25519 key is of the wrong size")
      }
    case .curve(let curve):
      guard try reader.text(frame, atMost: 16) == curve.facts.sshName else {
        throw SSHFormatError("an ECDSA key has another curve than its type says")
      }
      _ = try reader.string(frame)
      _ = try reader.unsignedInteger(frame)
    case .rsa:
      // The numbers n, e, d, the inverse of q, p and q.
      for _ in 0..<6 { _ = try reader.unsignedInteger(frame) }
    case nil: throw SSHFormatError(reason(against: type))
    }
  }

  private static func reason(against type: String) -> String {
    if type.contains("-cert-v0") { return "certificates are not held here, only the keys they are about" }
    if type.hasPrefix("sk-") || type.hasPrefix("webauthn-sk-") {
      return "a security key's own program has to sign with it"
    }
    return type == "ssh-dss" ? "DSA is too weak" : "a key is of an unknown type"
  }

  private static func comment(_ reader: inout SSHReader, _ frame: RawSpan) throws(SSHFormatError) -> String {
    let bytes = try reader.array(frame)
    guard bytes.count <= maximumComment else { throw SSHFormatError("a comment is too long") }
    guard !bytes.contains(0) else { throw SSHFormatError("a comment has a NUL") }
    // An old key may have a comment in another encoding; the key is still good.
    return String(decoding: bytes, as: UTF8.self)
  }
}
