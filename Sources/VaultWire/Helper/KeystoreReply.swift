public import VaultBytes
public import VaultModel

/// The reply of a keystore's program: one JSON object, ended by a NUL.
public enum KeystoreReply: ~Copyable {
  /// The key was stored and can be found by `locator`.
  case stored(locator: [UInt8])
  /// The fetched key, which has ``KeystoreRequest/keyCount`` bytes.
  case fetched(key: SecretBuffer)
  case removed
  case failed(KeystoreError)

  /// The encoded reply.
  public consuming func frame() -> SecretBuffer {
    var writer = JSONWriter()
    writer.beginObject()
    switch consume self {
    case .stored(let locator):
      writer.key("locator")
      // Bytes have no padding: all are initialized.
      unsafe writer.base64(locator.span.bytes)
    case .fetched(let key):
      writer.key("key")
      key.withBytes { writer.base64($0) }
    case .removed:
      writer.key("removed")
      writer.bool(true)
    case .failed(let error):
      writer.key("error")
      writer.string(error.code.rawValue)
      writer.key("reason")
      writer.string(error.reason)
    }
    writer.endObject()
    return writer.finish()
  }

  /// Reads a frame that ``frame()`` wrote in reply to `operation`; nil for any other frame.
  public init?(_ frame: borrowing Frame, to operation: KeystoreRequest.Operation) {
    let root = frame.root
    if let code = frame.member("error", of: root).flatMap({ frame.string($0) }).flatMap(KeystoreError.Code.init),
      let reason = frame.member("reason", of: root).flatMap({ frame.string($0) })
    {
      self = .failed(KeystoreError(code, reason))
      return
    }
    switch operation {
    case .store:
      guard let node = frame.member("locator", of: root), let locator = KeystoreRequest.locator(frame, node)
      else { return nil }
      self = .stored(locator: locator)
    case .fetch:
      guard let key = KeystoreRequest.key(frame) else { return nil }
      self = .fetched(key: key)
    case .remove:
      guard frame.member("removed", of: root) != nil else { return nil }
      self = .removed
    }
  }
}
