import VaultCore
public import VaultModel

/// A fact about an item, which a tag stands for. The domain numbers are part of the format.
enum Fact {
  case name(ItemName)
  case attribute(String, String)
  /// A path prefix of the name, without the slash at its end.
  case folder(String)
  case kind(ItemKind)
  /// The item is in the trash. Such an item has only one other fact: its name in the trash.
  case trash
  case trashedName(ItemName)
  /// An attribute of a keyring's clients, with its value.
  case keyringAttribute(String, String)
  /// The number by which a keyring's clients know the item.
  case keyringID(KeyringID)

  /// The tag of the fact under a class's tag key.
  func tag(_ key: borrowing SecureBytes) -> Tag {
    switch self {
    case .name(let name): Tag(domain: Tag.names, name.text, key: key)
    case .attribute(let name, let value): Tag(domain: 2, name, value, key: key)
    case .folder(let folder): Tag(domain: 3, folder, key: key)
    case .kind(let kind): Tag(domain: 4, kind.rawValue, key: key)
    case .trash: Tag(domain: 5, "", key: key)
    case .trashedName(let name): Tag(domain: 6, name.text, key: key)
    case .keyringAttribute(let name, let value): Tag(domain: 7, name, value, key: key)
    case .keyringID(let id): Tag(domain: 8, id.text, key: key)
    }
  }

  /// The name of the property that the fact is about, for a finding.
  var subject: String {
    switch self {
    case .name: "name"
    case .attribute: "attributes"
    case .folder: "folder"
    case .kind: "kind"
    case .trash: "place in the trash"
    case .trashedName: "name in the trash"
    case .keyringAttribute: "keyring attributes"
    case .keyringID: "keyring number"
    }
  }

  /// True when the fact holds for an item. This check detects a tag that leads to the wrong item.
  func holds(for item: ItemInfo) -> Bool {
    switch self {
    case .trash, .trashedName: if item.trashed == nil { return false }
    case .name, .attribute, .folder, .kind, .keyringAttribute, .keyringID: if item.trashed != nil { return false }
    }
    return switch self {
    case .trash: true
    case .name(let name), .trashedName(let name): item.name.text.hasSameBytes(as: name.text)
    case .attribute(let name, let value): item.attributes[name].map { $0.hasSameBytes(as: value) } ?? false
    case .folder(let folder): item.name.folders.contains { $0.hasSameBytes(as: folder) }
    case .kind(let kind): item.kind == kind
    case .keyringAttribute(let name, let value):
      item.keyring?.attributes[name].map { $0.hasSameBytes(as: value) } ?? false
    case .keyringID(let id): item.keyring?.id == id
    }
  }

  /// All facts by which an item can be found.
  static func all(_ item: ItemInfo) -> [Fact] {
    if item.trashed != nil { return [.trash, .trashedName(item.name)] }
    let facts =
      [.name(item.name), .kind(item.kind)] + item.name.folders.map(Fact.folder)
      + item.attributes.map { .attribute($0.key, $0.value) }
    guard let keyring = item.keyring else { return facts }
    return facts + [.keyringID(keyring.id)] + keyring.attributes.entries.map { .keyringAttribute($0.key, $0.value) }
  }
}

extension Keychain {
  /// The tags of a fact under the keys in memory, for a lookup of items.
  ///
  /// A class without items gets no tag: each tag that leads nowhere costs a walk down a tree, and in a large store a
  /// page from the disk.
  /// - Throws: ``VaultError/locked`` when no tag key is in memory.
  func tags(_ fact: Fact) throws(VaultError) -> ClassTags {
    guard AccessClass.allCases.contains(where: opensNames) else { throw .locked }
    func tag(_ accessible: AccessClass) -> Tag? {
      isVouchedFor[accessible] && facts[accessible]?.items == 0 ? nil : self.tag(fact, accessible)
    }
    return ClassTags(
      whenUnlocked: tag(.whenUnlocked), afterFirstUnlock: tag(.afterFirstUnlock), always: tag(.always))
  }

  /// True if items of a class lie in a folder, at any depth; true as well if nobody can tell now.
  public func hasItems(of accessible: AccessClass, in folder: String) -> Bool {
    guard let tag = tag(.folder(folder), accessible) else { return true }
    func own(_ other: AccessClass) -> Tag? { other == accessible ? tag : nil }
    let tags = ClassTags(
      whenUnlocked: own(.whenUnlocked), afterFirstUnlock: own(.afterFirstUnlock), always: own(.always))
    return (try? database.count(tagged: tags, limit: 1)) != 0
  }

  /// The tags that lead to an item, under the tag key of its class.
  func tags(of item: ItemInfo) throws(VaultError) -> Set<Tag> {
    try withKeys(item.policy.accessible) { (keys: borrowing ClassKeys) throws(VaultError) in
      switch keys.tags {
      case .some(let key): return Set(Fact.all(item).map { $0.tag(key) })
      case .none: throw .locked
      }
    }
  }

  /// The tag of a fact in one class; nil when the key of the class is not in memory.
  func tag(_ fact: Fact, _ accessible: AccessClass) -> Tag? {
    withKeys(accessible) { (keys: borrowing ClassKeys) in
      switch keys.tags {
      case .some(let key): fact.tag(key)
      case .none: nil
      }
    }
  }
}
