/// Numbers and sizes in words, as the rest of the program writes them.
enum KDBXWords {
  /// A number with a noun, whose plural adds an `s`, or an `es` after another one.
  static func counted(_ count: some BinaryInteger, _ noun: String) -> String {
    if count == 1 { return "1 \(noun)" }
    return "\(count) \(noun)\(noun.hasSuffix("s") ? "es" : "s")"
  }

  /// A size in bytes. The unit is the largest one for which the size is exactly 1, or at least 2.
  static func size(_ bytes: some BinaryInteger) -> String {
    let units: [(String, UInt64)] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]
    let bytes = UInt64(clamping: bytes)
    for (unit, size) in units where bytes >= 2 * size || bytes == size { return "\(bytes / size) \(unit)" }
    return counted(bytes, "byte")
  }
}
