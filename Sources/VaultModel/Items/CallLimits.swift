/// The limits of one call that changes many items. Such a call is one transaction, and other calls wait until it ends,
/// which takes some ten milliseconds on a small server.
///
/// A single item is always allowed.
public enum CallLimits {
  /// The highest number of items that one call stores.
  public static let items = 384
  /// The highest number of items that one call deletes.
  public static let deletions = 128
  /// The highest total number of bytes in the names and attributes of the items, and in their facts for a keyring.
  public static let text = 64 << 10
  /// The longest time for storing or deleting the items of a call, in microseconds: the sum of the times below, which
  /// were measured on one core of a small server.
  public static let time = 9000
  /// The time for making an item.
  public static let timeOfItem = 12
  /// The further time for an item that may be there already, because the change allows that, or that is deleted.
  public static let timeOfExisting = 32
  /// The time for a folder or an attribute of an item, because each has records of its own.
  public static let timeOfTag = 4
  /// The time for sealing an older version of a value again, which a change of the policy does.
  public static let timeOfVersion = 9
  /// The number of steps of comparisons that take one microsecond. An administrator's new items are compared with the
  /// patterns of grants, to tell who else has rights on them.
  ///
  /// A comparison of a name with a pattern takes ``stepsOfComparison`` and, at most, ``ItemPattern/steps(for:)``. To
  /// find the names in the folder of a pattern takes ``stepsOfComparison``, and ``stepsOfFolder`` for each byte of the
  /// folder.
  public static let steps = 200
  public static let stepsOfComparison = 30
  public static let stepsOfFolder = 2

  /// The time for the folders and attributes of an item, in microseconds. The attributes of a keyring's clients count
  /// as well, and so does the number that these clients have for the item.
  public static func time(name: String, _ attributes: [String: String]?, _ keyring: KeyringFacts? = nil) -> Int {
    let ofKeyring = keyring.map { 1 + $0.attributes.entries.count } ?? 0
    return timeOfTag * (name.utf8.count { $0 == UInt8(ascii: "/") } + (attributes?.count ?? 0) + ofKeyring)
  }

  /// The number of bytes of an item's name, attributes and facts for a keyring, as counted against ``text``.
  public static func text(name: String, _ attributes: [String: String]?, _ keyring: KeyringFacts? = nil) -> Int {
    let own = (attributes ?? [:]).reduce(name.utf8.count) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    return own + (keyring?.textBytes ?? 0)
  }
}
