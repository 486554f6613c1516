/// The reason that a new password of the vault is too easy to guess, found without making a copy of the password.
public enum Weakness: Equatable, Sendable {
  /// The password has only this number of characters.
  case short(Int)
  /// The password is one of the ``CommonPasswords``, perhaps followed by a few digits or signs, or with signs
  /// in place of letters.
  case common
  /// The password repeats a few characters, or counts up or down.
  case pattern

  /// The lowest number of characters, counted as Unicode scalars, because their combination depends on the font.
  public static let shortest = 8
  /// The highest number of digits and signs after a common word with which the password still counts as that word.
  private static let tail = 4
  /// The highest number of characters whose repetition adds nothing to a password.
  private static let unit = 4

  /// Finds the most important weakness of `password`; nil if there is none.
  public init?(of password: RawSpan) {
    let bytes = Span<UInt8>(_bytes: password)
    let count = bytes.indices.count { bytes[$0] & 0xC0 != 0x80 }
    if count < Self.shortest {
      self = .short(count)
    } else if Self.isCommon(bytes) {
      self = .common
    } else if Self.isRepetition(bytes) || Self.isSequence(bytes) {
      self = .pattern
    } else {
      return nil
    }
  }

  /// The reason as one sentence for a person.
  public var text: String {
    switch self {
    case .short(let count): "a password must be at least \(Self.shortest) characters; this one has \(count)"
    case .common: "that password is among those that attackers try first"
    case .pattern: "a password must not just repeat or count"
    }
  }

  private static func isCommon(_ bytes: Span<UInt8>) -> Bool {
    let base = bytes.indices.last { isLetter(lower(bytes[$0])) }.map { $0 + 1 } ?? bytes.count
    return CommonPasswords.contains { word in
      let fits = word.count == bytes.count || (word.count == base && bytes.count - base <= tail)
      // Some of the words contain digits themselves.
      return fits && (0..<word.count).allSatisfy { word[$0] == lower(bytes[$0]) || word[$0] == letter(bytes[$0]) }
    }
  }

  private static func isRepetition(_ bytes: Span<UInt8>) -> Bool {
    (1...max(unit, bytes.count / 2)).contains { period in
      guard (period..<bytes.count).allSatisfy({ bytes[$0] == bytes[$0 - period] }) else { return false }
      // A good password typed twice is still good.
      if period <= unit { return true }
      let part = unsafe bytes.extracting(0..<period).bytes
      return Weakness(of: part) != nil
    }
  }

  private static func isSequence(_ bytes: Span<UInt8>) -> Bool {
    [1, -1].contains { step in (1..<bytes.count).allSatisfy { Int(bytes[$0]) - Int(bytes[$0 - 1]) == step } }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }

  private static func lower(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  /// The letter in whose place a digit or sign is often typed.
  private static func letter(_ byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "@"), UInt8(ascii: "4"): UInt8(ascii: "a")
    case UInt8(ascii: "3"): UInt8(ascii: "e")
    case UInt8(ascii: "1"), UInt8(ascii: "!"): UInt8(ascii: "i")
    case UInt8(ascii: "0"): UInt8(ascii: "o")
    case UInt8(ascii: "$"), UInt8(ascii: "5"): UInt8(ascii: "s")
    case UInt8(ascii: "7"): UInt8(ascii: "t")
    default: lower(byte)
    }
  }
}
