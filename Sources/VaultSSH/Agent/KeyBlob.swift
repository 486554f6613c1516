internal import VaultModel
internal import VaultSigning

/// Public key blobs (RFC 4253 section 6.6), as far as an agent distinguishes them: by the type at their beginning.
enum KeyBlob {
  /// The types of the keys that the agent can hold.
  static let plainTypes = KeyType.allCases.map(\.facts.sshName)

  /// The end of the name of a certificate type (OpenSSH's PROTOCOL.certkeys).
  static let certificateSuffix = "-cert-v01@openssh.com"

  /// The type at the beginning of a blob, which is 1 to 64 printable ASCII characters.
  static func type(_ blob: [UInt8]) throws(SSHFormatError) -> String {
    // Bytes have no padding: all are initialized.
    let bytes = unsafe blob.span.bytes
    var reader = SSHReader(bytes)
    let name = try reader.text(bytes, atMost: 64)
    guard !name.isEmpty, name.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) else {
      throw SSHFormatError("a key has no type")
    }
    return name
  }

  /// True for a certificate of any version and key type; false also if there is no type.
  static func isCertificate(_ blob: [UInt8]) -> Bool {
    guard let type = try? type(blob) else { return false }
    return type.contains("-cert-v0")
  }

  /// The blob of the plain key in a certificate, or the blob itself if it is a plain key. Types other than
  /// ``plainTypes`` and certificates for these are refused.
  ///
  /// Only the key of a certificate is read: the server decides whether the certificate is valid.
  static func plain(_ blob: [UInt8]) throws(SSHFormatError) -> [UInt8] {
    isPlain(blob) ? blob : try split(blob).plain
  }

  /// True if a blob begins like one of ``plainTypes``.
  static func isPlain(_ blob: [UInt8]) -> Bool { (try? type(blob)).map(plainTypes.contains) == true }

  /// The plain key in a certificate, and the place at which the certificate goes on after that key.
  static func split(_ blob: [UInt8]) throws(SSHFormatError) -> (plain: [UInt8], rest: Int) {
    let type = try type(blob)
    guard let plainType = KeyType.allCases.first(where: { $0.facts.sshName + certificateSuffix == type })?.facts else {
      throw SSHFormatError("a key is of an unknown type")
    }
    let bytes = unsafe blob.span.bytes
    var reader = SSHReader(bytes)
    _ = try reader.string(bytes)
    _ = try reader.string(bytes)  // The nonce.
    var writer = SSHWriter()
    writer.string(plainType.sshName)
    for _ in 0..<plainType.sshFields { writer.string(try reader.array(bytes)) }
    return (writer.bytes, reader.offset)
  }
}
