/// A search for items: predicates separated by white space, which must all hold. An empty query matches everything.
///
/// | predicate | holds when |
/// |---|---|
/// | `owner=ana`, `owner!=ana` | the attribute has that value; or has another one, or is not there |
/// | `owner~a*` | the attribute is there and fits the pattern: `*` within a path segment, `**` across, `?` one character |
/// | `name=a/b`, `name~iot/*`, `kind=totp`, `accessible=always`, `require!=none` | the same for the item itself |
/// | `expires<7d`, `expires<2027-01-01` | the item has expired, or will within 7 days, or before that date |
/// | `expires>7d` | it expires later than that; an item without an expiry has none to compare: `expires=never` finds it |
/// | `created<7d`, `modified>30d` | it is less, or more, than that long ago |
/// | `created<2027-01-01` | it was before that date |
/// | `creator=unit:iothome.service`, `writer!=user:ana` | the item was first stored, or its current version was, by that caller |
/// | `version>3`, `size<64k` | numbers of the current version; `k` and `m` count 1024 and 1024² bytes |
/// | `express` | the name has that in it, the same as `name~**express**` |
///
/// Values may be quoted: `owner="ana maria"`, with `\"` and `\\` inside.
public struct Query: Hashable, Sendable {
  /// The longest query, in bytes.
  public static let maximumBytes = 4096
  /// The most predicates in one.
  public static let maximumPredicates = 64

  /// True when it is for the items in the trash, and for no others.
  public var isOfTrash = false

  private let predicates: [Predicate]

  /// The users and groups of a machine, as far as a query may name them.
  public struct Names: Sendable {
    /// The uid of a user's name.
    public let user: @Sendable (String) -> UInt32?
    /// The gid of a group's name.
    public let group: @Sendable (String) -> UInt32?

    /// Without any, users and groups are numbers alone.
    public init(
      user: @escaping @Sendable (String) -> UInt32? = { _ in nil },
      group: @escaping @Sendable (String) -> UInt32? = { _ in nil }
    ) {
      (self.user, self.group) = (user, group)
    }
  }

  /// Reads a query.
  ///
  /// - Throws: ``QueryError`` at the first thing that cannot be read.
  ///
  /// - Parameter names: the users and groups that it may name.
  public init(parsing text: String, _ names: Names = Names()) throws(QueryError) {
    var parser = QueryParser(text, names)
    self.predicates = try parser.parse()
  }

  /// Finds everything in a folder, whatever characters its name has; nil stands for all items.
  public init(within folder: String?) { predicates = folder.map { [.isWithin($0)] } ?? [] }

  /// True when all predicates hold for `item`.
  ///
  /// - Parameter now: the time durations are counted from, Unix seconds.
  public func matches(_ item: ItemInfo, now: Int64) -> Bool {
    (item.trashed != nil) == isOfTrash && predicates.allSatisfy { $0.matches(item, now: now) }
  }

  /// The only name an item can have to match, when the query gives one (`name=`).
  public var exactName: ItemName? {
    for case .equals(.name, let value, negated: false) in predicates { return try? ItemName(value) }
    return nil
  }

  /// The narrowest folder that every match is in (`name~folder/*`), when the query implies one.
  public var folder: String? {
    var narrowest: String?
    for predicate in predicates {
      guard let folder = predicate.folder else { continue }
      if folder.utf8.count > narrowest?.utf8.count ?? -1 { narrowest = folder }
    }
    return narrowest
  }

  /// The names that a match can have, as far as the query says.
  public var area: SearchArea { exactName.map { .name($0) } ?? folder.map { .folder($0) } ?? .everything }

  /// The only kind a match can have, when the query gives one (`kind=`).
  public var kind: ItemKind? {
    for case .equals(.kind, let value, negated: false) in predicates { return ItemKind(rawValue: value) }
    return nil
  }

  /// The names of all attributes that the query looks at.
  public var attributeKeys: [String] {
    predicates.compactMap { predicate in
      switch predicate {
      case .equals(.attribute(let key), _, _), .fits(.attribute(let key), _): key
      default: nil
      }
    }
  }

  /// The attributes every match has with exactly these values.
  public var equalities: [(key: String, value: String)] {
    predicates.compactMap { predicate in
      guard case .equals(.attribute(let key), let value, negated: false) = predicate else { return nil }
      return (key, value)
    }
  }
}

/// A query that cannot be read.
public struct QueryError: Error, Hashable, Sendable {
  /// The byte offset in the query's UTF-8 where the mistake is.
  public let position: Int
  /// The fault there, for a person to read.
  public let reason: String

  /// Makes an error.
  public init(position: Int, reason: String) {
    self.position = position
    self.reason = reason
  }
}
