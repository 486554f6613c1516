/// An item of another keyring, without its value, that is to be stored in this vault.
public struct ForeignItem: Sendable {
  /// The attribute by which libsecret tells kinds of items apart. GNOME Keyring adds it to items that lack it, but not
  /// at once.
  public static let schema = "xdg:schema"

  /// The collection here that takes the item in; nil while there is none yet.
  public let collection: CollectionID?
  /// The path by which the other keyring knows the item.
  public let source: String
  /// The facts of the item in the other keyring, except the number and the order, which this vault gives it.
  public let facts: KeyringFacts

  /// Describes an item.
  public init(in collection: CollectionID?, from source: String, _ facts: KeyringFacts) {
    (self.collection, self.source, self.facts) = (collection, source, facts)
  }

  /// True if an item of the vault still has the label and the attributes that this one has.
  public func isLike(_ other: KeyringFacts) -> Bool {
    func plain(_ attributes: KeyringAttributes) -> [KeyringAttributes.Entry] {
      attributes.entries.filter { !$0.key.utf8.elementsEqual(Self.schema.utf8) }
    }
    return facts.label.utf8.elementsEqual(other.label.utf8) && plain(facts.attributes) == plain(other.attributes)
  }
}

/// The fate of an item of another keyring.
public enum ImportOutcome: String, CaseIterable, Sendable {
  /// The item is stored as a new item.
  case new
  /// The item is stored as a new item beside another one that has the same attributes.
  case beside
  /// An identical item is in the vault, so nothing is stored.
  case present
  /// An earlier import has stored the item, so nothing is stored, even if the item in the vault was changed since.
  case known
}
