/// The limits of one call that changes many items: it is one transaction, and others wait for the end of it, which is
/// some ten milliseconds on a small server.
///
/// One item alone is never too much.
public enum CallLimits {
  /// The most items.
  public static let items = 128
  /// The most folders and attributes of all of them, each of which has records of its own.
  public static let tags = 512
  /// The most bytes in the names and attributes of all of them.
  public static let text = 64 << 10

  /// The folders and attributes of an item, as they count.
  public static func tags(name: String, _ attributes: [String: String]?) -> Int {
    name.utf8.count { $0 == UInt8(ascii: "/") } + (attributes?.count ?? 0)
  }

  /// The bytes of an item's name and attributes, as they count.
  public static func text(name: String, _ attributes: [String: String]?) -> Int {
    (attributes ?? [:]).reduce(name.utf8.count) { $0 + $1.key.utf8.count + $1.value.utf8.count }
  }
}
