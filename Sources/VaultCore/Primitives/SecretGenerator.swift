internal import VaultBytes
internal import VaultModel

/// New secrets, drawn without bias from the kernel's generator and held only in secure memory.
public enum SecretGenerator {
  /// The allowed lengths of a password in characters.
  public static let passwordLengths = ValueLimits.passwordLengths

  /// The allowed lengths of a phrase in words.
  public static let phraseLengths = ValueLimits.phraseLengths

  /// Generates a password of ASCII letters and digits and, if `symbols` is true, also of `#%&*+,-./:=?@^_~`.
  ///
  /// The password has at least one lower-case letter, one upper-case letter, one digit and, if wanted, one symbol. A
  /// password that lacks one of these is drawn again as a whole, so that all allowed passwords are equally likely. 24
  /// characters with symbols have 150 bits.
  /// - Throws: ``CryptoError/limits(_:)`` for a length outside ``passwordLengths``.
  public static func password(length: Int = 24, symbols: Bool = true) throws(CryptoError) -> SecureBytes {
    guard passwordLengths.contains(length) else { throw .limits("a password has 8 to 1024 characters") }
    let bound = symbols ? characters.count : 62
    var source = PlaceSource(below: bound, expecting: length)
    return SecureBytes(count: length) { password in
      var missing: UInt8
      repeat {
        missing = symbols ? 0b1111 : 0b0111
        for index in 0..<length {
          let place = source.next()
          password.set(characters[place], at: index)
          missing &= ~characterClass(place)
        }
      } while missing != 0
    }
  }

  /// A source of random places, all equally likely. The kernel is asked for the bytes of many places at once.
  private struct PlaceSource: ~Copyable {
    private let bound: Int
    private var bytes: SecureBytes
    private var used: Int

    /// - Parameter count: the number of places that will probably be needed.
    init(below bound: Int, expecting count: Int) {
      self.bound = bound
      bytes = SecureBytes(count: count)
      used = count
    }

    /// Returns a place below the bound. The bytes above the last whole multiple of the bound are passed over, because
    /// with them the first places would be likelier than the others.
    mutating func next() -> Int {
      while true {
        if used == bytes.count {
          bytes.withMutableBytes { RandomBytes.fill(&$0) }
          used = 0
        }
        let byte = bytes.withBytes { Int($0.byte(used)) }
        used += 1
        if byte < 256 - 256 % bound { return byte % bound }
      }
    }
  }

  /// Generates a phrase of words from the diceware list `WordList`, joined by `-`. Six words have 77 bits.
  ///
  /// - Throws: ``CryptoError/limits(_:)`` for a number of words outside ``phraseLengths``.
  public static func phrase(words: Int = 6) throws(CryptoError) -> SecureBytes {
    guard phraseLengths.contains(words) else { throw .limits("a phrase has 4 to 64 words") }
    var count = 0
    // The longest word has 9 characters.
    let longest = SecureBytes(count: words * 10) { phrase in
      for index in 0..<words {
        if index > 0 {
          phrase.set(UInt8(ascii: "-"), at: count)
          count += 1
        }
        for byte in WordList.word(Int(RandomBytes.uniform(below: UInt32(WordList.count)))) {
          phrase.set(byte, at: count)
          count += 1
        }
      }
    }
    return longest.withBytes { SecureBytes(copying: $0.extracting(first: count)) }
  }

  /// The class of the character at `place`, as one bit.
  private static func characterClass(_ place: Int) -> UInt8 {
    switch place {
    case ..<26: 1
    case ..<52: 2
    case ..<62: 4
    default: 8
    }
  }

  // No symbol has a meaning between double quotes, in a shell, in JSON or in a configuration file.
  private static let characters: [UInt8] = Array(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789#%&*+,-./:=?@^_~".utf8)
}
