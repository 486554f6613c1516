internal import VaultBytes

/// A network, as described by the attributes of a `wifi` item.
struct WiFiNetwork {
  /// The network's protection. `WPA` also means WPA2; `WPA3` and `SAE` mean the same.
  enum Security: String, CaseIterable {
    case wpa = "WPA"
    case wpa3 = "WPA3"
    case sae = "SAE"
    case wep = "WEP"
    case nopass

    /// The word for the protection in a `WIFI:` URI.
    var uriType: String { self == .wpa3 ? Security.sae.rawValue : rawValue }
  }

  let ssid: String
  let security: Security
  let isHidden: Bool

  init(_ attributes: [String: String]) throws(ValueError) {
    guard let ssid = attributes["ssid"] else {
      throw ValueError(reason: "a Wi-Fi item needs the network's name in attribute 'ssid'")
    }
    guard (1...WiFiText.longestName).contains(ssid.utf8.count) else {
      throw ValueError(reason: "attribute 'ssid' has 1 to \(WiFiText.longestName) bytes")
    }
    self.ssid = ssid
    guard let security = Security(rawValue: attributes["security"] ?? Security.wpa.rawValue) else {
      let known = Security.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValueError(reason: "attribute 'security' is one of \(known)")
    }
    self.security = security
    if let bssid = attributes["bssid"], !Self.isAddress(bssid) {
      throw ValueError(reason: "attribute 'bssid' is six pairs of hexadecimal digits, such as 00:11:22:aa:bb:cc")
    }
    switch attributes["hidden"] {
    case nil, "false": isHidden = false
    case "true": isHidden = true
    default: throw ValueError(reason: "attribute 'hidden' is true or false")
    }
  }

  /// Checks that the network's security allows the passphrase.
  func check(_ passphrase: RawSpan) throws(ValueError) {
    let count = passphrase.byteCount
    switch security {
    case .wpa:
      // IEEE 802.11, annex J.4: a passphrase of 8 to 63 ASCII characters, or the 256-bit key itself in hexadecimal.
      let isPhrase = (8...63).contains(count) && passphrase.allBytes(isPrintable)
      guard isPhrase || (count == 64 && passphrase.allBytes(isHexadecimal)) else {
        let open = count == 0 ? "; an open network has the attribute security=nopass" : ""
        throw ValueError(
          reason: "a WPA passphrase has 8 to 63 printable ASCII characters, or 64 hexadecimal digits\(open)")
      }
    case .wpa3, .sae:
      guard (1...128).contains(count), !passphrase.hasControl, passphrase.isUTF8 else {
        throw ValueError(reason: "a WPA3 password has 1 to 128 bytes of text without control characters")
      }
    case .wep:
      let isText = [5, 13, 16].contains(count) && passphrase.allBytes(isPrintable)
      guard isText || ([10, 26, 32].contains(count) && passphrase.allBytes(isHexadecimal)) else {
        throw ValueError(reason: "a WEP key has 5, 13 or 16 characters, or twice as many hexadecimal digits")
      }
    case .nopass:
      guard count == 0 else { throw ValueError(reason: "a network with security=nopass has an empty value") }
    }
  }

  private static func isAddress(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    guard bytes.count == 17, let separator = [UInt8(ascii: ":"), UInt8(ascii: "-")].first(where: { $0 == bytes[2] })
    else { return false }
    return bytes.indices.allSatisfy { $0 % 3 == 2 ? bytes[$0] == separator : isHexadecimal(bytes[$0]) }
  }
}

/// True if `byte` is printable ASCII, including the space.
func isPrintable(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) }

/// True if `byte` is a hexadecimal digit, in either case.
func isHexadecimal(_ byte: UInt8) -> Bool {
  isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
}
