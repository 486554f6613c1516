/// The kind of an item's value. A raw value is the name in messages, files and commands, and never changes; the store
/// holds a number in its place. All that sets the kinds apart as data is in their ``facts``.
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

  /// The form of a value, which decides how it is typed and shown.
  public enum Form: Sendable {
    /// One line of text.
    case line
    /// Lines of text.
    case text
    /// A text with blocks of PEM, which is read piece by piece to check it.
    case pem(isSecret: Bool)
    /// Any bytes.
    case bytes
  }

  /// The data in which the kinds differ.
  public struct Facts: Sendable {
    /// The kind's number in the store, which never changes.
    public let number: UInt8
    /// The form of a value, and the checks made on it, as one phrase without a period.
    public let summary: String
    public let form: Form
    /// The highest number of bytes of a value. A value that is read piece by piece to check it has a lower limit,
    /// because other calls wait meanwhile.
    public let longest: Int
    /// True if a value may be empty.
    public let mayBeEmpty: Bool
    /// True if a value may state an end of validity.
    public let mayEnd: Bool
    /// The use that all items of this kind have; nil if each item states its own.
    public let use: KeyUse?
  }

  public var facts: Facts {
    switch self {
    case .password:
      Facts(
        number: 1, summary: "a password or passphrase; anything but nothing", form: .line,
        longest: ValueLimits.bytes, mayBeEmpty: false, mayEnd: false, use: nil)
    case .apiKey:
      Facts(
        number: 2, summary: "a key for a service's interface; one line", form: .line, longest: ValueLimits.bytes,
        mayBeEmpty: false, mayEnd: false, use: nil)
    case .deviceToken:
      Facts(
        number: 3, summary: "a token that a device shows or accepts; one line", form: .line,
        longest: ValueLimits.bytes, mayBeEmpty: false, mayEnd: false, use: nil)
    case .wifi:
      Facts(
        number: 4, summary: "a Wi-Fi passphrase, checked against the network's security; exports as a WIFI: URI",
        form: .line, longest: 4 << 10, mayBeEmpty: true, mayEnd: false, use: nil)
    case .pairingCode:
      Facts(
        number: 5, summary: "the digits that pair a device, such as 031-45-154", form: .line, longest: 4 << 10,
        mayBeEmpty: false, mayEnd: false, use: nil)
    case .tlsKey:
      Facts(
        number: 6, summary: "a private key in PEM, with or without its certificates", form: .pem(isSecret: true),
        longest: 128 << 10, mayBeEmpty: false, mayEnd: true, use: nil)
    case .certificate:
      Facts(
        number: 7,
        summary: "a certificate or chain in PEM; the first one's end of validity becomes the expiry",
        form: .pem(isSecret: false), longest: 256 << 10, mayBeEmpty: false, mayEnd: true, use: nil)
    case .sshKey:
      Facts(
        number: 8, summary: "a private SSH key as ssh-keygen writes it, or in PEM", form: .pem(isSecret: true),
        longest: 64 << 10, mayBeEmpty: false, mayEnd: false, use: .ssh)
    case .totp:
      Facts(
        number: 9,
        summary: "the secret behind one-time codes: an otpauth:// URI, by time or by a counter, or base32",
        form: .line, longest: 4 << 10, mayBeEmpty: false, mayEnd: false, use: .totp)
    case .note:
      Facts(
        number: 10, summary: "text in UTF-8", form: .text, longest: ValueLimits.bytes, mayBeEmpty: true,
        mayEnd: false, use: nil)
    case .blob:
      Facts(
        number: 11, summary: "any bytes", form: .bytes, longest: ValueLimits.bytes, mayBeEmpty: true, mayEnd: false,
        use: nil)
    }
  }

  /// The highest number of bytes of a value of this kind.
  public var longest: Int { facts.longest }

  /// The use that all items of this kind have; nil if each item states its own.
  public var use: KeyUse? { facts.use }

  /// True if a value of this kind is one line of text.
  public var hasOneLine: Bool { if case .line = facts.form { true } else { false } }
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
