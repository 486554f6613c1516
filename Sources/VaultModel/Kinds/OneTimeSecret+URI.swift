internal import VaultBytes

// The reading of the URI. Parameters with unknown names are ignored, as in other programs. A name that is nearly a
// known one is refused instead, because without it the codes would differ from the intended ones. The issuer makes that
// difference only for Steam.
extension OneTimeSecret {
  private enum Parameter: String, CaseIterable {
    case secret, algorithm, digits, period, counter, encoder
  }

  /// The highest number of parameters, because each name is compared with all known ones.
  private static let mostParameters = 32

  mutating func readURI(_ uri: RawSpan) throws(ValueError) {
    let start = body.lowerBound
    let isCounted = Self.hasWord("otpauth://hotp/", uri, at: start, before: body.upperBound)
    guard isCounted || Self.hasWord("otpauth://totp/", uri, at: start, before: body.upperBound) else {
      throw ValueError(reason: "an otpauth URI starts with otpauth://totp/ or otpauth://hotp/")
    }
    // RFC 3986 allows no spaces and no raw letters beyond ASCII in a URI, but people have them in their labels.
    let text = uri.extracting(body)
    guard !text.hasControl, text.isUTF8 else {
      throw ValueError(reason: "an otpauth URI is one line of text, without line breaks and control characters")
    }
    if isCounted { factor = .counter(0) }
    let query = Self.first(UInt8(ascii: "?"), in: uri, body)
    label = min(query, start + "otpauth://totp/".utf8.count)..<query
    let seen = try readParameters(uri, from: query + 1)
    if !seen.contains(.secret) { throw ValueError(reason: "the otpauth URI has no 'secret'") }
    if isCounted && !seen.contains(.counter) {
      throw ValueError(reason: "the otpauth URI has no 'counter', which counter-based codes need")
    }
    if !isCounted, Self.isSteam(names(in: uri).issuer) { alphabet = .steam }
    if !isCounted, digits == 5, alphabet == .digits, names(in: uri).account?.lowercased().contains(Self.steam) == true {
      throw ValueError(
        reason: "the otpauth URI asks for 5 digits, which only Steam's codes have; for those, add the parameter "
          + "encoder=steam to it")
    }
    try checkDigits(isGiven: seen.contains(.digits))
  }

  /// Refuses parameters and attributes that would give codes that Steam never accepts. Values that were stored before
  /// this check existed still give codes.
  ///
  /// - Parameters:
  ///   - value: The value from which this secret was read.
  ///   - attributes: The item's attributes, of which a secret that is base32 alone needs the issuer.
  func checkSteam(of value: RawSpan, _ attributes: [String: String]) throws(ValueError) {
    switch alphabet {
    case .steam:
      guard algorithm == .sha1 else { throw ValueError(reason: "Steam's codes need the algorithm SHA1") }
      guard case .time(period: 30) = factor else {
        throw ValueError(reason: "Steam's codes have a period of 30 seconds")
      }
    case .digits:
      guard case .time = factor else { return }
      if !issuerSlip.isEmpty, issuer.isEmpty {
        throw Self.slip("otpauth URI has", PercentEscape.text(value, issuerSlip), Self.issuerName)
      }
      guard !isURI, attributes[Self.issuerName] == nil else { return }
      let slips = attributes.filter { Self.isSteam($0.value) && Self.isNear($0.key, Self.issuerName) }
      if let key = slips.keys.min() { throw Self.slip("item has the attribute", key, Self.issuerName) }
    }
  }

  /// The issuer and the account that the URI names, in the label or as a parameter. They are not secret.
  ///
  /// - Parameter value: The value from which this secret was read.
  public func names(in value: RawSpan) -> (issuer: String?, account: String?) {
    func trimmed(_ text: Substring) -> String? {
      let text = text.drop { $0 == " " }
      let end = text.lastIndex { $0 != " " }
      return end.map { String(text[...$0]) }
    }
    let text = PercentEscape.text(value, label)
    let colon = text.firstIndex(of: ":")
    let prefix = colon.flatMap { trimmed(text[..<$0]) }
    let account = trimmed(colon.map { text[text.index(after: $0)...] } ?? text[...])
    return (trimmed(PercentEscape.text(value, issuer)[...]) ?? prefix, account)
  }

  private mutating func readParameters(
    _ uri: RawSpan, from start: Int
  ) throws(ValueError) -> Set<Parameter> {
    var seen: Set<Parameter> = []
    var position = start
    var count = 0
    while position < body.upperBound {
      count += 1
      if count > Self.mostParameters {
        throw ValueError(reason: "the otpauth URI has more than \(Self.mostParameters) parameters")
      }
      let end = Self.first(UInt8(ascii: "&"), in: uri, position..<body.upperBound)
      if let (parameter, value) = try parameter(uri, position..<end) {
        guard seen.insert(parameter).inserted else {
          throw ValueError(reason: "the otpauth URI has '\(parameter)' twice")
        }
        try read(parameter, uri, value)
      }
      position = end + 1
    }
    return seen
  }

