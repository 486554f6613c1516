public import VaultModel

/// The signatures of SSH: the name of an algorithm and the signature's bytes (RFC 4253 section 6.6, RFC 5656 section
/// 3.1.2, RFC 8332 section 3, RFC 8709 section 6).
extension PrivateKey {
  /// Signs `message` as an SSH agent does.
  ///
  /// - Parameter flags: The flags of an agent's request (RFC 9987 section 3.6.1). For an RSA key, 2 asks
  ///   for SHA-256, 4 for SHA-512, and both for SHA-256, as in OpenSSH's agent. Other keys ignore both flags.
  /// - Throws: ``SigningError`` for unknown flags, and for an RSA key without a flag, because that would mean SHA-1.
  public borrowing func sshSignature(of message: RawSpan, flags: UInt32 = 0) throws(SigningError) -> [UInt8] {
    try publicKey.sshSignature(of: message, flags: flags) { (message, scheme) throws(SigningError) in
      try sign(message, scheme)
    }
  }
}

extension PublicKey {
  /// Makes the signature of ``PrivateKey/sshSignature(of:flags:)`` with `sign`, which signs with the private half of
  /// this key.
  public func sshSignature(
    of message: RawSpan, flags: UInt32, by sign: (RawSpan, SignatureScheme) throws(SigningError) -> [UInt8]
  ) throws(SigningError) -> [UInt8] {
    guard flags & ~6 == 0 else { throw SigningError("a flag that is not known") }
    guard let scheme = type.scheme(agentFlags: flags), let name = scheme.facts.sshName else {
      throw SigningError("ssh-rsa signs with SHA-1, which is not done; ask for rsa-sha2-256 or rsa-sha2-512")
    }
    let signature = try sign(message, scheme)
    var writer = SSHWriter()
    writer.string(name)
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
  /// True if `signature` has SSH's form and is a signature of `message` by this key. Never true for
  /// `ssh-rsa`, which uses SHA-1.
  public func verifies(sshSignature signature: RawSpan, of message: RawSpan) -> Bool {
    guard let (scheme, bytes) = try? Self.read(signature, self) else { return false }
    return verifies(bytes, of: message, scheme)
  }

  private static func read(
    _ signature: RawSpan, _ key: PublicKey
  ) throws(SSHFormatError) -> (SignatureScheme, [UInt8])? {
    var reader = SSHReader(signature)
    let name = try reader.text(signature)
    guard let scheme = SignatureScheme(sshName: name), scheme.keyType == key.type else { return nil }
    let content = try reader.string(signature)
    try reader.finish()
    guard case .curve(let curve, _) = key.form else { return (scheme, signature.array(content)) }
    var numbers = SSHReader(content)
    let r = signature.array(try numbers.unsignedInteger(signature))
    let s = signature.array(try numbers.unsignedInteger(signature))
    try numbers.finish()
    return ECDSASignature(r, s, curve).map { (scheme, $0.bytes) }
  }
}
