internal import VaultSigning

/// The statements of a host's certificate that name the host (OpenSSH's PROTOCOL.certkeys), signed by an authority.
///
/// Neither the right of its authority to name hosts nor its period is examined: the names are for telling a person.
public struct HostCertificate: Hashable, Sendable {
  /// The blob of the plain key of the authority.
  public let authority: [UInt8]
  /// The names and patterns of the host in lower case; every name if there are none.
  private let principals: [[UInt8]]

  /// The highest number of names, as in OpenSSH.
  private static let most = 256
  /// The number that stands for a host's certificate.
  private static let ofHost: UInt32 = 2

  /// Reads a certificate. Nil for any other blob, for a user's certificate, for one with critical options, which a
  /// host's cannot have, and for one that its authority has not signed.
  init?(_ blob: [UInt8]) {
    // Bytes have no padding.
    let bytes = unsafe blob.span.bytes
    guard let parts = try? Self.read(blob, bytes), KeyBlob.isPlain(parts.authority),
      let key = try? PublicKey(sshBlob: unsafe parts.authority.span.bytes),
      key.verifies(
        sshSignature: unsafe parts.signature.span.bytes, of: bytes.extracting(0..<parts.signed))
    else { return nil }
    (authority, principals) = (parts.authority, parts.principals)
  }

  private typealias Parts = (principals: [[UInt8]], authority: [UInt8], signature: [UInt8], signed: Int)

  private static func read(_ blob: [UInt8], _ bytes: RawSpan) throws(SSHFormatError) -> Parts {
    var reader = SSHReader(try KeyBlob.split(blob).rest..<blob.count)
    for _ in 0..<2 { _ = try reader.uint32(bytes) }  // The serial number.
    guard try reader.uint32(bytes) == ofHost else { throw SSHFormatError("it is not a host's certificate") }
    _ = try reader.string(bytes)  // The key's name.
    let principals = try list(try reader.string(bytes), bytes)
    for _ in 0..<4 { _ = try reader.uint32(bytes) }  // The period.
    guard try reader.string(bytes).isEmpty else { throw SSHFormatError("it has critical options") }
    for _ in 0..<2 { _ = try reader.string(bytes) }  // Extensions, and a reserved field.
    let authority = try reader.array(bytes)
    let signed = reader.offset
    let signature = try reader.array(bytes)
    try reader.finish()
    return (principals, authority, signature, signed)
  }

  private static func list(_ range: Range<Int>, _ bytes: RawSpan) throws(SSHFormatError) -> [[UInt8]] {
    var (reader, names) = (SSHReader(range), [[UInt8]]())
    while !reader.isAtEnd {
      names.append(HostList.lowercased(try reader.array(bytes)))
      guard names.count <= most else { throw SSHFormatError("it has too many names") }
    }
    return names
  }

  /// The names of the host that are no patterns.
  var plainNames: [[UInt8]] { principals.filter(HostList.isPlain) }

  /// True if the certificate is for a host of this name.
  func permits(_ name: [UInt8]) -> Bool {
    let name = HostList.lowercased(name)
    return principals.isEmpty || principals.contains { Wildcard.matches(name, pattern: $0) }
  }
}
