internal import VaultBytes

extension ItemKind {
  /// Checks that `value` is valid for this kind, and that `attributes` are within their limits and include those that
  /// the kind needs.
  ///
  /// The value is scanned in place; anything that must be decoded for the check is wiped before this returns.
  ///
  /// - Returns: The facts that the value states about itself.
  /// - Throws: ``ValueError`` that states the fault without quoting the value.
  public func validate(_ value: RawSpan, attributes: [String: String]) throws(ValueError) -> ValueFacts {
    try Attributes.validate(attributes)
    try check(count: value.byteCount)
    switch self {
    case .password:
      if value.isEmpty { throw ValueError(reason: "a password cannot be empty") }
    case .apiKey:
      try checkLine(value, "an API key")
    case .deviceToken:
      try checkLine(value, "a device token")
    case .wifi:
      if (try? WiFiText(value)) != nil {
        throw ValueError(
          reason:
            "it is the text of a network's QR code; store its passphrase, and attributes such as ssid for the rest")
      }
      try WiFiNetwork(attributes).check(value)
    case .pairingCode:
      try PairingCode.check(value, pattern: attributes["pattern"])
    case .tlsKey:
      return ValueFacts(expires: try PrivateKey.checkTLS(value))
    case .sshKey:
      try PrivateKey.checkSSH(value)
    case .certificate:
      return ValueFacts(expires: try Certificate.expiry(ofChain: value))
    case .totp:
      try OneTimeSecret(value, issuer: attributes["issuer"]).checkSteam(of: value, attributes)
    case .note:
      if !value.isUTF8 { throw ValueError(reason: "a note must be UTF-8 text; a blob takes any bytes") }
    case .blob:
      break
    }
    return ValueFacts()
  }

  /// The end of validity that a value of this kind states itself, Unix seconds; nil if it states none.
  public func ownEnd(of value: RawSpan) -> Int64? {
    switch self {
    case .tlsKey: (try? PrivateKey.checkTLS(value)) ?? nil
    case .certificate: (try? Certificate.expiry(ofChain: value)) ?? nil
    case .password, .apiKey, .deviceToken, .wifi, .pairingCode, .sshKey, .totp, .note, .blob: nil
    }
  }

  /// Checks the number of a value's bytes.
  func check(count: Int) throws(ValueError) {
    if count > longest {
      throw ValueError(reason: "a value of kind \(rawValue) has at most \(longest >> 10) KiB")
    }
  }

  /// Checks attributes for an item of this kind; the item may have further attributes.
  public func check(attributes: [String: String]) throws(ValueError) {
    switch self {
    case .wifi: _ = try WiFiNetwork(["ssid": "any"].merging(attributes) { _, given in given })
    case .password, .apiKey, .deviceToken, .pairingCode, .tlsKey, .certificate, .sshKey, .totp, .note, .blob: return
    }
  }

  private func checkLine(_ value: RawSpan, _ what: String) throws(ValueError) {
    if value.isEmpty { throw ValueError(reason: "\(what) cannot be empty") }
    if value.hasInnerBreak { throw ValueError(reason: "\(what) is one line, and the value has several lines") }
    let last = value.byte(value.byteCount - 1)
    if last == 0x0A || last == 0x0D {
      throw ValueError(reason: "\(what) is one line without a line break; the value ends with one")
    }
    if value.hasControl { throw ValueError(reason: "\(what) has no control characters") }
  }
}

extension RawSpan {
  /// True if there is a line break that is not the last thing in the value.
  fileprivate var hasInnerBreak: Bool {
    var end = byteCount
    if end > 0, byte(end - 1) == 0x0A { end -= 1 }
    if end > 0, byte(end - 1) == 0x0D { end -= 1 }
    for offset in 0..<end where byte(offset) == 0x0A || byte(offset) == 0x0D { return true }
    return false
  }

  /// True if there is a C0 control, DEL, or a C1 control in UTF-8 (C2 80…9F).
  var hasControl: Bool {
    var previous: UInt8 = 0
    for offset in byteOffsets {
      let byte = byte(offset)
      if byte < 0x20 || byte == 0x7F || (previous == 0xC2 && (0x80...0x9F).contains(byte)) { return true }
      previous = byte
    }
    return false
  }

  /// True if the bytes are well-formed UTF-8 (The Unicode Standard, table 3-7).
  package var isUTF8: Bool {
    var offset = 0
    while offset < byteCount {
      // Most text is mostly ASCII, so eight bytes at a time are tested for that.
      while byteCount - offset >= 8, word(offset) & 0x8080_8080_8080_8080 == 0 { offset += 8 }
      guard offset < byteCount else { break }
      let lead = byte(offset)
      let trailing: Int
      var second: ClosedRange<UInt8> = 0x80...0xBF
      switch lead {
      case 0x00...0x7F: trailing = 0
      case 0xC2...0xDF: trailing = 1
      case 0xE0: (trailing, second) = (2, 0xA0...0xBF)
      case 0xED: (trailing, second) = (2, 0x80...0x9F)
      case 0xE1...0xEF: trailing = 2
      case 0xF0: (trailing, second) = (3, 0x90...0xBF)
      case 0xF1...0xF3: trailing = 3
      case 0xF4: (trailing, second) = (3, 0x80...0x8F)
      default: return false
      }
      guard trailing < byteCount - offset else { return false }
      for index in 0..<trailing {
        let allowed = index == 0 ? second : 0x80...0xBF
        if !allowed.contains(byte(offset + 1 + index)) { return false }
      }
      offset += 1 + trailing
    }
    return true
  }
}
