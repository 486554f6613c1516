/// The limits of one call that changes many items. Such a call is one transaction, and other calls wait until it ends,
/// which takes some ten milliseconds on a small server.
///
/// A single item is always allowed.
public enum CallLimits {
  /// The highest number of items.
  public static let items = 128
  /// The highest total number of folders and attributes of the items, because each has records of its own.
  public static let tags = 512
  /// The highest total number of bytes in the names and attributes of the items.
  public static let text = 64 << 10

  /// The number of folders and attributes of an item, as counted against ``tags``.
  public static func tags(name: String, _ attributes: [String: String]?) -> Int {
    name.utf8.count { $0 == UInt8(ascii: "/") } + (attributes?.count ?? 0)
  }

  /// The number of bytes of an item's name and attributes, as counted against ``text``.
  public static func text(name: String, _ attributes: [String: String]?) -> Int {
    (attributes ?? [:]).reduce(name.utf8.count) { $0 + $1.key.utf8.count + $1.value.utf8.count }
  }
}
