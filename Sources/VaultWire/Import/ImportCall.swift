public import VaultBytes

/// A call of `vault` to the program `vault-import`, which reads files of other programs for it: one JSON object, ended
/// by a NUL.
///
/// `vault` sends ``begin(format:)``, then each file in parts, then ``read``; from then on it only answers questions.
public enum ImportCall: Hashable, Sendable {
  /// The longest call in bytes.
  public static let frameLimit = 2 << 20
  /// The most bytes of a file in one call.
  public static let longestPart = 1 << 20
  /// The most files, and the most bytes of all of them together.
  public static let most = (files: 1 << 17, bytes: 1 << 29)
  /// The longest path in bytes, and the longest passphrase.
  public static let longestPath = 4096
  public static let longestSecret = 64 << 10
  /// The bytes of memory that a person can allow for the derivation of a key, and the argument of the program that
  /// states them.
  public static let kdfMemory: ClosedRange<UInt64> = 1 << 30...4 << 30
  public static let kdfMemoryArgument = "--kdf-memory="

  /// Names the format of the files; nil if the program is to recognize it.
  case begin(format: String?)
  /// Begins a file of `count` bytes, which the following parts hold. The path is relative to the folder that is
  /// imported, or is the name of the one file. `modified` is in Unix seconds; nil if nothing is known.
  case file(path: String, count: Int, modified: Int64?)
  /// The next bytes of the file. The frame also holds them.
  case part
  /// Asks the program to read the files.
  case read
  /// Answers the question for a secret. The frame also holds the secret.
  case secret
  /// Answers a question for a secret that there is none.
  case noSecret

  private enum Name: String {
    case begin, file, part, read, secret
    case noSecret = "no-secret"
  }

  private var name: Name {
    switch self {
    case .begin: .begin
    case .file: .file
    case .part: .part
    case .read: .read
    case .secret: .secret
    case .noSecret: .noSecret
    }
  }

  /// The encoded call; `value` is the part of the file, or the secret.
  public func frame(value: RawSpan? = nil) -> SecretBuffer {
    var writer = JSONWriter()
    if let value { writer.reserve(value.byteCount * 2) }
    writer.beginObject()
    writer.field("call", name.rawValue)
    switch self {
    case .begin(let format): writer.field("format", format)
    case .file(let path, let count, let modified):
      writer.field("path", path)
      writer.field("count", count)
      writer.field("modified", modified)
    case .part, .read, .secret, .noSecret: break
    }
    if let value {
      writer.key("data")
      writer.base64(value)
    }
    writer.endObject()
    return writer.finish()
  }

  /// Reads a frame that ``frame(value:)`` wrote; nil for any other frame.
  public init?(_ frame: borrowing Frame) {
    let root = frame.root
    func text(_ key: StaticString) -> String? { frame.member(key, of: root).flatMap { frame.string($0) } }
    func number(_ key: StaticString) -> Int64? { frame.member(key, of: root).flatMap { frame.integer($0) } }
    guard let name = text("call").flatMap(Name.init) else { return nil }
    switch name {
    case .begin: self = .begin(format: text("format"))
    case .file:
      guard let path = text("path"), path.utf8.count <= Self.longestPath, let count = number("count"),
        (0...Int64(Self.most.bytes)).contains(count)
      else { return nil }
      self = .file(path: path, count: Int(count), modified: number("modified"))
    case .part: self = .part
    case .read: self = .read
    case .secret: self = .secret
    case .noSecret: self = .noSecret
    }
  }

  /// The bytes that a call or a reply holds; nil if there are none.
  public static func value(_ frame: borrowing Frame) -> SecretBuffer? {
    guard let value = try? frame.content(nil, frame.member("data", of: frame.root)) else { return nil }
    return value
  }
}
