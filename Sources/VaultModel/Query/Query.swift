/// A search for items: predicates separated by white space, all of which must hold. An empty query matches everything.
///
/// | predicate | holds if |
/// |---|---|
/// | `owner=ana`, `owner!=ana` | the attribute has that value; or has another value, or is absent |
/// | `owner~a*` | the attribute exists and matches: `*` within a path segment, `**` across, `?` one character |
/// | `name=a/b`, `name~iot/*`, `kind=totp`, `accessible=always`, `require!=none` | the same for the item itself |
/// | `expires<7d`, `expires<2027-01-01` | the item has expired, or will within 7 days, or before that date |
/// | `expires>7d` | it expires later than that; an item without an expiry never matches: `expires=never` finds it |
/// | `created<7d`, `modified>30d` | it is less, or more, than that long ago |
/// | `created<2027-01-01` | it was before that date |
/// | `creator=unit:iothome.service`, `writer!=user:ana` | that caller stored the item first, or its current version |
/// | `version>3`, `size<64k` | the current version's number or size; `k` and `m` mean 1024 and 1024² bytes |
/// | `keyring:label~My*`, `keyring:server=a.org` | the same for what the client of a keyring keeps with the item |
/// | `express` | the name contains that text, like `name~**express**`, or the label of a keyring's client does |
///
/// Values may be quoted: `owner="ana maria"`, with `\"` and `\\` inside.
public struct Query: Hashable, Sendable {
  /// The longest query in bytes.
  public static let maximumBytes = 4096
  /// The highest number of predicates in a query.
  public static let maximumPredicates = 64

  /// True if the query searches the items in the trash, and only those.
  public var isOfTrash = false

  private let predicates: [Predicate]

  /// The user and group names of a machine that a query may use.
  public struct Names: Sendable {
    /// Returns the uid of a user's name.
    public let user: @Sendable (String) -> UInt32?
    /// Returns the gid of a group's name.
    public let group: @Sendable (String) -> UInt32?

    /// Makes names; without arguments, users and groups can only be given by number.
    public init(
      user: @escaping @Sendable (String) -> UInt32? = { _ in nil },
      group: @escaping @Sendable (String) -> UInt32? = { _ in nil }
    ) {
      (self.user, self.group) = (user, group)
    }
  }

  /// Reads a query.
  ///
  /// - Parameter names: The users and groups that the query may name.
  /// - Throws: ``QueryError`` at the first thing that cannot be read.
  public init(parsing text: String, _ names: Names = Names()) throws(QueryError) {
    var parser = QueryParser(text, names)
    self.predicates = try parser.parse()
  }

  /// Finds everything in a folder, whatever characters its name has; nil means all items.
  public init(within folder: String?) { predicates = folder.map { [.isWithin($0)] } ?? [] }

  /// Finds the items of a keyring's clients that have at least these attributes, with exactly these values. Without any
  /// attribute, the query finds every item that has facts for such clients.
  ///
  /// The text of a query cannot say this.
  /// - Parameter folder: the folder to which the search is limited; nil for all items.
  public init(keyring attributes: KeyringAttributes, within folder: String? = nil) {
    predicates = [.keyring(attributes)] + (folder.map { [.isWithin($0)] } ?? [])
  }

  /// Finds the items whose names match a pattern and that have at least these attributes of their own, with exactly
  /// these values.
  public init(sharedBy pattern: ItemPattern, _ attributes: KeyringAttributes) {
    predicates =
      [.matches(pattern)] + attributes.entries.map { .equals(.attribute($0.key), $0.value, negated: false) }
  }

  /// Finds the items that a keyring's clients know by a number. Only the service gives these numbers, so a store that
  /// was put together by hand may have several.
  public init(keyringID id: KeyringID, within folder: String? = nil) {
    predicates = [.keyringID(id)] + (folder.map { [.isWithin($0)] } ?? [])
  }

