/// The number by which the clients of a keyring know an item: the last element of the item's path on the bus, as 16
/// lowercase hexadecimal digits.
///
/// A change of the item's name, label or value keeps the number. A copy of the item gets another one.
public struct KeyringID: Hashable, Sendable {
  /// The number of digits.
  public static let count = 16
  /// The number that the digits write.
  public let number: UInt64

  /// Makes an identity from its number.
  public init(number: UInt64) { self.number = number }

  /// Reads the digits; nil for any other text, including capital letters and fewer digits.
  public init?(_ text: String) {
    guard text.utf8.count == Self.count else { return nil }
    var number: UInt64 = 0
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(byte - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
    self.number = number
  }

  /// The digits.
  public var text: String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: Self.count - digits.utf8.count) + digits
  }
}
