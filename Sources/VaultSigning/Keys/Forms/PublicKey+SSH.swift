internal import VaultBytes
internal import VaultCore
public import VaultModel

/// The forms of SSH: RFC 4253 section 6.6 for RSA, RFC 5656 section 3.1 for curves, RFC 8709 section 4 for Ed25519.
extension PublicKey {
  /// Reads a public key blob of SSH.
  public init(sshBlob blob: RawSpan) throws(KeyError) {
    try self.init(
      checking: KeyError.reading { () throws(SSHFormatError) in
        var reader = SSHReader(blob)
        let name = try reader.text(blob)
        guard let type = KeyType(sshName: name) else { return (nil, name) }
        let form: Form? =
          switch type.facts.family {
          case .ed25519: .ed25519(try reader.array(blob))
          case .rsa: try Self.readRSA(&reader, blob)
          case .curve(let curve): try Self.readCurve(curve, &reader, blob)
          }
        try reader.finish()
        return (form, name)
      })
  }

  /// Checks what was read; a nil form means a key of an unknown type.
  private init(checking read: (form: Form?, name: String)) throws(KeyError) {
    guard let form = read.form else { throw .unsupported(Self.description(ofSSHName: read.name)) }
    try self.init(checking: form)
  }

  private static func readRSA(_ reader: inout SSHReader, _ blob: RawSpan) throws(SSHFormatError) -> Form {
    let exponent = try reader.unsignedInteger(blob)
    return .rsa(modulus: blob.array(try reader.unsignedInteger(blob)), exponent: blob.array(exponent))
  }

  private static func readCurve(
    _ curve: Curve, _ reader: inout SSHReader, _ blob: RawSpan
  ) throws(SSHFormatError) -> Form {
    guard try reader.text(blob) == curve.facts.sshName else { throw SSHFormatError("a key names two curves") }
    return .curve(curve, try reader.array(blob))
  }

  /// Describes an unsupported type without quoting it.
  static func description(ofSSHName name: String) -> String {
    switch name {
    case "ssh-dss": "a DSA key"
    case _ where name.hasPrefix("sk-"): "a key on a security key (sk-…)"
    case _ where name.contains("-cert-"): "an SSH certificate"
    default: "an SSH key of this type"
    }
  }

  /// The name of the key's type in SSH, such as `ssh-ed25519`.
  public var sshName: String { type.facts.sshName }

  /// The public key blob of SSH.
  public var sshBlob: [UInt8] {
    var writer = SSHWriter()
    writer.string(sshName)
    switch form {
    case .ed25519(let bytes): writer.string(bytes)
    case .curve(let curve, let point):
      writer.string(curve.facts.sshName)
      writer.string(point)
    case .rsa(let modulus, let exponent):
      writer.unsignedInteger(exponent)
      writer.unsignedInteger(modulus)
    }
    return writer.bytes
  }

  /// Reads a line of an authorized_keys file without options, or of a `.pub` file: type, base64
  /// and an optional comment.
  public init(openSSH line: some StringProtocol) throws(KeyError) {
    let words = line.split(maxSplits: 2, whereSeparator: { $0 == " " || $0 == "\t" || $0.isNewline })
    guard words.count >= 2, let blob = [UInt8](base64: words[1]) else {
      throw .damaged("it is not a type and base64")
    }
    try unsafe self.init(sshBlob: blob.span.bytes)  // Bytes have no padding.
    guard words[0] == sshName else { throw .damaged("its line names another type") }
  }

  /// The line of a `.pub` file, without a newline. Characters of the comment that could end or hide
  /// a line become spaces.
  public func openSSH(comment: String = "") -> String {
    let comment = String(comment.map { $0.isNewline || $0.unicodeScalars.contains { $0.value < 32 } ? " " : $0 })
    return "\(sshName) \(sshBlob.base64)" + (comment.isEmpty ? "" : " \(comment)")
  }

  /// The fingerprint in OpenSSH's form: `SHA256:` and the base64 of the blob's digest without padding.
  public var fingerprint: String { Self.fingerprint(ofSSHBlob: sshBlob) }

  /// The fingerprint of any public key blob, in the same form.
  public static func fingerprint(ofSSHBlob blob: [UInt8]) -> String {
    let digest = unsafe SHA256.digest(of: blob.span.bytes)  // Bytes have no padding.
    return "SHA256:\(Substring(digest.base64.utf8.prefix { $0 != UInt8(ascii: "=") }))"
  }
}

extension PublicKey {
  /// The type of the key in a public key blob, judged only by the beginning of the blob; nil for an unsupported type.
  public static func type(ofSSHBlob blob: RawSpan) -> KeyType? {
    var reader = SSHReader(blob)
    return (try? reader.text(blob)).flatMap(KeyType.init(sshName:))
  }

  /// The size in bits of the RSA key in a public key blob; nil for a key of another type.
  public static func rsaBits(ofSSHBlob blob: RawSpan) -> Int? {
    type(ofSSHBlob: blob) == .rsa ? (try? PublicKey(sshBlob: blob))?.bitCount : nil
  }
}
