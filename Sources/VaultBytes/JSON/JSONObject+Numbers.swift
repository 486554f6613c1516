extension JSONObject {
  /// The value of true or false; nil for another kind.
  public borrowing func bool(_ node: Node) -> Bool? {
    let word = record(node)
    guard word.kind == .bool else { return nil }
    return word.end - word.start == 4
  }

  /// Lends the text of a number, true, false or null as it was given.
  package borrowing func withWord<R>(_ node: Node, _ body: (RawSpan) -> R) -> R {
    let word = record(node)
    return withBytes { body($0.extracting(Int(word.start)..<Int(word.end))) }
  }

  /// The exact value of a number; nil if it is not an integer, does not fit, or is of another kind. The notation does
  /// not matter: `1e3` and `1.0` are integers.
  public borrowing func integer(_ node: Node) -> Int64? {
    let number = record(node)
    guard number.kind == .number else { return nil }
    return withText { JSONObject.exactInteger($0.extracting(Int(number.start)..<Int(number.end))) }
  }

  /// The value of a number, rounded down to an integer; nil if it does not fit, or is of another kind.
  public borrowing func wholePart(_ node: Node) -> Int64? {
    let number = record(node)
    guard number.kind == .number else { return nil }
    return withText { text in
      let text = text.extracting(Int(number.start)..<Int(number.end))
      if let integer = JSONObject.exactInteger(text) { return integer }
      return Double(String(decoding: text.indices.map { text[$0] }, as: UTF8.self))
        .flatMap { Int64(exactly: $0.rounded(.down)) }
    }
  }

  /// The value of a JSON number that is an integer and fits into 64 bits, without intermediate rounding.
  package static func exactInteger(_ text: Span<UInt8>) -> Int64? {
    var at = 0
    let negative = text[0] == UInt8(ascii: "-")
    if negative { at = 1 }
    // value = magnitude × 10^(zeros + exponent - fraction). Zeros are only counted until another digit follows them.
    var magnitude: UInt64 = 0
    var zeros = 0
    var fraction = 0
    var inFraction = false
    while at < text.count, text[at] | 0x20 != UInt8(ascii: "e") {
      let digit = text[at] &- UInt8(ascii: "0")
      at += 1
      guard digit <= 9 else {
        inFraction = true
        continue
      }
      if inFraction { fraction += 1 }
      if digit == 0 {
        if magnitude != 0 { zeros += 1 }
        continue
      }
      guard let shifted = scaled(magnitude, by: zeros + 1) else { return nil }
      let (sum, overflow) = shifted.addingReportingOverflow(UInt64(digit))
      if overflow { return nil }
      magnitude = sum
      zeros = 0
    }
    if magnitude == 0 { return 0 }
    let power = zeros - fraction + exponent(text, at)
    guard power >= 0, let result = scaled(magnitude, by: power) else { return nil }
    if !negative { return Int64(exactly: result) }
    return result == 1 << 63 ? Int64.min : Int64(exactly: result).map { -$0 }
  }

  private static func scaled(_ value: UInt64, by power: Int) -> UInt64? {
    guard value != 0 else { return 0 }
    // 10^20 does not fit into 64 bits.
    guard power < 20 else { return nil }
    var value = value
    for _ in 0..<power {
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      if overflow { return nil }
      value = product
    }
    return value
  }

  /// The exponent that begins at `at`, or 0. It is capped far beyond the number of digits of any text.
  private static func exponent(_ text: Span<UInt8>, _ at: Int) -> Int {
    guard at < text.count else { return 0 }
    var value = 0
    var negative = false
    for index in at + 1..<text.count {
      switch text[index] {
      case UInt8(ascii: "-"): negative = true
      case UInt8(ascii: "+"): break
      default: value = min(value * 10 + Int(text[index] - UInt8(ascii: "0")), 1 << 40)
      }
    }
    return negative ? -value : value
  }
}
