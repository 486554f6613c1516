/// The conclusions from a name about the value that it stands for.
///
/// Nothing else tells what an attribute of the user's own is, or a field of another program that protects none of its
/// texts. An attribute is not secret, so that a value with such a name belongs into an item.
public enum SecretName {
  /// The words by which people and programs call a secret, and nothing else.
  public static let words: Set = [
    "secret", "password", "passwd", "passphrase", "passcode", "pass", "pwd", "pw", "pin", "token",
  ]

  private static let parts = [
    "credential", "kennwort", "mnemonic", "passcode", "passphrase", "passwd", "password", "passwort", "private",
    "recovery", "secret", "seed",
  ]
  private static let endings = [
    "answer", "code", "cvc", "cvv", "key", "otp", "pass", "pin", "psk", "puk", "pw", "pwd", "token",
  ]
  /// The endings of names that sound like a secret and are none.
  private static let open = ["publickey", "areacode", "countrycode", "postalcode", "zipcode"]
  /// The words behind a secret's name with which it means a fact about the secret.
  private static let facts: Set<Substring> = ["fingerprint", "id", "ids", "length", "name", "size", "type"]

  /// True for a name that is one of the words.
  public static func isWord(_ name: String) -> Bool { words.contains(name.lowercased()) }

  /// True for a name that sounds like a secret, such as `Phone PIN`, `apiKey` or `smtp_pass`. A value that is taken for
  /// a secret is only kept with more care than necessary.
  public static func sounds(_ name: String) -> Bool {
    let name = name.lowercased()
    if parts.contains(where: { name.contains($0) }) { return true }
    let words = name.split { !$0.isLetter }
    return words.indices.contains { index in
      let word = words[index]
      let stem = word.hasSuffix("s") ? word.dropLast() : word
      guard endings.contains(where: { word.hasSuffix($0) || stem.hasSuffix($0) }) else { return false }
      let whole = (index > 0 ? words[index - 1] : "") + stem
      if open.contains(where: { whole.hasSuffix($0) }) { return false }
      return index + 1 == words.endIndex || !facts.contains(words[index + 1])
    }
  }
}
