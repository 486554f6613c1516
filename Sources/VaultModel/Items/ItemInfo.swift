/// One kept version of an item's value.
public struct VersionInfo: Hashable, Sendable {
  /// The number of the version, from 1 up; never used twice in one item.
  public var number: Int
  /// The time at which the version was stored, Unix seconds.
  public var created: Int64
  /// The value's size in bytes.
  public var size: Int
  /// The caller that stored the version, as the text of a ``Subject``; nil if not known.
  public var writer: String?

  /// Describes a version.
  public init(number: Int, created: Int64, size: Int, writer: String? = nil) {
    self.number = number
    self.created = created
    self.size = size
    self.writer = writer
  }
}

/// The moment at which an item was put into the trash.
public struct Trashed: Hashable, Sendable {
  /// The time of the deletion, Unix seconds.
  public var time: Int64
  /// The age of the trash of the item's access class at that moment, in seconds.
  public var age: Int64
  /// The number of the deletion, which the store uses only once: a later deletion has a higher number, whatever the
  /// clock says. 0 if an earlier program deleted the item.
  public var number: Int64

  /// Describes the moment.
  public init(time: Int64, age: Int64, number: Int64 = 0) {
    self.time = time
    self.age = age
    self.number = number
  }
}

/// The data of an item without its value, as a search returns it.
public struct ItemInfo: Hashable, Sendable {
  /// The name of the item.
  public var name: ItemName
  /// The kind of the item's value.
  public var kind: ItemKind
  /// The searchable strings, within the limits of ``Attributes``.
  public var attributes: [String: String]
  /// The conditions under which the value is served.
  public var policy: Policy
  /// The time at which the item was first stored, Unix seconds.
  public var created: Int64
  /// The time at which any data of the item last changed, Unix seconds.
  public var modified: Int64
  /// The time at which the current version stops being served, Unix seconds; `nil` means never.
  public var expires: Int64?
  /// The kept versions, newest last; never empty.
  public var versions: [VersionInfo]
  /// The moment at which the item was deleted; nil unless it is in the trash.
  public var trashed: Trashed?
  /// The caller that first stored the item, as the text of a ``Subject``; nil if not known.
  public var creator: String?
  /// The use of the item's key, if the kind does not determine it; see ``use``.
  public var statedUse: KeyUse?
  /// The public half of the key that is the current value, in SSH's form (RFC 4253 section 6.6); nil if there is none,
  /// or if an earlier program stored the key.
  public var publicKey: [UInt8]?
  /// The facts of a keyring's clients; nil if no such client has made the item.
  public var keyring: KeyringFacts?
  /// The item's identity, which a new name does not change; nil until a store has the item.
  public var id: ItemID?

  /// The only purpose of the item's key, which never changes; nil if the item is no key.
  public var use: KeyUse? { kind.use ?? statedUse }

  /// Describes an item.
  ///
  /// - Precondition: `versions` is not empty; a decoder checks that first.
  public init(
    name: ItemName, kind: ItemKind, attributes: [String: String], policy: Policy, created: Int64, modified: Int64,
    expires: Int64?, versions: [VersionInfo], trashed: Trashed? = nil, creator: String? = nil,
    statedUse: KeyUse? = nil, publicKey: [UInt8]? = nil, keyring: KeyringFacts? = nil
  ) {
    precondition(!versions.isEmpty, "an item has at least one version")
    self.name = name
    self.kind = kind
    self.attributes = attributes
    self.policy = policy
    self.created = created
    self.modified = modified
    self.expires = expires
    self.versions = versions
    self.trashed = trashed
    self.creator = creator
    self.statedUse = statedUse
    self.publicKey = publicKey
    self.keyring = keyring
  }

  /// The version that is served if the caller does not name one.
  public var current: VersionInfo { versions[versions.count - 1] }
}
