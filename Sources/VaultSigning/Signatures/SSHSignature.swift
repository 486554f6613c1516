internal import VaultModel

/// SSH's signatures: the name of an algorithm and its bytes (RFC 4253 section 6.6, RFC 5656 section 3.1.2, RFC 8332 section
/// 3, RFC 8709 section 6).
extension PrivateKey {
  /// Signs `message` as an agent does for SSH.
  ///
  /// - Parameter flags: those of an agent's request (draft-miller-ssh-agent section 3.6.1): for an RSA key, 2 asks for
  ///   SHA-256 and 4 for SHA-512, and both for SHA-256, as OpenSSH's agent understands them. Others ignore the two.
  /// - Throws: ``SigningError`` for flags that are not known, and for an RSA key without one: that is SHA-1.
  public borrowing func sshSignature(of message: RawSpan, flags: UInt32 = 0) throws(SigningError) -> [UInt8] {
    try publicKey.sshSignature(of: message, flags: flags) { (message, scheme) throws(SigningError) in
      try sign(message, scheme)
    }
  }
}

extension PublicKey {
  /// The same, with a signature that `sign` makes by the private half of this key.
  public func sshSignature(
    of message: RawSpan, flags: UInt32, by sign: (RawSpan, SignatureScheme) throws(SigningError) -> [UInt8]
  ) throws(SigningError) -> [UInt8] {
    guard flags & ~6 == 0 else { throw SigningError("a flag that is not known") }
    guard let algorithm = SSHAlgorithm(self, flags: flags) else {
      throw SigningError("ssh-rsa signs with SHA-1, which is not done; ask for rsa-sha2-256 or rsa-sha2-512")
    }
    let signature = try sign(message, algorithm.scheme)
    var writer = SSHWriter()
    writer.string(algorithm.name)
    if let signature = ECDSASignature(signature, type) {
      var numbers = SSHWriter()
      numbers.unsignedInteger(signature.r)
      numbers.unsignedInteger(signature.s)
      writer.string(numbers.bytes)
    } else {
      writer.string(signature)
    }
    return writer.bytes
  }
}

extension PublicKey {
  /// True when `signature` has SSH's form and is one of `message` by this key. `ssh-rsa`, which is SHA-1, never is.
  public func verifies(sshSignature signature: RawSpan, of message: RawSpan) -> Bool {
    guard let (algorithm, bytes) = try? Self.read(signature, self) else { return false }
    return verifies(bytes, of: message, algorithm.scheme)
  }

  private static func read(
    _ signature: RawSpan, _ key: PublicKey
  ) throws(SSHFormatError) -> (SSHAlgorithm, [UInt8])? {
    var reader = SSHReader(signature)
    let name = try reader.text(signature)
    guard let algorithm = SSHAlgorithm.all(for: key).first(where: { $0.name == name }) else { return nil }
    let content = try reader.string(signature)
    try reader.finish()
    guard case .curve(let curve, _) = key.form else { return (algorithm, signature.array(content)) }
    var numbers = SSHReader(content)
    let r = signature.array(try numbers.unsignedInteger(signature))
    let s = signature.array(try numbers.unsignedInteger(signature))
    try numbers.finish()
    return ECDSASignature(r, s, curve).map { (algorithm, $0.bytes) }
  }
}

/// A way to sign by its name in SSH.
private struct SSHAlgorithm {
  var name: String
  var scheme: SignatureScheme

  /// Those of a key.
  static func all(for key: PublicKey) -> [SSHAlgorithm] {
    guard key.type == .rsa else { return [SSHAlgorithm(name: key.sshName, scheme: key.type.schemes[0])] }
    return [
      SSHAlgorithm(name: "rsa-sha2-256", scheme: .rsaPKCS1SHA256),
      SSHAlgorithm(name: "rsa-sha2-512", scheme: .rsaPKCS1SHA512),
    ]
  }

  init(name: String, scheme: SignatureScheme) {
    self.name = name
    self.scheme = scheme
  }

  /// The one that an agent's flags ask for; nil for an RSA key without flags.
  init?(_ key: PublicKey, flags: UInt32) {
    let all = Self.all(for: key)
    guard key.type == .rsa else {
      self = all[0]
      return
    }
    guard flags & 6 != 0 else { return nil }
    self = flags & 2 != 0 ? all[0] : all[1]
  }
}
