public import VaultBytes

/// A call of `vault` to the program `vault-keyring`, which reaches another keyring for it: one JSON object, ended by a
/// NUL. Collections and items are named by their numbers in the lists that the program has given.
public enum ProviderCall: Hashable, Sendable {
  /// The longest call in bytes; an item of 1 MiB with 64 KiB of attributes fits, however many escapes it needs.
  public static let frameLimit = 8 << 20

  /// Finds the keyring at a bus name, and lists its collections. `daemon` is the process that must not be that keyring.
  case open(name: String, daemon: Int)
  /// Unlocks a collection; the keyring may ask a person.
  case unlock(collection: Int)
  /// Lists the items of a collection.
  case list(collection: Int)
  /// Reads an item.
  case read(collection: Int, item: Int)
  /// Makes a collection, for which the keyring may ask a person.
  case make(label: String)
  /// Stores an item, unless the same one is there already. The frame also holds the value.
  case store(collection: Int, ProviderContent)

  private enum Name: String { case open, unlock, list, read, make, store }

  private var name: Name {
    switch self {
    case .open: .open
    case .unlock: .unlock
    case .list: .list
    case .read: .read
    case .make: .make
    case .store: .store
    }
  }

  /// The encoded call; `value` is the value of the item to store.
  public func frame(value: RawSpan? = nil) -> SecretBuffer {
    var writer = JSONWriter()
    if let value { writer.reserve(value.byteCount * 2) }
    writer.beginObject()
    writer.key("call")
    writer.string(name.rawValue)
    switch self {
    case .open(let name, let daemon):
      writer.field("name", name)
      writer.field("daemon", daemon)
    case .unlock(let collection), .list(let collection): writer.field("collection", collection)
    case .read(let collection, let item):
      writer.field("collection", collection)
      writer.field("item", item)
    case .make(let label): writer.field("label", label)
    case .store(let collection, let content):
      writer.field("collection", collection)
      content.write(to: &writer)
    }
    if let value { writer.content(value) }
    writer.endObject()
    return writer.finish()
  }

  /// Reads a frame that ``frame(value:)`` wrote; nil for any other frame.
  public init?(_ frame: borrowing Frame) {
    let root = frame.root
    func number(_ key: StaticString) -> Int? {
      frame.member(key, of: root).flatMap { frame.integer($0) }.flatMap { Int(exactly: $0) }
    }
    func text(_ key: StaticString) -> String? { frame.member(key, of: root).flatMap { frame.string($0) } }
    guard let name = text("call").flatMap(Name.init) else { return nil }
    switch name {
    case .open:
      guard let name = text("name"), let daemon = number("daemon") else { return nil }
      self = .open(name: name, daemon: daemon)
    case .unlock, .list:
      guard let collection = number("collection") else { return nil }
      self = name == .unlock ? .unlock(collection: collection) : .list(collection: collection)
    case .read:
      guard let collection = number("collection"), let item = number("item") else { return nil }
      self = .read(collection: collection, item: item)
    case .make:
      guard let label = text("label") else { return nil }
      self = .make(label: label)
    case .store:
      guard let collection = number("collection"), let content = ProviderContent(frame) else { return nil }
      self = .store(collection: collection, content)
    }
  }

  /// The value in a call or a reply; nil if there is none.
  public static func value(_ frame: borrowing Frame) -> SecretBuffer? {
    let (text, data) = (frame.member("value", of: frame.root), frame.member("data", of: frame.root))
    guard let value = try? frame.content(text, data) else { return nil }
    return value
  }
}

/// The properties of an item of another keyring.
public struct ProviderContent: Hashable, Sendable {
  public var label: String
  public var contentType: String
  public var attributes: [Wire.KeyringAttribute]
  /// Unix seconds; 0 if the keyring does not report the time.
  public var created: Int64
  public var modified: Int64

  public init(
    label: String, contentType: String, attributes: [Wire.KeyringAttribute], created: Int64 = 0, modified: Int64 = 0
  ) {
    (self.label, self.contentType, self.attributes) = (label, contentType, attributes)
    (self.created, self.modified) = (created, modified)
  }

  func write(to writer: inout JSONWriter) {
    writer.field("label", label)
    writer.field("type", contentType)
    writer.field("attributes", attributes)
    writer.field("created", created)
    writer.field("modified", modified)
  }

  init?(_ frame: borrowing Frame) {
    func text(_ key: StaticString) -> String? { frame.member(key, of: frame.root).flatMap { frame.string($0) } }
    func time(_ key: StaticString) -> Int64? { frame.member(key, of: frame.root).flatMap { frame.integer($0) } }
    guard let label = text("label"), let type = text("type"), let created = time("created"),
      let modified = time("modified"), let list = frame.member("attributes", of: frame.root),
      frame.kind(list) == .array
    else { return nil }
    var attributes: [Wire.KeyringAttribute] = []
    for node in frame.elements(of: list) {
      guard let attribute = try? Wire.KeyringAttribute(frame, node) else { return nil }
      attributes.append(attribute)
    }
    self.init(label: label, contentType: type, attributes: attributes, created: created, modified: modified)
  }
}
