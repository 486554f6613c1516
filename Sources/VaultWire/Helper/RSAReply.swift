public import VaultBytes

/// The reply of `vault-rsa`: one JSON object, ended by a NUL.
public enum RSAReply: ~Copyable {
  /// The signature or the new key; empty if a key was only checked.
  case made(SecretBuffer)
  /// The reason for the failure.
  case failed(String)

  /// The longest reply in bytes.
  public static let frameLimit = 8 << 10

  /// The encoded reply.
  public consuming func frame() -> SecretBuffer {
    // There is room for the whole reply, so that a key is written once and never moved.
    var writer = JSONWriter(capacity: Self.frameLimit)
    writer.beginObject()
    switch consume self {
    case .made(let bytes):
      writer.key("made")
      bytes.withBytes { writer.base64($0) }
    case .failed(let reason):
      writer.key("reason")
      writer.string(reason)
    }
    writer.endObject()
    return writer.finish()
  }

  /// Reads a frame that ``frame()`` wrote; nil for any other frame.
  public init?(_ frame: borrowing Frame) {
    if let reason = frame.member("reason", of: frame.root).flatMap({ frame.string($0) }) {
      self = .failed(reason)
      return
    }
    guard let node = frame.member("made", of: frame.root), let count = frame.base64Count(node) else { return nil }
    var bytes = SecretBuffer(capacity: count)
    let isValid = bytes.append(count: count) { frame.copyBase64(node, into: &$0) }
    guard isValid else { return nil }
    self = .made(bytes)
  }
}
