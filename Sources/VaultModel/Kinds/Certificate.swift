internal import VaultBytes

/// X.509 certificates (RFC 5280), parsed just enough to recognize one, its end of validity, and its public key.
package enum Certificate {
  /// Checks a PEM text of one certificate or a chain, the leaf first.
  ///
  /// - Returns: The end of the first certificate's validity, Unix seconds; `nil` if the certificate states that
  ///   it has no end.
  static func expiry(ofChain text: RawSpan) throws(ValueError) -> Int64? {
    try PEMSlip.explaining(text) { () throws(ValueError) in try expiry(ofBlocks: text) }
  }

  private static func expiry(ofBlocks text: RawSpan) throws(ValueError) -> Int64? {
    guard let first = try PEMBlock.next(in: text, from: 0) else {
      throw ValueError(reason: "there is no PEM block ('-----BEGIN CERTIFICATE-----')")
    }
    if try isKeyAlone(first, in: text) {
      throw ValueError(reason: "it is a private key without a certificate; store it as tls-key")
    }
    let expires = try expiry(of: first, in: text)
    var position = first.end
    while let block = try PEMBlock.next(in: text, from: position) {
      _ = try expiry(of: block, in: text)
      position = block.end
    }
    return expires
  }

  /// True if the first block is a private key, and no later one is a certificate.
  private static func isKeyAlone(_ first: PEMBlock, in text: RawSpan) throws(ValueError) -> Bool {
    guard PrivateKey.isKey(first, in: text) else { return false }
    var position = first.end
    while let block = try PEMBlock.next(in: text, from: position) {
      if block.isLabelled("CERTIFICATE", in: text) { return false }
      position = block.end
    }
    return true
  }

  /// Checks one block.
  static func expiry(of block: PEMBlock, in text: RawSpan) throws(ValueError) -> Int64? {
    guard block.isLabelled("CERTIFICATE", in: text) else {
      if PrivateKey.isKey(block, in: text) {
        throw ValueError(reason: "there is a private key with the certificate; store it as tls-key")
      }
      throw ValueError(reason: "a PEM block is not a certificate")
    }
    let bytes = try block.decoded(in: text)
    return try bytes.withBytes { (der) throws(ValueError) in try expiry(ofDER: der) }
  }

  /// Reads `notAfter` from a certificate's DER encoding.
  static func expiry(ofDER der: RawSpan) throws(ValueError) -> Int64? {
    guard let (validity, _) = fields(in: der) else { throw ValueError(reason: "a certificate is damaged") }
    var times = DERCursor(validity)
    guard let notBefore = times.next(in: der), time(notBefore, in: der) != nil, let notAfter = times.next(in: der),
      times.isAtEnd, let expires = time(notAfter, in: der)
    else { throw ValueError(reason: "a certificate's validity cannot be read") }
    // RFC 5280, 4.1.2.5: 99991231235959Z means that there is no end.
    return expires == Timestamp.last ? nil : expires
  }

  /// The place of the certificate's public key, a SubjectPublicKeyInfo, in its DER encoding; nil if `der`
  /// is not a certificate.
  package static func publicKey(in der: RawSpan) -> Range<Int>? { fields(in: der)?.publicKey }

  /// The contents of the certificate's `validity`, and the whole of its public key, if all fields around them
  /// are in their places.
  private static func fields(in der: RawSpan) -> (validity: Range<Int>, publicKey: Range<Int>)? {
    var whole = DERCursor(der.byteOffsets)
    guard let certificate = whole.take(DERTag.sequence, in: der), whole.isAtEnd else { return nil }
    var parts = DERCursor(certificate.content)
    guard let signed = parts.take(DERTag.sequence, in: der), parts.take(DERTag.sequence, in: der) != nil,
      parts.take(DERTag.bitString, in: der) != nil, parts.isAtEnd
    else { return nil }
    var fields = DERCursor(signed.content)
    _ = fields.take(DERTag.context0, in: der)  // version, which version 1 leaves out
    guard fields.take(DERTag.integer, in: der) != nil,  // serial number
      fields.take(DERTag.sequence, in: der) != nil,  // signature algorithm
      fields.take(DERTag.sequence, in: der) != nil,  // issuer
      let validity = fields.take(DERTag.sequence, in: der),
      fields.take(DERTag.sequence, in: der) != nil  // subject
    else { return nil }
    let start = fields.offset
    guard fields.take(DERTag.sequence, in: der) != nil else { return nil }
    return (validity.content, start..<fields.offset)
  }

  /// Reads `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ`, the only forms that RFC 5280 allows.
  private static func time(_ element: DERElement, in der: RawSpan) -> Int64? {
    let yearDigits: Int
    switch element.tag {
    case DERTag.utcTime: yearDigits = 2
    case DERTag.generalizedTime: yearDigits = 4
    default: return nil
    }
    guard element.content.count == yearDigits + 11, der.byte(element.content.upperBound - 1) == UInt8(ascii: "Z") else {
      return nil
    }
    var position = element.content.lowerBound
    func number(_ count: Int) -> Int64? {
      var number: Int64 = 0
      for _ in 0..<count {
        let byte = der.byte(position)
        guard isDigit(byte) else { return nil }
        number = number * 10 + Int64(byte - UInt8(ascii: "0"))
        position += 1
      }
      return number
    }
    guard var year = number(yearDigits), let month = number(2), let day = number(2), let hour = number(2),
      let minute = number(2), let second = number(2)
    else { return nil }
    // RFC 5280, 4.1.2.5.1: 50…99 mean 1950…1999.
    if yearDigits == 2 { year += year < 50 ? 2000 : 1900 }
    return Timestamp.unix(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
  }
}
