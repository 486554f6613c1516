extension [UInt8] {
  /// The bytes in hexadecimal digits, two lower case ones for each.
  package var hex: String {
    let digits = [Character]("0123456789abcdef")
    return String(flatMap { byte in [digits[Int(byte >> 4)], digits[Int(byte & 15)]] })
  }
}
