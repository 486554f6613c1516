internal import VaultBytes

/// The file of a private key, as far as it can be read without a passphrase: OpenSSH's own form (PROTOCOL.key), or PEM
/// with PKCS #1 (RFC 8017), SEC 1 (RFC 5915) or PKCS #8 (RFC 5958).
struct SSHPrivateFile {
  /// True if a passphrase protects the key.
  let isProtected: Bool
  /// The public half; nil if the file does not have it in the clear, or in a form that is not read here.
  let blob: SSHBlob?

  /// Reads the first private key; nil if the file has none.
  init?(_ bytes: [UInt8]) {
    let found = bytes.withSpan { span -> (Bool, SSHBlob?)? in
      var place = 0
      while let block = (try? PEM.block(in: span, from: place)) ?? nil {
        place = block.end
        guard Self.isPrivate(block, in: span) else { continue }
        let isPEMProtected = block.hasHeaders || block.isLabelled("ENCRYPTED PRIVATE KEY", in: span)
        guard !isPEMProtected, let content = try? PEM.decode(block, in: span) else { return (isPEMProtected, nil) }
        return content.withBytes { content in
          if block.isLabelled("OPENSSH PRIVATE KEY", in: span) { return Self.openSSH(content) }
          return (false, Self.blob(block, in: span, content))
        }
      }
      return nil
    }
    guard let found else { return nil }
    (isProtected, blob) = found
  }

  private static func isPrivate(_ block: PEMBlock, in text: RawSpan) -> Bool {
    text.extracting(block.label).array[...].text.hasSuffix("PRIVATE KEY")
  }

  /// The cipher and the public half of OpenSSH's own form.
  private static func openSSH(_ bytes: RawSpan) -> (Bool, SSHBlob?) {
    let magic: StaticString = "openssh-key-v1\0"
    guard bytes.hasBytes(magic, at: 0) else { return (false, nil) }
    var place = magic.utf8CodeUnitCount
    func number() -> Int? {
      guard bytes.byteCount - place >= 4 else { return nil }
      defer { place += 4 }
      return (place..<place + 4).reduce(0) { $0 << 8 | Int(bytes.byte($1)) }
    }
    func string() -> [UInt8]? {
      guard let count = number(), count <= bytes.byteCount - place else { return nil }
      defer { place += count }
      return bytes.extracting(place..<place + count).array
    }
    guard let cipher = string(), string() != nil, string() != nil else { return (false, nil) }
    let isProtected = !cipher.elementsEqual("none".utf8)
    return (isProtected, number() == 1 ? string().map { SSHBlob($0) } : nil)
  }

  // MARK: DER

  private static func blob(_ block: PEMBlock, in text: RawSpan, _ der: RawSpan) -> SSHBlob? {
    if block.isLabelled("RSA PRIVATE KEY", in: text) { return rsa(der, der.byteOffsets) }
    if block.isLabelled("EC PRIVATE KEY", in: text) { return curve(der, der.byteOffsets, nil) }
    return block.isLabelled("PRIVATE KEY", in: text) ? pkcs8(der) : nil
  }

  private static func sequence(_ der: RawSpan, _ range: Range<Int>) -> DERCursor? {
    var cursor = DERCursor(range)
    return cursor.take(DERTag.sequence, in: der).map { DERCursor($0.content) }
  }

  private static func rsa(_ der: RawSpan, _ range: Range<Int>) -> SSHBlob? {
    guard var parts = sequence(der, range), parts.takeUnsigned(in: der) != nil,
      let modulus = parts.takeUnsigned(in: der), let exponent = parts.takeUnsigned(in: der)
    else { return nil }
    return SSHBlob(rsa: der.extracting(exponent).array, der.extracting(modulus).array)
  }

  /// The public half of a key of SEC 1.
  ///
  /// - Parameter known: the identifier of the curve, if it stands outside the key.
  private static func curve(_ der: RawSpan, _ range: Range<Int>, _ known: [UInt8]?) -> SSHBlob? {
    guard var parts = sequence(der, range), parts.takeUnsigned(in: der) != nil,
      parts.take(DERTag.octetString, in: der) != nil
    else { return nil }
    var curve = known
    if let outer = parts.take(DERTag.context0, in: der) {
      var inner = DERCursor(outer.content)
      curve = inner.take(DERTag.objectIdentifier, in: der).map { der.extracting($0.content).array }
    }
    guard let curve, let name = names[curve], let outer = parts.take(DERTag.context1, in: der) else { return nil }
    var inner = DERCursor(outer.content)
    guard let bits = inner.take(DERTag.bitString, in: der)?.content, bits.count > 1 else { return nil }
    return SSHBlob(curve: name, point: der.extracting(bits.dropFirst()).array)
  }

  private static func pkcs8(_ der: RawSpan) -> SSHBlob? {
    guard var parts = sequence(der, der.byteOffsets), parts.takeUnsigned(in: der) != nil,
      let algorithm = parts.take(DERTag.sequence, in: der)?.content,
      let key = parts.take(DERTag.octetString, in: der)?.content
    else { return nil }
    var names = DERCursor(algorithm)
    guard let name = names.take(DERTag.objectIdentifier, in: der).map({ der.extracting($0.content).array }) else {
      return nil
    }
    switch name {
    case rsaEncryption: return rsa(der, key)
    case ellipticCurve:
      let curve = names.take(DERTag.objectIdentifier, in: der).map { der.extracting($0.content).array }
      return self.curve(der, key, curve)
    case ed25519:
      // Only the newer form has the public half, after the attributes.
      _ = parts.take(DERTag.context0, in: der)
      guard let bits = parts.take(DERTag.implicit1, in: der)?.content, bits.count == 33 else { return nil }
      return SSHBlob(ed25519: der.extracting(bits.dropFirst()).array)
    default: return nil
    }
  }

  private static let rsaEncryption: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01]
  private static let ellipticCurve: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]
  private static let ed25519: [UInt8] = [0x2B, 0x65, 0x70]
  private static let names: [[UInt8]: String] = [
    [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]: "nistp256", [0x2B, 0x81, 0x04, 0x00, 0x22]: "nistp384",
    [0x2B, 0x81, 0x04, 0x00, 0x23]: "nistp521",
  ]
}
