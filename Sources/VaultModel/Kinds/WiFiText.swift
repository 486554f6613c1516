internal import VaultBytes

/// A network, parsed from the text of its QR code into the data of an item of kind `wifi`. Phones and routers show such
/// codes; see ``WiFiURI`` for the form of the text.
public struct WiFiText: Sendable {
  /// The attributes of the item: `ssid`, `security`, and `hidden` if the text says so.
  public private(set) var attributes: [String: String] = [:]
  /// The place of the passphrase in the text, where characters may be escaped; empty if there is none.
  private var passphrase = 0..<0

  /// The highest number of bytes of a network's name (IEEE 802.11).
  public static let longestName = 32

  /// True if the value begins like such a text, whatever follows.
  public static func isURI(_ value: RawSpan) -> Bool {
    OneTimeSecret.hasWord("wifi:", value, at: value.hasByteOrderMark ? 3 : 0, before: value.byteCount)
  }

  /// Reads a value; nil if it is not such a text.
  ///
  /// - Throws: ``ValueError`` if it is one, but for a network that no item of kind `wifi` can describe.
  public init?(_ value: RawSpan) throws(ValueError) {
    guard Self.isURI(value) else { return nil }
    var type = ""
    var place = (value.hasByteOrderMark ? 3 : 0) + "WIFI:".utf8.count
    while place < value.byteCount {
      let end = Self.end(value, from: place)
      if place + 1 < end, value.byte(place + 1) == UInt8(ascii: ":") {
        try take(value.byte(place), value, place + 2..<end, &type)
      }
      place = end + 1
    }
    guard attributes["ssid"]?.isEmpty == false else {
      throw ValueError(reason: "the QR code's text names no network: it has no 'S:'")
    }
    attributes["security"] = try security(type).rawValue
  }

  /// Writes the passphrase to `sink` byte by byte.
  ///
  /// - Parameter value: The value from which this was read.
  public func writePassphrase(from value: RawSpan, to sink: (UInt8) -> Void) {
    Self.unescape(value, passphrase, sink)
  }

  private mutating func take(
    _ field: UInt8, _ value: RawSpan, _ range: Range<Int>, _ type: inout String
  ) throws(ValueError) {
    func text() -> String? {
      var bytes: [UInt8] = []
      Self.unescape(value, range) { bytes.append($0) }
      return String(validating: bytes, as: UTF8.self)
    }
    switch field {
    case UInt8(ascii: "S"):
      guard let name = text() else { throw ValueError(reason: "the network's name in the QR code's text is not UTF-8") }
      attributes["ssid"] = name
    case UInt8(ascii: "T"): type = text()?.uppercased() ?? "?"
    case UInt8(ascii: "H"): if text()?.lowercased() == "true" { attributes["hidden"] = "true" }
    case UInt8(ascii: "P"): passphrase = range
    default: break
    }
  }

  /// The security of a type. A network without a type is open, unless there is a passphrase.
  private func security(_ type: String) throws(ValueError) -> WiFiNetwork.Security {
    switch type {
    case "": return passphrase.isEmpty ? .nopass : .wpa
    // If the type names several versions, the rule for the oldest of them holds for all.
    case "WPA", "WPA2", "WPA/WPA2", "WPA2/WPA", "WPA2/WPA3", "WPA/WPA2/WPA3", "WPA-PSK", "WPA2-PSK": return .wpa
    case "WPA3", "SAE": return .sae
    case "WEP": return .wep
    case "NOPASS": return .nopass
    default:
      guard !type.contains("EAP") else {
        throw ValueError(reason: "the QR code is of a network with accounts (EAP), which need more than a passphrase")
      }
      throw ValueError(
        reason: "the security in the QR code's text ('T:') is not one of WPA, WPA2, WPA3, SAE, WEP, nopass")
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
