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
}
