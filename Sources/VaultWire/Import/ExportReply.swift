public import VaultBytes

/// A reply of `vault-import --write`: one JSON object, ended by a NUL. The reader must trust nothing in the reply.
///
/// After ``ExportCall/finish`` come the parts of the file and ``done(count:)``; or ``failed(_:)`` at any time.
public enum ExportReply: ~Copyable {
  /// The longest reply in bytes: a part in base64.
  public static let frameLimit = 2 << 20
  /// The most bytes of a part.
  public static let longestPart = 1 << 20
  /// The most bytes of a file: base64 of a text of base64 of all values, and room for their facts.
  public static let longestFile = 1 << 30

  /// The next bytes of the file.
  case part(SecretBuffer)
  /// The end of the file, with its size in bytes.
  case done(count: Int)
  case failed(ImportFailure)

  /// The encoded reply.
  public consuming func frame() -> SecretBuffer {
    var writer = JSONWriter()
    switch consume self {
    case .part(let bytes):
      writer.reserve(bytes.count * 2)
      writer.beginObject()
      writer.key("data")
      bytes.withBytes { writer.base64($0) }
    case .done(let count):
      writer.beginObject()
      writer.field("count", count)
    case .failed(let failure):
      writer.beginObject()
      writer.field("error", failure.code.rawValue)
      writer.field("reason", failure.reason)
    }
    writer.endObject()
    return writer.finish()
  }

  /// Reads a frame that ``frame()`` wrote; nil for any other frame, and for one that exceeds the limits.
  public init?(_ frame: borrowing Frame) {
    func text(_ key: StaticString) -> String? { frame.member(key, of: frame.root).flatMap { frame.string($0) } }
    if let code = text("error") {
      guard let code = ImportFailure.Code(rawValue: code), let reason = text("reason") else { return nil }
      self = .failed(ImportFailure(code, reason))
    } else if let count = frame.member("count", of: frame.root).flatMap({ frame.integer($0) }) {
      guard (0...Int64(Self.longestFile)).contains(count) else { return nil }
      self = .done(count: Int(count))
    } else {
      switch ImportCall.value(frame) {
      case .some(let bytes):
        guard (1...Self.longestPart).contains(bytes.count) else { return nil }
        self = .part(bytes)
      case .none: return nil
      }
    }
  }
}
