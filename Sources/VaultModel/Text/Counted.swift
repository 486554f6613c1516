/// A number of things in words: `1 item`, `2 items`.
public enum Counted {
  /// Returns the number with the noun.
  ///
  /// - Parameter noun: The singular; the plural adds an `s`, or changes a final `y` to `ies`.
  public static func text(_ count: some BinaryInteger, _ noun: String) -> String {
    if count == 1 { return "1 \(noun)" }
    // A y after a vowel, as in "day", stays.
    let endsInVowel = noun.dropLast().last.map { "aeiou".contains($0) } ?? false
    return noun.hasSuffix("y") && !endsInVowel ? "\(count) \(noun.dropLast())ies" : "\(count) \(noun)s"
  }

  /// A size in bytes for a person. The unit is the largest one for which the size is exactly 1, or at least 2.
  public static func size(_ bytes: Int) -> String {
    for (unit, size) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]
    where bytes >= 2 * size || bytes == size {
      return "\(bytes / size) \(unit)"
    }
    return text(bytes, "byte")
  }
}
