public import VaultBytes

/// A reply of `vault-keyring` to a ``ProviderCall``: one JSON object, ended by a NUL. The reader must trust nothing in
/// the reply.
public enum ProviderReply: ~Copyable {
  /// The longest reply in bytes.
  public static let frameLimit = ProviderCall.frameLimit
  /// The most collections of a keyring, and the most items of a collection.
  public static let most = (collections: 4096, items: 1 << 20)
  /// The longest object path in bytes.
  public static let longestPath = 1024

  /// The reply to `open`: the keyring's collections.
  case collections([ProviderCollection])
  /// One item of the reply to `list`, which ``done`` ends.
  case listed(ProviderPlace)
  /// The reply to `read`, with the value.
  case item(ProviderContent, value: SecretBuffer)
  /// The reply to `read` for an item that is beyond the limits of a vault.
  case tooLarge(label: String, reason: String)
  /// The reply to `make`: the number of the new collection.
  case made(Int)
  /// The reply to `store`.
  case stored(Storing)
  /// The end of a list, and the reply to `unlock`.
  case done
  case failed(ProviderFailure)

  /// The failure, if the reply is one.
  public var failure: ProviderFailure? {
    switch self {
    case .failed(let failure): failure
    default: nil
    }
  }

  /// The outcome of `store`.
  public enum Storing: String, Sendable {
    case new
    /// Another item with the same attributes is there already.
    case beside
    /// The same item is there already.
    case present
  }

  /// The encoded reply.
  public consuming func frame() -> SecretBuffer {
    var writer = JSONWriter()
    writer.beginObject()
    switch consume self {
    case .collections(let collections):
      writer.key("collections")
      writer.beginArray()
      for collection in collections { collection.write(to: &writer) }
      writer.endArray()
    case .listed(let place):
      writer.field("path", place.path)
      writer.field("created", place.created)
      if let problem = place.problem { writer.field("problem", problem) }
    case .item(let content, let value):
      writer.reserve(value.count * 2)
      content.write(to: &writer)
      value.withBytes { writer.content($0) }
    case .tooLarge(let label, let reason):
      writer.field("refused", label)
      writer.field("reason", reason)
    case .made(let number): writer.field("made", number)
    case .stored(let outcome): writer.field("stored", outcome.rawValue)
    case .done: writer.field("done", true)
    case .failed(let failure):
      writer.field("error", failure.code.rawValue)
      writer.field("reason", failure.reason)
    }
    writer.endObject()
    return writer.finish()
  }

  /// Reads a frame that ``frame()`` wrote; nil for any other frame.
  public init?(_ frame: borrowing Frame) {
    func text(_ key: StaticString) -> String? { frame.member(key, of: frame.root).flatMap { frame.string($0) } }
    func number(_ key: StaticString) -> Int64? { frame.member(key, of: frame.root).flatMap { frame.integer($0) } }
    if let code = text("error") {
      guard let code = ProviderFailure.Code(rawValue: code), let reason = text("reason") else { return nil }
      self = .failed(ProviderFailure(code, reason))
    } else if let label = text("refused") {
      guard let reason = text("reason") else { return nil }
      self = .tooLarge(label: label, reason: reason)
    } else if let path = text("path") {
      guard let created = number("created"), path.utf8.count <= Self.longestPath else { return nil }
      self = .listed(ProviderPlace(path: path, created: created, problem: text("problem")))
    } else if let list = frame.member("collections", of: frame.root) {
      guard frame.kind(list) == .array else { return nil }
      var collections: [ProviderCollection] = []
      for node in frame.elements(of: list) {
        guard let collection = ProviderCollection(frame, node) else { return nil }
        collections.append(collection)
      }
      guard collections.count <= Self.most.collections else { return nil }
      self = .collections(collections)
    } else if let made = number("made") {
      guard let number = Int(exactly: made), (0...Self.most.collections).contains(number) else { return nil }
      self = .made(number)
    } else if let outcome = text("stored") {
      guard let outcome = Storing(rawValue: outcome) else { return nil }
      self = .stored(outcome)
    } else if let content = ProviderContent(frame) {
      switch ProviderCall.value(frame) {
      case .some(let value): self = .item(content, value: value)
      case .none: return nil
      }
    } else {
      guard let done = frame.member("done", of: frame.root), frame.bool(done) == true else { return nil }
      self = .done
    }
  }
}

