internal import VaultBytes
public import VaultCore
internal import VaultModel

/// The forms in which a private key is written, into secure memory.
extension PrivateKey {
  /// The PEM text of PKCS #8 (RFC 5958 version 1; without the public key for Ed25519, as OpenSSL writes it).
  public borrowing func pkcs8() -> SecureBytes {
    defer { Stack.wipe() }
    return writePKCS8()
  }

  @inline(never)
  private borrowing func writePKCS8() -> SecureBytes {
    switch secret {
    case .ed25519(let key):
      let inner = DER.header(DERTag.octetString, count: Ed25519.seedCount)
      var writer = Self.writer(type, count: inner.count + Ed25519.seedCount)
      writer.bytes(inner)
      key.withBytes { writer.bytes($0.extracting(first: Ed25519.seedCount)) }
      return writer.pem("PRIVATE KEY")
    case .curve(let key):
      guard case .curve(let curve, let point) = publicKey.form else { preconditionFailure("a key of two types") }
      let before = DER.unsigned([1]) + DER.header(DERTag.octetString, count: curve.count)
      let after = DER.element(DERTag.context1, DER.bits(point))
      let count = before.count + curve.count + after.count
      let header = DER.header(DERTag.sequence, count: count)
      var writer = Self.writer(type, count: header.count + count)
      writer.bytes(header + before)
      writer.number(key.scalar, count: curve.count)
      writer.bytes(after)
      return writer.pem("PRIVATE KEY")
    case .rsa(let rsa): return Self.rsa(rsa)
    }
  }

  private static func rsa(_ rsa: borrowing RSASecret) -> SecureBytes {
    // Only a lack of memory could make the two remainders fail, and libgcrypt then ends the program itself.
    guard let dP = try? rsa.d.rest(rsa.p.minusOne()), let dQ = try? rsa.d.rest(rsa.q.minusOne()) else {
      preconditionFailure("out of memory")
    }
    let version = DER.unsigned([])
    var count = version.count + SecretWriter.integerCount(rsa.n) + SecretWriter.integerCount(rsa.e)
    count += SecretWriter.integerCount(rsa.d) + SecretWriter.integerCount(rsa.p) + SecretWriter.integerCount(rsa.q)
    count += SecretWriter.integerCount(dP) + SecretWriter.integerCount(dQ) + SecretWriter.integerCount(rsa.qInv)
    let header = DER.header(DERTag.sequence, count: count)
    var writer = writer(.rsa, count: header.count + count)
    writer.bytes(header + version)
    writer.integer(rsa.n)
    writer.integer(rsa.e)
    writer.integer(rsa.d)
    writer.integer(rsa.p)
    writer.integer(rsa.q)
    writer.integer(dP)
    writer.integer(dQ)
    writer.integer(rsa.qInv)
    return writer.pem("PRIVATE KEY")
  }

  /// Begins a PrivateKeyInfo, up to the contents of the key's octet string, which will have `count` bytes.
  private static func writer(_ type: KeyType, count: Int) -> SecretWriter {
    let octets = DER.header(DERTag.octetString, count: count)
    let before = DER.unsigned([]) + type.identifier + octets
    let header = DER.header(DERTag.sequence, count: before.count + count)
    var writer = SecretWriter(capacity: header.count + before.count + count)
    writer.bytes(header + before)
    return writer
  }

  /// The key in OpenSSH's form without a passphrase, which ssh-keygen, ssh-add and ssh read.
  ///
  /// - Parameter comment: The text beside the key, which must not be secret; nil keeps the key's own comment.
  public borrowing func openSSHPrivate(comment: String? = nil) -> SecureBytes {
    defer { Stack.wipe() }
    return writeOpenSSH(Array((comment ?? self.comment).utf8))
  }

  @inline(never)
  private borrowing func writeOpenSSH(_ comment: [UInt8]) -> SecureBytes {
    let blob = publicKey.sshBlob
    // The numbers of a private key take less than five times the size of the public key, and the other fields
    // at most 100 bytes.
    var inner = SecretWriter(capacity: 5 * blob.count + comment.count + 256)
    let check = RandomBytes.array(count: 4)
    inner.bytes(check + check)
    inner.string(publicKey.sshName.utf8)
    writeNumbers(&inner)
    inner.string(comment)
    var pad: UInt8 = 0
    while inner.count % OpenSSHPrivate.block != 0 {
      pad += 1
      inner.byte(pad)
    }
    var head = SSHWriter()
    for text in ["none", "none", ""] { head.string(text) }
    head.uint32(1)
    head.string(blob)
    let privatePart = inner.finish()
    var writer = SecretWriter(
      capacity: OpenSSHPrivate.magic.count + head.bytes.count + 4 + privatePart.count)
    writer.bytes(OpenSSHPrivate.magic + head.bytes)
    writer.uint32(privatePart.count)
    privatePart.withBytes { writer.bytes($0) }
    return writer.pem("OPENSSH PRIVATE KEY")
  }

  private borrowing func writeNumbers(_ writer: inout SecretWriter) {
    switch secret {
    case .ed25519(let key):
      writer.string(Ed25519.publicKey(of: key))
      writer.uint32(key.count)
      key.withBytes { writer.bytes($0) }
    case .curve(let key):
      guard case .curve(let curve, let point) = publicKey.form else { preconditionFailure("a key of two types") }
      writer.string(curve.facts.sshName.utf8)
      writer.string(point)
      writer.unsignedInteger(key.scalar)
    case .rsa(let rsa):
      writer.unsignedInteger(rsa.n)
      writer.unsignedInteger(rsa.e)
      writer.unsignedInteger(rsa.d)
      writer.unsignedInteger(rsa.qInv)
      writer.unsignedInteger(rsa.p)
      writer.unsignedInteger(rsa.q)
    }
  }
}
