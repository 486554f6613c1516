internal import VaultBytes

extension KDBXOneTime {
  /// The parameters of one-time codes. Each method takes the text of a parameter, keeps the default for a missing or
  /// empty text, and returns false for one that `otpauth:` URIs cannot have.
  struct Parameters {
    private var period = 30
    private var digits = 6
    private var algorithm = "SHA1"
    /// The counter of codes that are not based on time.
    private var counter: Int64?
    var isSteam = false

    mutating func set(period text: String?) -> Bool {
      guard let text, !text.isEmpty else { return true }
      guard let number = Int(text), (1...9999).contains(number) else { return false }
      period = number
      return true
    }

    mutating func set(digits text: String?) -> Bool {
      guard let text, !text.isEmpty else { return true }
      guard let number = Int(text), (6...8).contains(number) else { return false }
      digits = number
      return true
    }

    mutating func set(algorithm text: String?) -> Bool {
      guard let text, !text.isEmpty else { return true }
      let name = text.uppercased().filter { $0 != "-" }
      let known = ["SHA1", "SHA256", "SHA512"].first { $0 == name || "HMAC" + $0 == name }
      guard let known else { return false }
      algorithm = known
      return true
    }

    mutating func set(counter text: String) -> Bool {
      guard let number = Int64(text), number >= 0 else { return false }
      counter = number
      return true
    }

    /// The URI (https://github.com/google/google-authenticator/wiki/Key-Uri-Format).
    ///
    /// - Parameter secret: The secret in base32.
    func uri(_ secret: String, _ label: String) -> String {
      // The part before a colon would be the issuer, which changes the codes if it is Steam.
      let name = String(label.map { $0 == ":" ? " " : $0 })
      let path = PercentEscape.escaped(name) { byte in
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || "-._~".utf8.contains(byte)
      }
      var uri = "otpauth://\(counter == nil ? "totp" : "hotp")/\(path)?secret=\(secret)"
      if isSteam { return uri + "&digits=5&encoder=steam" }
      if algorithm != "SHA1" { uri += "&algorithm=\(algorithm)" }
      if digits != 6 { uri += "&digits=\(digits)" }
      if let counter { return uri + "&counter=\(counter)" }
      return period == 30 ? uri : uri + "&period=\(period)"
    }
  }
}
