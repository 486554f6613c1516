/// The rights that a caller can have on an item. Raw values are stored and never change.
public enum Right: UInt8, Named, Sendable {
  /// Reads the value. Includes ``use``.
  case get = 1
  /// Changes the value, or creates an item with its kind, attributes and policy.
  case set = 2
  /// Sees that the item exists, and all its data except the value.
  case find = 3
  /// Stores a new value while the vault is locked.
  case deposit = 4
  /// Receives notice of changes.
  case watch = 5
  /// Has the daemon work with a value that stays there, for example to make a one-time code.
  case use = 6
  /// Deletes, renames or otherwise changes an existing item besides its value. Includes all other rights.
  case admin = 7

  /// The name that people and programs write.
  public var name: String {
    switch self {
    case .get: "get"
    case .set: "set"
    case .find: "find"
    case .deposit: "deposit"
    case .watch: "watch"
    case .use: "use"
    case .admin: "admin"
    }
  }
}

/// A set of rights. Raw values are stored: bit n stands for the right with the raw value n + 1.
public struct Rights: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8

  /// Takes the bits unchecked; ``isKnown`` tells whether each of them stands for a right.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The rights that nobody has on an item with this policy.
  public init(withheldBy policy: Policy) {
    self = Right.allCases.reduce(into: []) { if policy.withholds($1) { $0.formUnion(Self.bit($1)) } }
  }

  /// The given right, with the rights that it includes.
  public init(_ right: Right) {
    switch right {
    case .get: self = [Self.bit(.get), Self.bit(.use)]
    case .admin: self = .all
    case .set, .find, .deposit, .watch, .use: self = Self.bit(right)
    }
  }

  /// Every right.
  public static let all = Rights(rawValue: 0x7F)

  private static func bit(_ right: Right) -> Rights { Rights(rawValue: 1 << (right.rawValue - 1)) }

  /// True if there is at least one right, and no bit that does not stand for a right.
  public var isKnown: Bool { !isEmpty && isSubset(of: .all) }

  /// True if the set contains `right`.
  public func contains(_ right: Right) -> Bool { rawValue & (1 << (right.rawValue - 1)) != 0 }

  /// The names of the rights in order, without rights that another right of the set includes.
  public var names: [String] {
    if contains(.admin) { return [Right.admin.name] }
    return Right.allCases.filter { contains($0) && ($0 != .use || !contains(.get)) }.map(\.name)
  }

  /// Reads names separated by commas.
  ///
  /// - Throws: ``ValueError`` that quotes the name that is not a right.
  public init(parsing text: String) throws(ValueError) {
    var rights: Rights = []
    for name in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let right = Right(name: String(name)) else {
        let known = Right.allCases.map(\.name).joined(separator: ", ")
        throw ValueError(
          reason: name.isEmpty
            ? "a right is missing; the rights are \(known)" : "there is no right '\(name)'; the rights are \(known)")
      }
      rights.formUnion(Rights(right))
    }
    self = rights
  }
}
