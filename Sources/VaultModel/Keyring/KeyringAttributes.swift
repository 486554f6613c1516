/// The attributes by which the clients of a keyring find an item. They have limits and names of their own, apart from
/// the item's ``Attributes``: any text without NUL is a key or a value, even an empty one or one with line breaks.
///
/// Two keys are the same only if their bytes are the same. Swift's own comparison, which takes differently composed
/// characters for equal, decides nothing here.
public struct KeyringAttributes: Hashable, Sendable {
  /// The highest number of attributes of an item.
  public static let maximumCount = 256
  /// The highest number of bytes in all keys and values of an item together, which its label shares
  /// (``KeyringFacts``).
  public static let maximumBytes = 65_536

  /// One key with its value.
  public struct Entry: Hashable, Sendable {
    public let key: String
    public let value: String

    /// Makes an entry; the text is checked where entries are put together.
    public init(key: String, value: String) { (self.key, self.value) = (key, value) }

    public static func == (left: Self, right: Self) -> Bool {
      left.key.utf8.elementsEqual(right.key.utf8) && left.value.utf8.elementsEqual(right.value.utf8)
    }

    public func hash(into hasher: inout Hasher) {
      hasher.combine(bytesOf: key)
      hasher.combine(bytesOf: value)
    }
  }

  /// The attributes, in ascending order of their keys' bytes.
  public let entries: [Entry]

  /// Makes an empty set of attributes.
  public init() { entries = [] }

  /// Takes attributes in any order.
  ///
  /// - Throws: ``ValueError`` for a key that occurs twice, a NUL, too many attributes, or too many bytes.
  public init(_ attributes: some Sequence<(key: String, value: String)>) throws(ValueError) {
    let entries = attributes.map { Entry(key: $0.key, value: $0.value) }
    if entries.count > Self.maximumCount {
      throw ValueError(reason: "there are \(entries.count) keyring attributes, more than \(Self.maximumCount)")
    }
    let sorted = entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    for (one, next) in zip(sorted, sorted.dropFirst()) where one.key.utf8.elementsEqual(next.key.utf8) {
      throw ValueError(reason: "a keyring attribute is given twice")
    }
    try Self.checkTexts(sorted)
    self.entries = sorted
  }

  /// Takes attributes that must be in ascending order already, as a record holds them.
  ///
  /// - Throws: ``ValueError`` for attributes in another order, and as ``init(_:)`` does.
  package init(ascending entries: [Entry]) throws(ValueError) {
    guard entries.count <= Self.maximumCount else { throw ValueError(reason: "there are too many keyring attributes") }
    for (one, next) in zip(entries, entries.dropFirst()) {
      guard one.key.utf8.lexicographicallyPrecedes(next.key.utf8) else {
        throw ValueError(reason: "keyring attributes are out of order")
      }
    }
    try Self.checkTexts(entries)
    self.entries = entries
  }

  private static func checkTexts(_ entries: [Entry]) throws(ValueError) {
    guard entries.allSatisfy({ !$0.key.utf8.contains(0) && !$0.value.utf8.contains(0) }) else {
      throw ValueError(reason: "a keyring attribute has a NUL in it")
    }
    let bytes = textBytes(entries)
    guard bytes <= maximumBytes else {
      throw ValueError(reason: "the keyring attributes have \(bytes) bytes, more than \(maximumBytes)")
    }
  }

  /// The number of bytes in all keys and values.
  public var textBytes: Int { Self.textBytes(entries) }

  private static func textBytes(_ entries: [Entry]) -> Int {
    entries.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
  }

  /// The value of the key with exactly these bytes; nil if there is none.
  public subscript(key: String) -> String? {
    entries.first { $0.key.utf8.elementsEqual(key.utf8) }?.value
  }

  /// True if each attribute of `others` is here with exactly that value; always true if there are no others.
  public func contains(_ others: KeyringAttributes) -> Bool {
    // Both are in the same order, so one pass suffices.
    var rest = entries[...]
    for wanted in others.entries {
      guard let place = rest.firstIndex(of: wanted) else { return false }
      rest = rest[(place + 1)...]
    }
    return true
  }
}