  /// The parameter in `range`, and the place of its value; nil for a parameter that does not concern the codes.
  private mutating func parameter(
    _ uri: RawSpan, _ range: Range<Int>
  ) throws(ValueError) -> (Parameter, Range<Int>)? {
    let (start, end) = (range.lowerBound, range.upperBound)
    for word in ["amp;", "#38;", "#x26;"] as [StaticString] where Self.hasWord(word, uri, at: start, before: end) {
      throw ValueError(reason: "the otpauth URI has '&\(word)', as a page's source does, where '&' belongs")
    }
    let equals = Self.first(UInt8(ascii: "="), in: uri, range)
    guard equals < end else {
      // The text may be the secret itself, so the message tells nothing of it except a name that is known.
      if let near = Parameter.allCases.first(where: { Self.isWord($0.rawValue, uri, start, end) }) {
        throw ValueError(reason: "the otpauth URI has '\(near)' without '=' and a value")
      }
      return nil
    }
    // Longer names are near to no known name, and are ignored.
    guard equals - start <= 32 else { return nil }
    let name = PercentEscape.text(uri, start..<equals)
    if let known = Parameter(rawValue: name) { return (known, equals + 1..<end) }
    if let near = Parameter.allCases.first(where: { Self.isNear(name, $0.rawValue) }) {
      throw Self.slip("otpauth URI has", name, near.rawValue)
    }
    if name.lowercased() == Self.issuerName {
      issuer = equals + 1..<end
    } else if Self.isNear(name, Self.issuerName), Self.isSteam(PercentEscape.text(uri, equals + 1..<end)) {
      issuerSlip = start..<equals
    }
    return nil
  }

  /// True if a name probably means a known one: it differs in letter case or by one slip, or is cut off.
  private static func isNear(_ name: String, _ known: String) -> Bool {
    let scalars = Array(name.lowercased().unicodeScalars)
    return Nearest.distance(scalars, known.unicodeScalars, atMost: 1) != nil
      || (scalars.count >= 4 && known.unicodeScalars.starts(with: scalars))
  }

  private static func slip(_ place: String, _ name: String, _ known: String) -> ValueError {
    ValueError(reason: "the \(place) '\(name)', which looks like '\(known)'; write that")
  }

  private mutating func read(_ parameter: Parameter, _ uri: RawSpan, _ range: Range<Int>) throws(ValueError) {
    switch parameter {
    case .secret:
      guard let count = Base32.count(uri, range) else {
        throw ValueError(reason: "the otpauth URI's secret is not base32")
      }
      (symbols, keyCount) = (range, count)
    case .algorithm:
      guard let known = Algorithm.allCases.first(where: { Self.isValue($0.rawValue.lowercased(), uri, range) }) else {
        throw ValueError(reason: "the otpauth URI's algorithm is SHA1, SHA256 or SHA512")
      }
      algorithm = known
    case .digits:
      guard range.count == 1, let number = Self.number(uri, range) else { throw Self.wrongDigits }
      digits = Int(number)
    case .period:
      guard let number = Self.number(uri, range), (1...9999).contains(number) else {
        throw ValueError(reason: "the otpauth URI's period is 1 to 9999 seconds")
      }
      if case .time = factor { factor = .time(period: Int(number)) }
    case .counter:
      guard let number = Self.number(uri, range) else {
        throw ValueError(reason: "the otpauth URI's counter is a number from 0 to \(Int64.max)")
      }
      if case .counter = factor { (factor, counter) = (.counter(number), range) }
    case .encoder:
      guard Self.isValue(Self.steam, uri, range) else {
        throw ValueError(reason: "the otpauth URI's only encoder is 'steam'")
      }
      guard case .time = factor else { throw ValueError(reason: "Steam's codes are based on time, not on a counter") }
      alphabet = .steam
    }
  }

  /// Sets the digits for Steam to five, whatever number the URI gives, and checks the number otherwise.
  private mutating func checkDigits(isGiven: Bool) throws(ValueError) {
    switch alphabet {
    case .steam:
      guard !isGiven || (5...8).contains(digits) else { throw Self.wrongDigits }
      digits = 5
    case .digits: guard (6...8).contains(digits) else { throw Self.wrongDigits }
    }
  }

  private static var wrongDigits: ValueError { ValueError(reason: "the otpauth URI asks for 6, 7 or 8 digits") }

  /// True if `word`, which is in lower case, is the whole value in `range`, in any letter case.
  private static func isValue(_ word: String, _ bytes: RawSpan, _ range: Range<Int>) -> Bool {
    range.count == word.utf8.count && isWord(word, bytes, range.lowerBound, range.upperBound)
  }

  /// True if `word`, which is in lower case, stands at `place` in any letter case, and no letter follows.
  private static func isWord(_ word: String, _ bytes: RawSpan, _ place: Int, _ end: Int) -> Bool {
    let behind = place + word.utf8.count
    func lowercase(_ offset: Int) -> UInt8 {
      let byte = bytes.byte(offset)
      return (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
    guard behind <= end, zip(place..<behind, word.utf8).allSatisfy({ lowercase($0) == $1 }) else { return false }
    return behind == end || !(UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowercase(behind))
  }

  /// The decimal number in `range`, without a sign or leading zeros.
  private static func number(_ bytes: RawSpan, _ range: Range<Int>) -> Int64? {
    guard (1...19).contains(range.count), range.count == 1 || bytes.byte(range.lowerBound) != UInt8(ascii: "0") else {
      return nil
    }
    var number: Int64 = 0
    for offset in range {
      guard isDigit(bytes.byte(offset)) else { return nil }
      let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, isTooMuch) = tens.addingReportingOverflow(Int64(bytes.byte(offset) - UInt8(ascii: "0")))
      if isTooLarge || isTooMuch { return nil }
      number = sum
    }
    return number
  }

  /// The place where `byte` first occurs in `range`, or the end of the range.
  private static func first(_ byte: UInt8, in bytes: RawSpan, _ range: Range<Int>) -> Int {
    range.first { bytes.byte($0) == byte } ?? range.upperBound
  }
}
