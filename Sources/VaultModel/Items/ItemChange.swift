/// The origin of a value that is stored: of a key that is never read nobody but the vault itself may have known it.
public enum ValueOrigin: Hashable, Sendable {
  /// Somebody gave it.
  case given
  /// The vault made it.
  case generated
  /// It is that of another item, whose policies come with it.
  case copied
}

/// A change of one item, or a new one. A field that is `nil` keeps its old content, or gets the default in a new item.
public struct ItemChange: Hashable, Sendable {
  public var name: ItemName
  /// New items are a ``ItemKind/password``, or what goes with their ``use``.
  public var kind: ItemKind?
  /// The use of a new item's key, which never changes.
  public var use: KeyUse?
  /// Replaces all attributes; new items have none.
  public var attributes: [String: String]?
  /// New items are ``AccessClass/whenUnlocked``.
  public var accessible: AccessClass?
  /// New items require nothing.
  public var require: Requirement?
  /// In seconds; new items have 60.
  public var reuseWindow: UInt32?
  /// True for a key that is used and never told; new items can be read. It never changes.
  public var neverRead: Bool?
  /// The origin of the value that comes with the change.
  public var origin: ValueOrigin
  /// The time at which the item stops being served, Unix seconds: `.some(nil)` means never. Left out, a new value's own end of
  /// validity (a certificate's) counts, then the old expiry, unless it has passed.
  public var expires: Int64??
  /// The caller that makes the change, as the text of a ``Subject``; nil where that is not known.
  public var author: String?
  /// True when an existing item may be changed; a new one is made in any case.
  public var update: Bool

  /// A change that sets nothing but the value.
  public init(
    name: ItemName, kind: ItemKind? = nil, use: KeyUse? = nil, attributes: [String: String]? = nil,
    accessible: AccessClass? = nil, require: Requirement? = nil, reuseWindow: UInt32? = nil,
    neverRead: Bool? = nil, origin: ValueOrigin = .given, expires: Int64?? = .none, author: String? = nil,
    update: Bool = false
  ) {
    self.name = name
    self.kind = kind
    self.use = use
    self.attributes = attributes
    self.accessible = accessible
    self.require = require
    self.reuseWindow = reuseWindow
    self.neverRead = neverRead
    self.origin = origin
    self.expires = expires
    self.author = author
    self.update = update
  }

  /// True when it says something of the item's policies.
  public var changesPolicy: Bool { accessible != nil || require != nil || reuseWindow != nil }

  /// True when it says something of the item beside its value.
  public var changesMoreThanValue: Bool {
    changesPolicy || neverRead != nil || kind != nil || use != nil || attributes != nil || expires != nil
  }

  /// The kind of a new item.
  public var newKind: ItemKind {
    if let kind { return kind }
    guard let use else { return .password }
    return use.kind ?? .blob
  }

  /// Checks that the change leaves the use of an existing item: a key keeps its kind, too. What is no key may become one, of a
  /// kind whose items all are keys.
  ///
  /// - Throws: ``ValueError`` when it would change the use.
  public func checkUse(of item: ItemInfo) throws(ValueError) {
    guard let own = item.use else {
      guard use == nil || use == kind?.use else {
        throw ValueError(reason: "the use of an item never changes, and this one is no key")
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

  /// Checks that the change leaves an item as readable as it is.
  ///
  /// - Throws: ``ValueError`` when it would change that.
  public func checkReading(of item: ItemInfo) throws(ValueError) {
    guard neverRead == nil || neverRead == item.policy.isNeverRead else {
      throw ValueError(
        reason: item.policy.isNeverRead
          ? "an item that is never read stays so" : "what could be read once cannot become never read; make a new item")
    }
  }

  /// Checks that what is never read is a key that the vault has made, for a use that its public half or its codes need nobody
  /// else for.
  ///
  /// - Parameter use: that of the new item.
  /// - Throws: ``ValueError`` when it is something else.
  public func checkNeverRead(_ use: KeyUse?) throws(ValueError) {
    guard neverRead == true else { return }
    switch use {
    case .ssh, .jwt, .mac, .sign: break
    case .totp, nil:
      throw ValueError(reason: "what is never read is a key that is generated for ssh, jwt, mac or sign")
    }
    switch origin {
    case .generated, .copied: break
    case .given: throw ValueError(reason: "a key that is never read is generated, so that nobody has read it before")
    }
  }

  /// The item after the change; the expiry, which can depend on the value, is left to the caller.
  public func applied(to item: ItemInfo) -> ItemInfo {
    var item = item
    if let kind { item.kind = kind }
    if let attributes { item.attributes = attributes }
    if let accessible { item.policy.accessible = accessible }
    if let require { item.policy.require = require }
    if let reuseWindow { item.policy.reuseWindow = reuseWindow }
    return item
  }
}
