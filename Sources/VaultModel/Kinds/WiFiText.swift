/// A network in the text of its QR code, as a phone or a router shows it, taken apart into what an item of kind `wifi` holds:
/// see ``WiFiURI`` for the form.
public struct WiFiText: Sendable {
  /// Those of the item: `ssid`, and `security` and `hidden` where the text says more than is meant without them.
  public private(set) var attributes: [String: String] = [:]
  /// The place of the passphrase in the text, where characters may be escaped; empty where there is none.
  private var passphrase = 0..<0

  /// True for what begins as such a text does, whatever follows.
  public static func isURI(_ value: RawSpan) -> Bool {
    OneTimeSecret.hasWord("wifi:", value, at: value.hasByteOrderMark ? 3 : 0, before: value.byteCount)
  }

  /// Reads a value; nil for what is no such text, or names no network.
  public init?(_ value: RawSpan) {
    guard Self.isURI(value) else { return nil }
    var place = (value.hasByteOrderMark ? 3 : 0) + "WIFI:".utf8.count
    while place < value.byteCount {
      let end = Self.end(value, from: place)
      if place + 1 < end, value.byte(place + 1) == UInt8(ascii: ":") {
        guard take(value.byte(place), value, place + 2..<end) else { return nil }
      }
      place = end + 1
    }
    guard attributes["ssid"] != nil else { return nil }
  }

  /// Writes the passphrase byte by byte into `sink`.
  ///
  /// - Parameter value: the one that this was read from.
  public func writePassphrase(from value: RawSpan, to sink: (UInt8) -> Void) {
    Self.unescape(value, passphrase, sink)
  }

  private mutating func take(_ field: UInt8, _ value: RawSpan, _ range: Range<Int>) -> Bool {
    func text() -> String? {
      var bytes: [UInt8] = []
      Self.unescape(value, range) { bytes.append($0) }
      return String(validating: bytes, as: UTF8.self)
    }
    switch field {
    case UInt8(ascii: "S"):
      attributes["ssid"] = text()
      return attributes["ssid"] != nil
    case UInt8(ascii: "T"):
      switch text()?.uppercased() {
      case "WPA", "WPA2", "": break
      case "WPA3", "SAE": attributes["security"] = WiFiNetwork.Security.sae.rawValue
      case "WEP": attributes["security"] = WiFiNetwork.Security.wep.rawValue
      case "NOPASS": attributes["security"] = WiFiNetwork.Security.nopass.rawValue
      default: return false
      }
      return true
    case UInt8(ascii: "H"):
      if text()?.lowercased() == "true" { attributes["hidden"] = "true" }
      return true
    case UInt8(ascii: "P"):
      passphrase = range
      return true
    default: return true
    }
  }

  /// The place of the semicolon that ends a field, or the end of the text.
  private static func end(_ value: RawSpan, from start: Int) -> Int {
    var place = start
    while place < value.byteCount, value.byte(place) != UInt8(ascii: ";") {
      place += value.byte(place) == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(place, value.byteCount)
  }

  private static func unescape(_ value: RawSpan, _ range: Range<Int>, _ sink: (UInt8) -> Void) {
    var place = range.lowerBound
    while place < range.upperBound {
      if value.byte(place) == UInt8(ascii: "\\"), place + 1 < range.upperBound { place += 1 }
      sink(value.byte(place))
      place += 1
    }
  }
}
