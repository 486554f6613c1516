/// The limits on an item's attributes, the searchable strings kept beside its value.
///
/// Attributes are encrypted in the store but shown in search results: never put secrets into them.
public enum Attributes {
  /// The highest number of attributes of an item.
  public static let maximumCount = 64
  /// The longest key, in bytes.
  public static let maximumKeyBytes = 128
  /// The longest value, in bytes.
  public static let maximumValueBytes = 1024

  /// The words of the query language that refer to the item itself, and so cannot be keys of attributes.
  public static let builtInKeys: Set<String> = [
    "name", "kind", "accessible", "require", "expires", "created", "modified", "version", "size", "creator", "writer",
  ]

  /// Further names of fields that readers take for something other than an attribute, besides ``builtInKeys``. Items
  /// that other programs have stored may have attributes of these names.
  public static let fieldKeys: Set<String> = ["value", "uri", "reuse"]

  /// The prefix of a field's name that always denotes an attribute, whatever other fields exist.
  private static let fieldPrefix = "attr:"

  /// The name of the field that always denotes the attribute `key`.
  public static func field(ofKey key: String) -> String { fieldPrefix + key }

  /// The attribute that a field such as `attr:owner` denotes; nil for a field of another form.
  public static func key(ofField field: String) -> String? {
    field.utf8.starts(with: fieldPrefix.utf8) ? String(field.dropFirst(fieldPrefix.count)) : nil
  }

  /// True if a field of that name would not denote the attribute `key`.
  public static func isHidden(_ key: String) -> Bool {
    fieldKeys.contains(key) || builtInKeys.contains(key) || self.key(ofField: key) != nil
  }

  /// Checks the key of an attribute that a person gives to an item.
  public static func checkNew(_ key: String) throws(ValueError) {
    try validate(key: key)
    if fieldKeys.contains(key) {
      throw ValueError(reason: "'\(key)' is a field of every item, so no attribute of that name would be seen")
    }
    if self.key(ofField: key) != nil {
      throw ValueError(
        reason: "'\(fieldPrefix)' selects an attribute, so no attribute's name may begin with it")
    }
  }

  /// Checks keys, values and their number.
  ///
  /// - Throws: ``ValueError`` that names the key at fault.
  public static func validate(_ attributes: [String: String]) throws(ValueError) {
    // To sort an empty dictionary would take longer than the other checks of most values.
    if attributes.isEmpty { return }
    if attributes.count > maximumCount {
      throw ValueError(reason: "there are \(attributes.count) attributes, more than \(maximumCount)")
    }
    // Sorted, so that the same attributes always give the same message.
    for (key, value) in attributes.sorted(by: { $0.key < $1.key }) {
      try validate(key: key)
      if value.utf8.count > maximumValueBytes {
        throw ValueError(reason: "attribute '\(key)' has \(value.utf8.count) bytes, more than \(maximumValueBytes)")
      }
      if value.unicodeScalars.contains(where: \.isControl) {
        throw ValueError(reason: "attribute '\(key)' has a control character in it")
      }
    }
  }

  /// Checks one key.
  public static func validate(key: String) throws(ValueError) {
    if key.isEmpty { throw ValueError(reason: "an attribute has no name") }
    if key.utf8.count > maximumKeyBytes {
      throw ValueError(reason: "an attribute's name has \(key.utf8.count) bytes, more than \(maximumKeyBytes)")
    }
    if !key.utf8.allSatisfy(isKeyByte) {
      throw ValueError(reason: "an attribute's name has something other than letters, digits, '.', '_', '-' and ':'")
    }
    if builtInKeys.contains(key) { throw ValueError(reason: "'\(key)' is a property of every item, not an attribute") }
  }

  /// True if `byte` may occur in a key. The colon is for keys of other keyrings, such as `xdg:schema`.
  static func isKeyByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"),
      UInt8(ascii: ":"):
      true
    default: false
    }
  }
}
