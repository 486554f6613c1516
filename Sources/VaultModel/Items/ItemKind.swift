/// The kind of an item's value. A raw value is the name in messages, files and commands, and never changes; the store
/// holds a number in its place (HeadRecordEncoding.swift).
public enum ItemKind: String, CaseIterable, Sendable {
  case password
  case apiKey = "api-key"
  case deviceToken = "device-token"
  case wifi
  case pairingCode = "pairing-code"
  case tlsKey = "tls-key"
  case certificate
  case sshKey = "ssh-key"
  case totp
  case note
  case blob
}

/// An attribute that is worth storing with items of a kind.
public struct SuggestedAttribute: Hashable, Sendable {
  /// The attribute's key.
  public let key: String
  /// The meaning of the attribute's value, in a few words.
  public let meaning: String
  /// True if every item of the kind must have the attribute.
  public let isRequired: Bool

  init(_ key: String, _ meaning: String, isRequired: Bool = false) {
    self.key = key
    self.meaning = meaning
    self.isRequired = isRequired
  }
}

extension ItemKind {
  /// The form of a value of this kind, and the checks made on it, as one phrase without a period.
  public var summary: String {
    switch self {
    case .password: "a password or passphrase; anything but nothing"
    case .apiKey: "a key for a service's interface; one line"
    case .deviceToken: "a token that a device shows or accepts; one line"
    case .wifi: "a Wi-Fi passphrase, checked against the network's security; exports as a WIFI: URI"
    case .pairingCode: "the digits that pair a device, such as 031-45-154"
    case .tlsKey: "a private key in PEM, with or without its certificates"
    case .certificate: "a certificate or chain in PEM; the first one's end of validity becomes the expiry"
    case .sshKey: "a private SSH key as ssh-keygen writes it, or in PEM"
    case .totp: "the secret behind one-time codes: an otpauth:// URI, by time or by a counter, or base32"
    case .note: "text in UTF-8"
    case .blob: "any bytes"
    }
  }

  /// The highest number of bytes of a value of this kind. A value that is read piece by piece to check it has fewer
  /// than another, because others wait meanwhile.
  public var longest: Int {
    switch self {
    case .password, .apiKey, .deviceToken, .note, .blob: ValueLimits.bytes
    case .certificate: 256 << 10
    case .tlsKey: 128 << 10
    case .sshKey: 64 << 10
    case .wifi, .pairingCode, .totp: 4 << 10
    }
  }

  /// True if a value of this kind is one line of text.
  public var hasOneLine: Bool {
    switch self {
    case .password, .apiKey, .deviceToken, .wifi, .pairingCode, .totp: true
    case .tlsKey, .certificate, .sshKey, .note, .blob: false
    }
  }

  /// The attributes that items of this kind usually have, the required ones first.
  public var suggestedAttributes: [SuggestedAttribute] {
    switch self {
    case .password:
      [.init("username", "whose password it is"), .init("url", "where it is used")]
    case .apiKey:
      [.init("service", "which service takes it"), .init("url", "where it is managed")]
    case .deviceToken:
      [.init("device", "which device it belongs to"), .init("owner", "who is responsible for it")]
    case .wifi:
      [
        .init("ssid", "the network's name, 1 to 32 bytes", isRequired: true),
        .init("security", "WPA (the default), WPA3, SAE, WEP or nopass"),
        .init("bssid", "the access point's address, such as 00:11:22:aa:bb:cc"),
        .init("hidden", "true when the network does not announce its name"),
      ]
    case .pairingCode:
      [
        .init("device", "which device it pairs"),
        .init("pattern", "how the code is written where it is unusual: '#' for a digit, as in ##-####"),
      ]
    case .tlsKey, .certificate:
      [.init("host", "the name it proves")]
    case .sshKey:
      [.init("host", "where it logs in"), .init("user", "as whom")]
    case .totp:
      [.init("issuer", "which service asks for the codes"), .init("account", "for which account")]
    case .note:
      []
    case .blob:
      [.init("media-type", "what the bytes are, such as application/pdf")]
    }
  }
}
