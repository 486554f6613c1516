internal import VaultWire

/// The forms of a value in which it must not come into a template: as it is, and as it stands between the quotes of another
/// syntax; each also without the line breaks at its end, which a program may leave out.
enum ValueForms {
  static func forEach<E: Error>(of value: RawSpan, _ body: (RawSpan) throws(E) -> Void) throws(E) {
    try forEachWhole(of: value, body)
    let short = value.extracting(first: MaskedValues.countWithoutEnd(value))
    if short.byteCount < value.byteCount { try forEachWhole(of: short, body) }
  }

  private static func forEachWhole<E: Error>(of value: RawSpan, _ body: (RawSpan) throws(E) -> Void) throws(E) {
    try body(value)
    for escape in Escape.allCases {
      var form = SecretBuffer()
      do throws(Escape.Fault) { try escape.append(value, to: &form) } catch { continue }
      if escape == .base64 {
        // Padding may be left out, so it is not looked for.
        for isForURLs in [false, true] {
          let form = base64(form, isForURLs: isForURLs)
          try form.withBytes { form throws(E) in try body(form) }
        }
      } else {
        try form.withBytes { form throws(E) in try body(form.extracting(1..<form.byteCount - 1)) }
      }
    }
  }

  /// Base64 without its padding, in one of both alphabets (RFC 4648, sections 4 and 5).
  private static func base64(_ form: borrowing SecretBuffer, isForURLs: Bool) -> SecretBuffer {
    var other = SecretBuffer(capacity: form.count)
    form.withBytes { form in
      let form = Span<UInt8>(_bytes: form)
      for index in form.indices {
        switch form[index] {
        case UInt8(ascii: "="): break
        case UInt8(ascii: "+") where isForURLs: other.append(UInt8(ascii: "-"))
        case UInt8(ascii: "/") where isForURLs: other.append(UInt8(ascii: "_"))
        default: other.append(form[index])
        }
      }
    }
    return other
  }
}
