internal import VaultBytes
internal import VaultModel

/// OpenSSH's own form of a private key (OpenSSH's PROTOCOL.key), with one key and no passphrase.
enum OpenSSHPrivate {
  static let magic = Array("openssh-key-v1\0".utf8)
  /// The private part is padded to a multiple of this number of bytes, the block size without a cipher.
  static let block = 8

  /// Reads the decoded body of `OPENSSH PRIVATE KEY`.
  static func parts(_ bytes: RawSpan) throws(KeyError) -> KeyParts {
    guard bytes.byteCount > magic.count, bytes.isEqual(0..<magic.count, magic) else {
      throw .damaged("it is not OpenSSH's form")
    }
    var outer = SSHReader(magic.count..<bytes.byteCount)
    let (cipher, kdf, options) = try KeyError.reading { () throws(SSHFormatError) in
      (try outer.text(bytes), try outer.text(bytes), try outer.string(bytes))
    }
    guard cipher == "none" else { throw .encrypted(isOpenSSH: true) }
    guard kdf == "none", options.isEmpty else { throw .damaged("it names a key derivation without a cipher") }
    let (count, blob, inner) = try KeyError.reading { () throws(SSHFormatError) in
      (try outer.uint32(bytes), try outer.string(bytes), try outer.string(bytes))
    }
    guard count == 1 else { throw .unsupported("a file of more than one key") }
    guard outer.isAtEnd else { throw .damaged("something follows its end") }
    guard !inner.isEmpty, inner.count % block == 0 else { throw .damaged("its private part is not filled up") }
    var parts = try privatePart(bytes, inner)
    parts.blob = blob
    return parts
  }

  /// Reads the private part: two equal check numbers, the type, its numbers, the comment, and padding bytes that count
  /// up from 1.
  private static func privatePart(_ bytes: RawSpan, _ range: Range<Int>) throws(KeyError) -> KeyParts {
    var reader = SSHReader(range)
    let (first, second, name) = try KeyError.reading { () throws(SSHFormatError) in
      (try reader.uint32(bytes), try reader.uint32(bytes), try reader.text(bytes))
    }
    guard first == second else { throw .damaged("its check numbers differ") }
    let read = try KeyError.reading { () throws(SSHFormatError) in try numbers(named: name, &reader, bytes) }
    guard var parts = read else { throw .unsupported(PublicKey.description(ofSSHName: name)) }
    parts.comment = try KeyError.reading { () throws(SSHFormatError) in try reader.string(bytes) }
    // Some programs add a whole block where none is needed, and OpenSSH takes any number of these bytes.
    guard reader.remaining <= 255 else { throw .damaged("its padding is too long") }
    for (index, place) in (reader.offset..<range.upperBound).enumerated() where bytes.byte(place) != UInt8(index + 1) {
      throw .damaged("its padding is wrong")
    }
    return parts
  }

  /// Reads a key as a client passes it to an agent (RFC 9987 section 3.2): the type and the numbers, as in a file.
  static func agentParts(_ bytes: RawSpan) throws(KeyError) -> KeyParts {
    var reader = SSHReader(bytes)
    let (name, read) = try KeyError.reading { () throws(SSHFormatError) in
      let name = try reader.text(bytes)
      let parts = try numbers(named: name, &reader, bytes)
      if parts != nil { try reader.finish() }
      return (name, parts)
    }
    guard let read else { throw .unsupported(PublicKey.description(ofSSHName: name)) }
    return read
  }

  /// Reads the numbers of a type; nil for an unknown type.
  private static func numbers(
    named name: String, _ reader: inout SSHReader, _ bytes: RawSpan
  ) throws(SSHFormatError) -> KeyParts? {
    guard let type = KeyType(sshName: name) else { return nil }
    switch type.facts.family {
    case .ed25519:
      let stated = try reader.string(bytes)
      let pair = try reader.string(bytes)
      guard pair.count == 64 else { throw SSHFormatError("an Ed25519 key has 64 bytes") }
      let middle = pair.lowerBound + 32
      return KeyParts(secret: .ed25519(pair.lowerBound..<middle), stated: [stated, middle..<pair.upperBound])
    case .rsa:
      var numbers: [Range<Int>] = []
      for _ in 0..<6 { numbers.append(try reader.unsignedInteger(bytes)) }
      return KeyParts(
        secret: .rsa(
          KeyParts.RSA(
            modulus: numbers[0], publicExponent: numbers[1], exponent: numbers[2], prime1: numbers[4],
            prime2: numbers[5], coefficient: numbers[3])))
    case .curve(let curve):
      guard try reader.text(bytes) == curve.facts.sshName else { throw SSHFormatError("a key names two curves") }
      let point = try reader.string(bytes)
      return KeyParts(secret: .curve(curve, try reader.unsignedInteger(bytes)), stated: [point])
    }
  }
}
