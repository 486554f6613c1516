internal import VaultModel
internal import VaultService

/// The object paths of the Secret Service (Secret Service API Draft 0.2, section 4, "Object Paths").
enum SecretPath: Hashable {
  case service
  case collection(CollectionID)
  case item(KeyringPath)
  case session(Int)
  case prompt(Int)

  /// The path at and below which all objects are.
  static let root = "/org/freedesktop/secrets"

  /// Reads a path, which may name a collection by an alias.
  ///
  /// - Parameter alias: returns the collection that an alias names.
  init?(_ path: String, alias: (String) -> CollectionID?) {
    guard path.utf8.starts(with: Self.root.utf8) else { return nil }
    let parts = path.utf8.dropFirst(Self.root.utf8.count).split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false
    ).map { String(Substring($0)) }
    switch (parts.count, parts.first) {
    case (1, ""): self = .service
    case (3, ""), (4, ""):
      let rest = parts.count == 4 ? parts[3] : nil
      switch (parts[1], rest) {
      case ("collection", _):
        guard let collection = CollectionID(element: parts[2]) else { return nil }
        self = rest.map { .item(KeyringPath(collection, $0)) } ?? .collection(collection)
      case ("aliases", _):
        guard let name = PathElement.decode(parts[2]), let collection = alias(name) else { return nil }
        self = rest.map { .item(KeyringPath(collection, $0)) } ?? .collection(collection)
      case ("session", nil):
        guard let number = Self.number(parts[2]) else { return nil }
        self = .session(number)
      case ("prompt", nil):
        guard let number = Self.number(parts[2]) else { return nil }
        self = .prompt(number)
      default: return nil
      }
    default: return nil
    }
  }

  private static func number(_ element: String) -> Int? {
    guard element.utf8.first == UInt8(ascii: "s") else { return nil }
    return Int(element.dropFirst()).flatMap { "s\($0)" == element && $0 > 0 ? $0 : nil }
  }

  var text: String {
    switch self {
    case .service: Self.root
    case .collection(let collection): "\(Self.root)/collection/\(collection.element)"
    case .item(let path): "\(Self.root)/collection/\(path.collection.element)/\(path.element)"
    case .session(let number): "\(Self.root)/session/s\(number)"
    case .prompt(let number): "\(Self.root)/prompt/s\(number)"
    }
  }

  /// The collection or item that the path names; nil for others.
  var target: KeyringTarget? {
    switch self {
    case .collection(let collection): .collection(collection)
    case .item(let path): .item(path)
    case .service, .session, .prompt: nil
    }
  }
}

extension KeyringTarget {
  var path: SecretPath {
    switch self {
    case .collection(let collection): .collection(collection)
    case .item(let path): .item(path)
    }
  }
}
