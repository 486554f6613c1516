/// One kept version of an item's value.
public struct VersionInfo: Hashable, Sendable {
  /// Counts up from 1; never used twice in one item.
  public var number: Int
  /// The time at which it was stored, Unix seconds.
  public var created: Int64
  /// The value's size in bytes.
  public var size: Int
  /// The caller that stored it, as the text of a ``Subject``; nil where that was not known.
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
  /// Unix seconds.
  public var time: Int64
  /// The age that its store's trash had then, in seconds.
  public var age: Int64
  /// A number that its store has given to nothing before: of two deletions the later one has the higher, whatever the
  /// clock says. 0 where an earlier program deleted the item.
  public var number: Int64

  /// Describes the moment.
  public init(time: Int64, age: Int64, number: Int64 = 0) {
    self.time = time
    self.age = age
    self.number = number
  }
}

/// Everything about an item but its value: what a search answers with.
public struct ItemInfo: Hashable, Sendable {
  /// Its name.
  public var name: ItemName
  /// The kind of its value.
  public var kind: ItemKind
  /// Searchable strings, within the limits of ``Attributes``.
  public var attributes: [String: String]
  /// The conditions under which the value is served.
  public var policy: Policy
  /// The time at which the item was first stored, Unix seconds.
  public var created: Int64
  /// The time at which anything about it last changed, Unix seconds.
  public var modified: Int64
  /// The time at which the current version stops being served, Unix seconds; `nil` means never.
  public var expires: Int64?
  /// The versions that are kept, newest last; never empty.
  public var versions: [VersionInfo]
  /// The moment at which it was deleted; nil unless it is in the trash.
  public var trashed: Trashed?
  /// The caller that stored the item first, as the text of a ``Subject``; nil where that was not known.
  public var creator: String?
  /// The use of its key where the kind does not tell it; see ``use``.
  public var statedUse: KeyUse?
  /// The public half of the key that is its current value, in SSH's form (RFC 4253 section 6.6); nil where it has none, or an
  /// earlier program stored it.
  public var publicKey: [UInt8]?
  /// The item's identity, which stays when it gets another name; nil before a store has it.
  public var id: ItemID?

  /// The one thing that its key is made for, which never changes; nil for what is no key.
  public var use: KeyUse? { kind.use ?? statedUse }

  /// Describes an item.
  ///
  /// - Precondition: `versions` is not empty; a decoder checks that before it comes here.
  public init(
    name: ItemName, kind: ItemKind, attributes: [String: String], policy: Policy, created: Int64, modified: Int64,
    expires: Int64?, versions: [VersionInfo], trashed: Trashed? = nil, creator: String? = nil,
    statedUse: KeyUse? = nil, publicKey: [UInt8]? = nil
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
  }

  /// The version that is served when none is asked for.
  public var current: VersionInfo { versions[versions.count - 1] }
}
