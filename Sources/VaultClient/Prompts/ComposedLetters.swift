public import VaultBytes
internal import VaultWire

/// Letters that look the same but have different bytes. A letter with an accent is either one character, or the letter
/// followed by the accent (Unicode Standard Annex 15: NFC, NFD). A password typed on one system and pasted on another
/// can differ this way.
public enum ComposedLetters {
  /// The reason why a password that looks right may be wrong, and the remedy, for a person.
  public static let hint =
    "it has letters beyond ASCII, and a letter with an accent is one or two characters (NFC, NFD), depending on the "
    + "program that it comes from: type it rather than paste it, or write it the other way"

  /// Returns a reason why a password that looks right may be wrong, and the remedy, for a person; nil if no such reason
  /// is known.
  public static func hint(for secret: borrowing SecretBuffer) -> String? {
    let isMarked = secret.withBytes { bytes in
      let (text, mark) = (Span<UInt8>(_bytes: bytes), [0xEF, 0xBB, 0xBF] as [UInt8])
      return text.count >= mark.count && mark.indices.allSatisfy { text[$0] == mark[$0] }
    }
    if isMarked { return "it begins with a byte order mark, as some editors write: save it without the mark" }
    return areIn(secret) ? hint : nil
  }

  /// Returns true when a character of a secret is not ASCII.
  public static func areIn(_ secret: borrowing SecretBuffer) -> Bool {
    secret.withBytes { bytes in
      let text = Span<UInt8>(_bytes: bytes)
      return text.indices.contains { text[$0] >= 0x80 }
    }
  }
}
