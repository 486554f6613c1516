enum Base64 {
  private static func digit(_ v: UInt8) -> UInt8 {
    switch v {
    case 0..<26: UInt8(ascii: "A") + v
    case 26..<52: UInt8(ascii: "a") + v - 26
    case 52..<62: UInt8(ascii: "0") + v - 52
    case 62: UInt8(ascii: "+")
    default: UInt8(ascii: "/")
    }
  }
  private static func value(_ c: UInt8) -> UInt8? {
    switch c {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): c - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): c - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): c - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
  static func encodedCount(_ n: Int) -> Int { (n + 2) / 3 * 4 }
  static func decodedCount(_ text: RawSpan) -> Int? {
    let s = Span<UInt8>(_bytes: text)
    guard s.count % 4 == 0 else { return nil }
    var n = s.count / 4 * 3
    if s.count > 0, s[s.count - 1] == UInt8(ascii: "=") { n -= s[s.count - 2] == UInt8(ascii: "=") ? 2 : 1 }
    return n
  }
  static func encode(_ bytes: RawSpan, into target: inout MutableRawSpan) {
    let s = Span<UInt8>(_bytes: bytes)
    var i = 0
    var o = 0
    while i < s.count {
      let n = min(3, s.count - i)
      var group = UInt32(s[i]) << 16
      if n > 1 { group |= UInt32(s[i + 1]) << 8 }
      if n > 2 { group |= UInt32(s[i + 2]) }
      for k in 0..<4 {
        let c = k <= n ? digit(UInt8(truncatingIfNeeded: group >> UInt32(18 - 6 * k)) & 63) : UInt8(ascii: "=")
        target.storeBytes(of: c, toByteOffset: o, as: UInt8.self)
        o += 1
      }
      i += 3
    }
  }
  static func decode(_ text: RawSpan, into target: inout MutableRawSpan) -> Bool {
    guard let n = decodedCount(text), n == target.byteCount else { return false }
    let s = Span<UInt8>(_bytes: text)
    var o = 0
    var group: UInt32 = 0
    var bits = 0
    for i in 0..<(n * 4 + 2) / 3 {
      guard let v = value(s[i]) else { return false }
      group = group << 6 | UInt32(v)
      bits += 6
      if bits >= 8 {
        bits -= 8
        target.storeBytes(of: UInt8(truncatingIfNeeded: group >> UInt32(bits)), toByteOffset: o, as: UInt8.self)
        o += 1
      }
    }
    return group & (1 << UInt32(bits) - 1) == 0
  }
}
