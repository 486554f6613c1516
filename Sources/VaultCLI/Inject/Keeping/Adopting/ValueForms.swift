internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The forms of a value that must not come into a template: the value itself, and the value as it stands between the
/// quotes of another syntax. Each form also counts without the line breaks at the value's end, which a program may
/// leave out.
enum ValueForms {
  static func forEach<E: Error>(of value: RawSpan, _ body: (RawSpan) throws(E) -> Void) throws(E) {
    try forEachWhole(of: value, body)
    let short = value.extracting(first: MaskedValues.countWithoutEnd(value))
    if short.byteCount < value.byteCount { try forEachWhole(of: short, body) }
  }

  /// Calls `body` with the squeezed forms of a value: as it is, with its own escapes undone, and in base64.
  static func forEachSqueezed(of value: RawSpan, _ body: (RawSpan) -> Void) {
    for undoesEscapes in [false, true] {
      SqueezedText(value, undoingEscapes: undoesEscapes).bytes.withBytes(body)
    }
    // A program may leave out the line breaks at the end. The base64 of the value without them also occurs in the
    // base64 of the whole value.
    forEachBase64(within: value.extracting(first: MaskedValues.countWithoutEnd(value)), body)
  }

  /// Calls `body` with the base64 of a value as part of a longer text, such as `user:password` (RFC 7617), without the
  /// symbols at either end that also encode other bytes. The value can begin at any of the three bytes of a group.
  private static func forEachBase64<E: Error>(
    within value: RawSpan, _ body: (RawSpan) throws(E) -> Void
  ) throws(E) {
    guard value.byteCount > 0 else { return }
    for before in 0..<3 {
      let count = before + value.byteCount
      var text = SecretBuffer(capacity: count)
      text.append(count: before) { _ in }
      text.append(value)
      let symbols = (8 * before + 5) / 6..<8 * count / 6
      guard symbols.count >= leastSymbols else { continue }
      for isForURLs in [false, true] {
        let form = text.withBytes { base64($0, isForURLs: isForURLs) }
        try form.withBytes { form throws(E) in try body(form.extracting(symbols)) }
      }
    }
  }

  /// The smallest number of base64 symbols to search for; fewer would be found by chance.
  private static let leastSymbols = 4

  /// Calls `body` with the parts of a value that reveal something about it. Left out are the lines of PEM that label
  /// the text between them, and the scheme of a URI.
  static func forEachTelling(of value: RawSpan, _ body: (RawSpan) -> Void) {
    let bytes = Span<UInt8>(_bytes: value)
    var (start, line) = (schemeCount(bytes), 0)
    while line < bytes.count {
      var end = line
      while end < bytes.count, bytes[end] != 0x0A { end += 1 }
      let next = min(end + 1, bytes.count)
      if isArmor(bytes.extracting(line..<end)) {
        if start < line { body(value.extracting(start..<line)) }
        start = next
      }
      line = next
    }
    if start < bytes.count { body(value.extracting(start..<bytes.count)) }
  }

  /// Returns the number of bytes of the scheme at the value's beginning and of the `://` after it (RFC 3986, section
  /// 3); 0 if there is none.
  private static func schemeCount(_ value: Span<UInt8>) -> Int {
    var at = 0
    while at < min(value.count, 32), VariableName.isPart(value[at]) || [0x2B, 0x2D, 0x2E].contains(value[at]) {
      at += 1
    }
    guard at > 0, at + 3 <= value.count, value[at] == UInt8(ascii: ":"), value[at + 1] == UInt8(ascii: "/"),
      value[at + 2] == UInt8(ascii: "/")
    else { return 0 }
    return at + 3
  }

  private static func isArmor(_ line: Span<UInt8>) -> Bool {
    line.count >= 16 && line.extracting(first: 11).isEqual(to: "-----BEGIN ")
      || line.count >= 14 && line.extracting(first: 9).isEqual(to: "-----END ")
  }

  private static func forEachWhole<E: Error>(of value: RawSpan, _ body: (RawSpan) throws(E) -> Void) throws(E) {
    try body(value)
    for escape in Escape.allCases {
      if escape == .base64 {
        // A program may leave the padding out, so the search is for base64 without it.
        for isForURLs in [false, true] {
          let form = base64(value, isForURLs: isForURLs)
          try form.withBytes { form throws(E) in try body(form) }
        }
        try forEachBase64(within: value, body)
      } else {
        var form = SecretBuffer()
        do throws(Escape.Fault) { try escape.append(value, to: &form) } catch { continue }
        try form.withBytes { form throws(E) in try body(form.extracting(1..<form.byteCount - 1)) }
      }
    }
  }

  /// Returns the base64 of bytes without its padding, in one of the two alphabets (RFC 4648, sections 4 and 5).
  private static func base64(_ bytes: RawSpan, isForURLs: Bool) -> SecretBuffer {
    let count = Base64URL.encodedCount(bytes.byteCount)
    var form = SecretBuffer()
    if isForURLs {
      form.append(count: count) { Base64URL.encode(bytes, into: &$0) }
    } else {
      form.append(count: Base64.encodedCount(bytes.byteCount)) { Base64.encode(bytes, into: &$0) }
      form.truncate(to: count)
    }
    return form
  }
}

extension Span<UInt8> {
  /// Returns true if these are the bytes of `literal`.
  fileprivate func isEqual(to literal: StaticString) -> Bool {
    // The literal lives as long as the program.
    let other = unsafe Span(_unsafeStart: literal.utf8Start, count: literal.utf8CodeUnitCount)
    return count == other.count && indices.allSatisfy { self[$0] == other[$0] }
  }
}
