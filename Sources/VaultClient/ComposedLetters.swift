public import VaultWire

/// Letters that look the same and are other bytes: one with an accent is one character, or the letter and the accent behind it
/// (Unicode Standard Annex 15: NFC, NFD). A password that was typed on one system and pasted on another can differ so.
public enum ComposedLetters {
  /// The reason why a password may be wrong that looks right, and what to do, for a person.
  public static let hint =
    "it has letters beyond ASCII, and one with an accent is one character or two (NFC, NFD) by the program that it comes "
    + "from: type it rather than paste it, or write it the other way"

  /// True where some character of a secret is not of ASCII.
  public static func areIn(_ secret: borrowing SecretBuffer) -> Bool {
    secret.withBytes { bytes in
      let text = Span<UInt8>(_bytes: bytes)
      return text.indices.contains { text[$0] >= 0x80 }
    }
  }
}
