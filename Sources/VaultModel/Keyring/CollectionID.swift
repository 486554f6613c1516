/// A collection of the keyring that programs see through the Secret Service.
public enum CollectionID: Hashable, Sendable {
  /// The secrets that are gone when the daemon ends.
  case session
  /// The collection that always exists, and is the default until another one becomes the default.
  case login
  /// The items of the vault that its owner shares with programs through the Secret Service; they cannot change them
  /// there.
  case shared
  /// A collection that a program made.
  case made(KeyringID)

  /// The folder in which the collections have their folders.
  public static let root = "secret-service"

  /// Reads the element of an object path that stands for a collection.
  public init?(element: String) {
    switch element {
    case "session": self = .session
    case "login": self = .login
    case "vault": self = .shared
    default:
      guard let id = KeyringID(element) else { return nil }
      self = .made(id)
    }
  }

  /// The element of an object path that stands for the collection.
  public var element: String {
    switch self {
    case .session: "session"
    case .login: "login"
    case .shared: "vault"
    case .made(let id): id.text
    }
  }

  /// The folder of the collection's items; nil if they have none of their own.
  public var folder: String? {
    switch self {
    case .session, .shared: nil
    case .login, .made: "\(Self.root)/\(element)"
    }
  }

  /// The name that stands for all items of the collection in questions about rights: the pattern of a grant for these
  /// items. Nil if they have no names of their own.
  public var nameOfAll: ItemName? { self == .shared ? nil : try? ItemName("\(Self.root)/\(element)/*") }

  /// Reads a name that stands for all items of a collection; nil for any other name.
  public init?(allOf name: ItemName) {
    let parts = name.text.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 2).map { String(Substring($0)) }
    guard parts.count == 3, parts[0] == Self.root, parts[2] == "*", let collection = CollectionID(element: parts[1]),
      collection != .shared
    else { return nil }
    self = collection
  }

  /// The collection in whose folder the item of this name lies; nil if it lies in none.
  public init?(of name: ItemName) {
    let parts = name.text.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 2).map { String(Substring($0)) }
    guard parts.count == 3, parts[0] == Self.root, let collection = CollectionID(element: parts[1]),
      collection.folder != nil
    else { return nil }
    self = collection
  }
}
