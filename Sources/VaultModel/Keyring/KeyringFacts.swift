/// The facts that the clients of a keyring keep with an item, as the Secret Service (org.freedesktop.secrets) shows
/// them. An item that no such client has made has none.
///
/// They are encrypted in the store but shown in search results, as the item's own attributes are.
public struct KeyringFacts: Hashable, Sendable {
  /// The highest number of bytes in the label and all attributes together.
  public static let maximumBytes = KeyringAttributes.maximumBytes
  /// The longest content type, in bytes.
  public static let maximumContentTypeBytes = 255
  /// The times that another keyring can have given, in Unix seconds: up to the end of the year 9999.
  public static let times: ClosedRange<Int64> = 0...253_402_300_799

  /// The least distance between the places of two items that are made one after the other, so that an import finds
  /// room between them.
  public static let orderSpacing: UInt64 = 1 << 10

  /// The number by which the clients know the item.
  public var id: KeyringID
  /// The item's place among the results of a search: items with lower numbers come first. The number is given when the
  /// item is made or imported, and stays. A copy has one of its own.
  public var order: UInt64
  /// The text by which people know the item; any text without NUL, and not necessarily a single line.
  public var label: String
  /// The media type of the value, in whatever form a client gave it; may be empty.
  public var contentType: String
  /// The attributes by which clients find the item.
  public var attributes: KeyringAttributes
  /// The time at which the item was made in the keyring from which it was imported, Unix seconds; nil for an item that
  /// was made in this vault. The store's own times are those of this vault.
  public var created: Int64?
  /// The time at which the item was last changed there, Unix seconds; nil for an item that was made in this vault, and
  /// once these facts were changed in this vault. It says nothing once the item has another value than the imported
  /// one.
  public var modified: Int64?

  /// Describes the facts; ``validate()`` checks them.
  public init(
    id: KeyringID, order: UInt64, label: String = "", contentType: String = "",
    attributes: KeyringAttributes = KeyringAttributes(), created: Int64? = nil, modified: Int64? = nil
  ) {
    self.id = id
    self.order = order
    self.label = label
    self.contentType = contentType
    self.attributes = attributes
    self.created = created
    self.modified = modified
  }

  /// The number of bytes in the label, the content type and the attributes.
  public var textBytes: Int { label.utf8.count + contentType.utf8.count + attributes.textBytes }

  /// Checks the label and the content type, the size of the label with the attributes, and the times.
  ///
  /// - Throws: ``ValueError`` for a text with a NUL, one that is too long, or a time out of range.
  public func validate() throws(ValueError) {
    guard !label.utf8.contains(0) else { throw ValueError(reason: "the keyring label has a NUL in it") }
    guard !contentType.utf8.contains(0) else { throw ValueError(reason: "the content type has a NUL in it") }
    guard contentType.utf8.count <= Self.maximumContentTypeBytes else {
      throw ValueError(
        reason: "the content type has \(contentType.utf8.count) bytes, more than \(Self.maximumContentTypeBytes)")
    }
    let bytes = label.utf8.count + attributes.textBytes
    guard bytes <= Self.maximumBytes else {
      throw ValueError(reason: "the keyring label and attributes have \(bytes) bytes, more than \(Self.maximumBytes)")
    }
    guard [created, modified].allSatisfy({ $0.map(Self.times.contains) ?? true }) else {
      throw ValueError(reason: "a time of another keyring is out of range")
    }
  }

  /// The same facts under another number and at another place, for a copy of the item, which was made in this vault.
  public func copied(as id: KeyringID, order: UInt64) -> KeyringFacts {
    var facts = self
    (facts.id, facts.order, facts.created, facts.modified) = (id, order, nil, nil)
    return facts
  }

  // Labels and content types are the same only if their bytes are.
  public static func == (left: Self, right: Self) -> Bool {
    left.id == right.id && left.order == right.order && left.label.utf8.elementsEqual(right.label.utf8)
      && left.contentType.utf8.elementsEqual(right.contentType.utf8) && left.attributes == right.attributes
      && left.created == right.created && left.modified == right.modified
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    hasher.combine(order)
    hasher.combine(bytesOf: label)
    hasher.combine(bytesOf: contentType)
    hasher.combine(attributes)
    hasher.combine(created)
    hasher.combine(modified)
  }
}