  /// True if all predicates hold for `item`.
  ///
  /// - Parameter now: The time from which durations are counted, Unix seconds.
  public func matches(_ item: ItemInfo, now: Int64) -> Bool {
    (item.trashed != nil) == isOfTrash && predicates.allSatisfy { $0.matches(item, now: now) }
  }

  /// The only name that a match can have, if the query gives one (`name=`).
  public var exactName: ItemName? {
    for case .equals(.name, let value, negated: false) in predicates { return try? ItemName(value) }
    return nil
  }

  /// The narrowest folder that contains every match (`name~folder/*`), if the query implies one.
  public var folder: String? {
    var narrowest: String?
    for predicate in predicates {
      guard let folder = predicate.folder else { continue }
      if folder.utf8.count > narrowest?.utf8.count ?? -1 { narrowest = folder }
    }
    return narrowest
  }

  /// The names that a match can have, as far as the query limits them.
  public var area: SearchArea { exactName.map { .name($0) } ?? folder.map { .folder($0) } ?? .everything }

  /// The only kind that a match can have, if the query gives one (`kind=`).
  public var kind: ItemKind? {
    for case .equals(.kind, let value, negated: false) in predicates { return ItemKind(rawValue: value) }
    return nil
  }

  /// True if the query examines when items expire, as an alarm does.
  public var examinesExpiry: Bool {
    predicates.contains { predicate in
      switch predicate {
      case .time(let subject, _, _): subject == .expires
      case .never: true
      case .equals, .fits, .mentions, .isWithin, .matches, .author, .number, .keyring, .keyringID: false
      }
    }
  }

  /// The names of all attributes that the query examines.
  public var attributeKeys: [String] {
    predicates.compactMap { predicate in
      switch predicate {
      case .equals(.attribute(let key), _, _), .fits(.attribute(let key), _): key
      case .equals, .fits, .mentions, .isWithin, .matches, .time, .never, .author, .number, .keyring, .keyringID: nil
      }
    }
  }

  /// The attributes for which every match has exactly these values.
  public var equalities: [(key: String, value: String)] {
    predicates.compactMap { predicate in
      guard case .equals(.attribute(let key), let value, negated: false) = predicate else { return nil }
      return (key, value)
    }
  }

  /// The attributes of a keyring's clients that every match has with exactly these values.
  public var keyringAttributes: [KeyringAttributes.Entry] {
    predicates.flatMap { predicate -> [KeyringAttributes.Entry] in
      switch predicate {
      case .keyring(let attributes): attributes.entries
      case .equals(.keyringAttribute(let key), let value, negated: false): [.init(key: key, value: value)]
      case .equals, .fits, .mentions, .isWithin, .matches, .time, .never, .author, .number, .keyringID: []
      }
    }
  }

  /// The number by which a keyring's clients know every match, if the query gives one.
  public var keyringID: KeyringID? {
    for case .keyringID(let id) in predicates { return id }
    return nil
  }
}

extension Query {
  /// The beginning of the keys for what the clients of a keyring keep with an item.
  public static let keyringPrefix = "keyring:"
  /// The key for the label that the client of a keyring gave an item.
  public static let keyringLabel = keyringPrefix + "label"

  /// The key for an attribute that the client of a keyring gave an item; nil for an attribute whose name no query can
  /// spell.
  public static func key(ofKeyring attribute: String) -> String? {
    guard !attribute.isEmpty, attribute.utf8.allSatisfy(Attributes.isKeyByte) else { return nil }
    let key = keyringPrefix + attribute
    let isTaken = key == keyringLabel || Attributes.key(ofField: attribute) != nil
    return isTaken ? keyringPrefix + Attributes.field(ofKey: attribute) : key
  }
}

/// A query that cannot be read.
public struct QueryError: Error, Hashable, Sendable {
  /// The byte offset of the mistake in the query's UTF-8.
  public let position: Int
  /// The fault at that position, for a person to read.
  public let reason: String

  /// Makes an error.
  public init(position: Int, reason: String) {
    self.position = position
    self.reason = reason
  }
}
