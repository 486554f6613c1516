/// The ways in which somebody may deal with an item. Raw values are stored and never change.
public enum Right: UInt8, Named, Sendable {
  /// Read the value. Includes ``use``.
  case get = 1
  /// Change the value, and create an item with its kind, attributes and policy.
  case set = 2
  /// See that the item is there, and everything about it but its value.
  case find = 3
  /// Store a new value while the vault is locked.
  case deposit = 4
  /// Be told of changes.
  case watch = 5
  /// Have something done with a value that stays here, such as a one-time code made of it.
  case use = 6
  /// Delete, rename, and whatever else changes an existing item beside its value. Includes all others.
  case admin = 7

  /// The name people and programs write.
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

/// Several rights together. Raw values are stored: bit n stands for the right with the raw value n + 1.
public struct Rights: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8

  /// Takes the bits as they are; ``isKnown`` tells whether each stands for a right.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// One right, with those that it includes.
  public init(_ right: Right) {
    switch right {
    case .get: self = [Self.bit(.get), Self.bit(.use)]
    case .admin: self = .all
    default: self = Self.bit(right)
    }
  }

  /// Every right.
  public static let all = Rights(rawValue: 0x7F)

  private static func bit(_ right: Right) -> Rights { Rights(rawValue: 1 << (right.rawValue - 1)) }

  /// True when there is at least one, and no bit stands for something else.
  public var isKnown: Bool { !isEmpty && isSubset(of: .all) }

  /// True when `right` is among them.
  public func contains(_ right: Right) -> Bool { rawValue & (1 << (right.rawValue - 1)) != 0 }

  /// The rights in their order, without those that another one of them includes.
  public var names: [String] {
    if contains(.admin) { return [Right.admin.name] }
    return Right.allCases.filter { contains($0) && ($0 != .use || !contains(.get)) }.map(\.name)
  }

  /// Reads names that are separated by commas.
  ///
  /// - Throws: ``ValueError`` that names what is no right.
  public init(parsing text: String) throws(ValueError) {
    var rights: Rights = []
    for name in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let right = Right(name: String(name)) else {
        let known = Right.allCases.map(\.name).joined(separator: ", ")
        throw ValueError(
          reason: name.isEmpty
            ? "a right is missing; there are \(known)" : "there is no right '\(name)'; there are \(known)")
      }
      rights.formUnion(Rights(right))
    }
    self = rights
  }
}