/// The reason why `vault-keyring` did not do what it was asked to do.
public struct ProviderFailure: Error, Hashable, Sendable {
  public enum Code: String, Sendable {
    /// The bus answers, but no program owns the name, and the bus can start none for it.
    case absent
    /// The keyring has ended, or does not answer in time; so nothing more can be learned from it now.
    case lost
    /// The object does not exist any more.
    case gone
    /// The keyring cannot be reached, or has refused this one call.
    case unavailable
    /// The keyring is the vault itself, or refuses.
    case refused
    /// The collection or the item is locked, or a person declined to unlock it.
    case locked
  }

  public let code: Code
  /// The explanation for a person. It contains no secret. Text after the first 1000 characters is cut off.
  public let reason: String

  public init(_ code: Code, _ reason: String) { (self.code, self.reason) = (code, HelperReason.cut(reason)) }
}

/// An item in the list of a collection.
public struct ProviderPlace: Hashable, Sendable {
  /// The object path of the item.
  public let path: String
  /// Unix seconds; 0 if the keyring does not report the time.
  public let created: Int64
  /// The reason why the item could not be read; nil if it could.
  public let problem: String?

  public init(path: String, created: Int64, problem: String? = nil) {
    (self.path, self.created, self.problem) = (path, created, problem.map { HelperReason.cut($0) })
  }
}

/// A collection of another keyring.
public struct ProviderCollection: Hashable, Sendable {
  /// The most bytes of a label that a vault can keep, the limit of ImportCollection.
  public static let longestLabel = 4096

  /// The object path of the collection.
  public let path: String
  /// The label. A label that is too long for a vault is cut, but only so far that it is still too long.
  public let label: String
  public let isLocked: Bool
  /// The aliases of the collection, among `default`, `login` and `session`.
  public let aliases: [String]
  /// The reason why the properties of the collection could not be read; nil if they could.
  public let problem: String?

  public init(path: String, label: String, isLocked: Bool, aliases: [String], problem: String? = nil) {
    self.path = path
    self.label =
      label.utf8.count > Self.longestLabel ? String(label.unicodeScalars.prefix(Self.longestLabel + 1)) : label
    (self.isLocked, self.aliases, self.problem) = (isLocked, aliases, problem.map { HelperReason.cut($0) })
  }

  /// True for the collection that each keyring calls `login`.
  public var isLogin: Bool { aliases.contains("login") || path.hasSuffix("/login") }

  func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("path", path)
    writer.field("label", label)
    writer.field("locked", isLocked)
    writer.field("aliases", aliases)
    if let problem { writer.field("problem", problem) }
    writer.endObject()
  }

  init?(_ frame: borrowing Frame, _ node: Frame.Node) {
    guard frame.kind(node) == .object, let path = frame.member("path", of: node).flatMap({ frame.string($0) }),
      let label = frame.member("label", of: node).flatMap({ frame.string($0) }),
      let isLocked = frame.member("locked", of: node).flatMap({ frame.bool($0) }),
      let list = frame.member("aliases", of: node), frame.kind(list) == .array,
      path.utf8.count <= ProviderReply.longestPath
    else { return nil }
    let names = frame.elements(of: list).compactMap { frame.string($0) }
    let problem = frame.member("problem", of: node).flatMap { frame.string($0) }
    self.init(path: path, label: label, isLocked: isLocked, aliases: names, problem: problem)
  }
}
