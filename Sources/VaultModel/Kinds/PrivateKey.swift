internal import VaultBytes

/// Private keys in their textual forms. Only the form is checked here, not the key's arithmetic.
enum PrivateKey {
  private static let openSSHLabel: StaticString = "OPENSSH PRIVATE KEY"

  /// The labels of keys in DER: those of RFC 7468 and RFC 5958 (PKCS #8), and OpenSSL's older ones.
  private static let derLabels: [StaticString] = [
    "PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "DSA PRIVATE KEY",
  ]

  /// The labels of the blocks that OpenSSL writes before an EC or DSA key.
  private static let parameterLabels: [StaticString] = ["EC PARAMETERS", "DSA PARAMETERS", "DH PARAMETERS"]

  /// True if the block holds a private key.
  static func isKey(_ block: PEMBlock, in text: RawSpan) -> Bool {
    block.isLabelled(openSSHLabel, in: text) || derLabels.contains { block.isLabelled($0, in: text) }
  }

  /// Checks a PEM text with one private key for TLS, with or without certificates.
  ///
  /// - Returns: The end of the first certificate's validity, Unix seconds; nil without a certificate, or if its
  ///   validity has no end.
  static func checkTLS(_ text: RawSpan) throws(ValueError) -> Int64? {
    var (expires, hasCertificate): (Int64?, Bool) = (nil, false)
    try check(text) { (block) throws(ValueError) in
      if derLabels.contains(where: { block.isLabelled($0, in: text) }) {
        // Programs that use the key as servers have nobody to ask for a passphrase.
        if isEncrypted(block, in: text) {
          throw ValueError(
            reason: "the private key is encrypted with a passphrase, which `openssl pkey -in FILE` removes")
        }
        try checkDER(block, in: text)
        return true
      }
      try refusePublic(block, in: text)
      if block.isLabelled(openSSHLabel, in: text) {
        throw ValueError(reason: "an OpenSSH key is not a TLS key; store it as ssh-key")
      }
      if parameterLabels.contains(where: { block.isLabelled($0, in: text) }) {
        _ = try block.decoded(in: text)
      } else {
        let end = try Certificate.expiry(of: block, in: text)
        // The certificates after the first are those of its issuers.
        if !hasCertificate { (expires, hasCertificate) = (end, true) }
      }
      return false
    }
    return expires
  }

  /// Checks an SSH private key in OpenSSH's own form or PEM.
  static func checkSSH(_ text: RawSpan) throws(ValueError) {
    try check(text) { (block) throws(ValueError) in
      if block.isLabelled(openSSHLabel, in: text) {
        let bytes = try block.decoded(in: text)
        guard bytes.withBytes(isOpenSSH) else { throw ValueError(reason: "the OpenSSH key is damaged or cut off") }
        return true
      }
      if derLabels.contains(where: { block.isLabelled($0, in: text) }) {
        try checkDER(block, in: text)
        return true
      }
      try refusePublic(block, in: text)
      guard parameterLabels.contains(where: { block.isLabelled($0, in: text) }) else {
        throw ValueError(reason: "a PEM block is not a private SSH key")
      }
      return false
    }
  }

  /// Passes every block to `isKey`, which returns true for the key; there must be exactly one key.
  private static func check(_ text: RawSpan, isKey: (PEMBlock) throws(ValueError) -> Bool) throws(ValueError) {
    try PEMSlip.explaining(text) { () throws(ValueError) in try checkBlocks(text, isKey) }
  }

  private static func checkBlocks(
    _ text: RawSpan, _ isKey: (PEMBlock) throws(ValueError) -> Bool
  ) throws(ValueError) {
    var position = 0
    var keys = 0
    while let block = try PEMBlock.next(in: text, from: position) {
      if try isKey(block) { keys += 1 }
      position = block.end
    }
    if keys == 0 { throw ValueError(reason: "there is no private key ('-----BEGIN … PRIVATE KEY-----')") }
    if keys > 1 { throw ValueError(reason: "there is more than one private key") }
  }

  /// True for the encryption of PKCS #8, and for OpenSSL's older encryption (RFC 1421), which has
  /// headers above the body.
  private static func isEncrypted(_ block: PEMBlock, in text: RawSpan) -> Bool {
    block.hasHeaders || block.isLabelled("ENCRYPTED PRIVATE KEY", in: text)
  }

  private static func refusePublic(_ block: PEMBlock, in text: RawSpan) throws(ValueError) {
    if block.isLabelled("PUBLIC KEY", in: text) || block.isLabelled("RSA PUBLIC KEY", in: text) {
      throw ValueError(reason: "there is a public key; give the private one ('-----BEGIN … PRIVATE KEY-----')")
    }
  }

  private static func checkDER(_ block: PEMBlock, in text: RawSpan) throws(ValueError) {
    let bytes = try block.decoded(in: text)
    // If there are headers, the body is encrypted and cannot be checked.
    guard block.hasHeaders || bytes.withBytes(isSequence) else {
      throw ValueError(reason: "the private key is damaged or cut off")
    }
  }

  /// True if the bytes are one SEQUENCE that ends where the body does, as in every DER form of a key.
  private static func isSequence(_ der: RawSpan) -> Bool {
    var whole = DERCursor(der.byteOffsets)
    guard let key = whole.take(DERTag.sequence, in: der), whole.isAtEnd else { return false }
    var parts = DERCursor(key.content)
    return parts.next(in: der) != nil
  }

  /// Checks the form of OpenSSH's PROTOCOL.key: a magic string, cipher, KDF and its options, the number of keys, the
  /// public keys, and the private part; each except the number is a string with a 32-bit length before it.
  private static func isOpenSSH(_ bytes: RawSpan) -> Bool {
    let magic: StaticString = "openssh-key-v1\0"
    guard bytes.hasBytes(magic, at: 0) else { return false }
    var position = magic.utf8CodeUnitCount
    func number() -> Int? {
      guard bytes.byteCount - position >= 4 else { return nil }
      var number = 0
      for offset in position..<position + 4 { number = number << 8 | Int(bytes.byte(offset)) }
      position += 4
      return number
    }
    func skipString() -> Bool {
      guard let count = number(), count <= bytes.byteCount - position else { return false }
      position += count
      return true
    }
    guard skipString(), skipString(), skipString(), let keys = number(), keys == 1 else { return false }
    // Authenticated ciphers put their tag after the private part.
    return skipString() && skipString() && bytes.byteCount - position <= 16
  }
}
