/// The name of an environment variable that every shell accepts: letters, digits and underscores, with no digit first.
enum VariableName {
  static func isValid(_ name: some Collection<UInt8>) -> Bool {
    guard let first = name.first, !isDigit(first) else { return false }
    return name.allSatisfy(isPart)
  }

  static func isPart(_ byte: UInt8) -> Bool {
    isDigit(byte) || byte == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
