/// The key of an attribute as a word and a number, such as `url` and 2 for `url-2`.
///
/// An import numbers the fields of one meaning, and a format has other names for keys that mean something to its
/// programs, with an underscore after them. So the keys of one family stand for each other.
struct AttributeFamily: Comparable {
  /// The key without the number, and without an underscore at its end.
  let word: String
  private let number: Int

  init(_ key: String) {
    var (word, number) = (key[...], 1)
    if let dash = key.utf8.lastIndex(of: UInt8(ascii: "-")), let given = Int(key[key.utf8.index(after: dash)...]),
      given > 1
    {
      (word, number) = (key[..<dash], given)
    }
    if word.utf8.last == UInt8(ascii: "_"), word.utf8.count > 1 { word = word.dropLast() }
    (self.word, self.number) = (String(word), number)
  }

  static func < (one: Self, other: Self) -> Bool {
    if one.word.utf8.elementsEqual(other.word.utf8) { return one.number < other.number }
    return one.word.utf8.lexicographicallyPrecedes(other.word.utf8)
  }
}
