/// A number of things in words: `1 item`, `2 items`.
public enum Counted {
  /// - Parameter noun: for one of them; more of them have an `s` at its end, or a `y` there that becomes `ies`.
  public static func text(_ count: some BinaryInteger, _ noun: String) -> String {
    if count == 1 { return "1 \(noun)" }
    // The y of "day" stays.
    let endsInVowel = noun.dropLast().last.map { "aeiou".contains($0) } ?? false
    return noun.hasSuffix("y") && !endsInVowel ? "\(count) \(noun.dropLast())ies" : "\(count) \(noun)s"
  }
}
