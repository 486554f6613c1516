internal import VaultWire

/// The conclusions from the name of a field whose source does not say what its value is.
enum FieldName {
  private static let parts = [
    "credential", "kennwort", "mnemonic", "passcode", "passphrase", "password", "passwort", "private", "recovery",
    "secret", "seed",
  ]
  private static let endings = ["answer", "code", "codes", "cvc", "cvv", "key", "otp", "pin", "puk", "pwd", "token"]

  /// The role of the value: a secret if the name sounds like one, such as `Phone PIN` or `apiKey`, otherwise a text. A
  /// text that is taken for a secret is only kept with more care than necessary.
  static func role(_ name: String) -> ImportedField.Role {
    let name = name.lowercased()
    if parts.contains(where: { name.contains($0) }) { return .secret }
    let words = name.split { !($0.isLetter) }
    return words.contains { word in endings.contains { word.hasSuffix($0) } } ? .secret : .text
  }
}
