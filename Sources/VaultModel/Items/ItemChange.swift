/// The origin of a value to be stored. Only the vault itself may ever have known a key that is never read.
public enum ValueOrigin: Hashable, Sendable {
  /// A caller gave the value.
  case given
  /// The vault generated the value.
  case generated
  /// The value is that of another item, whose policies come with it.
  case copied
}

/// A change of one item, or a new item. A field that is `nil` keeps its old content, or gets the default in a new item.
public struct ItemChange: Hashable, Sendable {
  public var name: ItemName
  /// The kind. A new item is a ``ItemKind/password`` by default, or has the kind that its ``use`` requires.
  public var kind: ItemKind?
  /// The use of a new item's key, which never changes.
  public var use: KeyUse?
  /// The attributes, which replace all earlier ones; a new item has none by default.
  public var attributes: [String: String]?
  /// The facts of a keyring's clients, which replace all earlier ones; a new item has none by default.
  public var keyring: KeyringFacts?
  /// The access class; ``AccessClass/whenUnlocked`` for a new item by default.
  public var accessible: AccessClass?
  /// The required proof of presence; none for a new item by default.
  public var require: Requirement?
  /// The reuse window in seconds; 60 for a new item by default.
  public var reuseWindow: UInt32?
  /// True for a key that is used but never revealed; a new item can be read by default. It never changes.
  public var neverRead: Bool?
  /// The origin of the value that comes with the change.
  public var origin: ValueOrigin
  /// The time at which the item stops being served, Unix seconds; `.some(nil)` means never. If it is left out, an
  /// expiry that was set by hand stays, unless it has passed and the value is new; otherwise the value's own end of
  /// validity (a certificate's) counts.
  public var expires: Int64??
  /// The caller that makes the change, as the text of a ``Subject``; nil if not known.
  public var author: String?
  /// True if an existing item may be changed; a new item may be created in either case.
  public var update: Bool

  /// Describes a change; without further arguments, one that sets only the value.
  public init(
    name: ItemName, kind: ItemKind? = nil, use: KeyUse? = nil, attributes: [String: String]? = nil,
    keyring: KeyringFacts? = nil, accessible: AccessClass? = nil, require: Requirement? = nil,
    reuseWindow: UInt32? = nil, neverRead: Bool? = nil, origin: ValueOrigin = .given, expires: Int64?? = .none,
    author: String? = nil, update: Bool = false
  ) {
    self.name = name
    self.kind = kind
    self.use = use
    self.attributes = attributes
    self.keyring = keyring
    self.accessible = accessible
    self.require = require
    self.reuseWindow = reuseWindow
    self.neverRead = neverRead
    self.origin = origin
    self.expires = expires
    self.author = author
    self.update = update
  }

  /// True if the change sets any of the item's policies.
  public var changesPolicy: Bool { accessible != nil || require != nil || reuseWindow != nil }

  /// True if the change sets anything besides the value.
  public var changesMoreThanValue: Bool {
    changesPolicy || neverRead != nil || kind != nil || use != nil || attributes != nil || keyring != nil
      || expires != nil
  }

  /// The kind of a new item.
  public var newKind: ItemKind {
    if let kind { return kind }
    guard let use else { return .password }
    return use.kind ?? .blob
  }

  /// Checks that the change keeps the use of an existing item; a key also keeps its kind. An item that is no key may
  /// become a key, if its new kind consists of keys only.
  ///
  /// - Throws: ``ValueError`` if the change would alter the use.
  public func checkUse(of item: ItemInfo) throws(ValueError) {
    guard let own = item.use else {
      guard use == nil || use == kind?.use else {
        throw ValueError(reason: "the use of an item never changes, and this one is not a key")
      }
      return
    }
    guard use == nil || use == own, kind == nil || kind?.use == nil || kind?.use == own else {
      throw ValueError(reason: "the use of an item never changes, and this one is for \(own.name)")
    }
    guard kind == nil || kind == item.kind else {
      throw ValueError(
        reason: "the kind of a key never changes, and this one is of kind \(item.kind.rawValue), for \(own.name)")
    }
  }

  /// Checks that the change does not alter whether the item can be read.
  ///
  /// - Throws: ``ValueError`` if it would.
  public func checkReading(of item: ItemInfo) throws(ValueError) {
    guard neverRead == nil || neverRead == item.policy.isNeverRead else {
      let isUnread = item.policy.isNeverRead
      throw ValueError(
        reason: isUnread
          ? "an item that is never read stays so" : "an item that could be read cannot become never read")
    }
  }

  /// Checks that a never-read item is a key that the vault generated or copied, for a use in which nobody outside the
  /// vault needs the key itself; see ``KeyUse/Facts/mayBeNeverRead``.
  ///
  /// - Parameter use: The use of the new item.
  /// - Throws: ``ValueError`` if it is something else.
  public func checkNeverRead(_ use: KeyUse?) throws(ValueError) {
    guard neverRead == true else { return }
    guard use?.facts.mayBeNeverRead == true else {
      throw ValueError(reason: "only a key that is generated for ssh, jwt, mac or sign can be never read")
    }
    switch origin {
    case .generated, .copied: break
    case .given: throw ValueError(reason: "a key that is never read is generated, so that nobody has read it before")
    }
  }

  /// The item after the change, except for the expiry, which can depend on the value and is left to the caller.
  public func applied(to item: ItemInfo) -> ItemInfo {
    var item = item
    if let kind { item.kind = kind }
    if let attributes { item.attributes = attributes }
    // After a change in this vault, the time of the last change elsewhere means nothing.
    if let keyring { item.keyring = keyring } else { item.keyring?.modified = nil }
    if let accessible { item.policy.accessible = accessible }
    if let require { item.policy.require = require }
    if let reuseWindow { item.policy.reuseWindow = reuseWindow }
    return item
  }
}
