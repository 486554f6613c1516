public import VaultBytes

/// A call of `vault` to the program `vault-import --write`, which writes a file of another program for it: one JSON
/// object, ended by a NUL.
///
/// `vault` sends ``write(_:)``, then each entry followed by its fields, and at last ``finish``.
public enum ExportCall: Hashable, Sendable {
  /// The longest call in bytes.
  public static let frameLimit = ImportCall.frameLimit
  /// The most entries and fields, and the most bytes of all values together.
  public static let most = (entries: 1 << 17, fields: 1 << 21, bytes: 1 << 28)

  /// Says what is to be written. The frame also holds the password of the file, if it has one.
  case write(ExportOrder)
  /// The next entry. As many fields follow as it announces.
  case entry(ImportedEntry)
  /// The next field of the entry. The frame also holds the value.
  case field(ImportedField)
  /// Asks for the file.
  case finish

  /// The encoded call; `value` is the password or the value of the field.
  public func frame(value: RawSpan? = nil) -> SecretBuffer {
    var writer = JSONWriter()
    if let value { writer.reserve(value.byteCount * 2) }
    writer.beginObject()
    switch self {
    case .write(let order): order.write(to: &writer)
    case .entry(let entry): entry.write(to: &writer)
    case .field(let field): field.write(to: &writer)
    case .finish: writer.field("finish", true)
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
    if frame.member("write", of: root) != nil {
      guard let order = ExportOrder(frame) else { return nil }
      self = .write(order)
    } else if frame.member("entry", of: root) != nil {
      guard let entry = ImportedEntry(frame) else { return nil }
      self = .entry(entry)
    } else if frame.member("role", of: root) != nil {
      guard let field = ImportedField(frame) else { return nil }
      self = .field(field)
    } else if frame.member("finish", of: root) != nil {
      self = .finish
    } else {
      return nil
    }
  }
}

/// The facts of a file that `vault-import --write` writes.
public struct ExportOrder: Hashable, Sendable {
  /// The formats of files. The raw value is the name that `--to` takes.
  public enum Format: String, CaseIterable, Sendable {
    case kdbx
    case bitwarden = "bitwarden-json"
  }

  /// The memory of Argon2id in MiB that a file may ask for.
  public static let memories = 16...1024
  /// The longest name in bytes.
  private static let longestName = 1024

  public let format: Format
  /// The name of the database.
  public let name: String
  /// The memory in MiB with which Argon2id makes the key of the password; nil for a file without a password.
  public let memory: Int?
  /// The time of the export in Unix seconds.
  public let time: Int64

  public init(_ format: Format, name: String, memory: Int?, time: Int64) {
    (self.format, self.name, self.memory, self.time) = (format, name, memory, time)
  }

  func write(to writer: inout JSONWriter) {
    writer.field("write", format.rawValue)
    writer.field("name", name)
    writer.field("memory", memory)
    writer.field("time", time)
  }

  init?(_ frame: borrowing Frame) {
    func text(_ key: StaticString) -> String? { frame.member(key, of: frame.root).flatMap { frame.string($0) } }
    func number(_ key: StaticString) -> Int64? { frame.member(key, of: frame.root).flatMap { frame.integer($0) } }
    guard let format = text("write").flatMap(Format.init), let name = text("name"),
      name.utf8.count <= Self.longestName, let time = number("time"), (0...(1 << 40)).contains(time)
    else { return nil }
    let memory = number("memory").map { Int(clamping: $0) }
    if let memory, !Self.memories.contains(memory) { return nil }
    self.init(format, name: name, memory: memory, time: time)
  }
}
