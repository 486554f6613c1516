public import VaultBytes
internal import VaultModel

/// A request of the daemon to a keystore's program: one JSON object, ended by a NUL.
///
///     {"operation": "store", "vault": "…", "place": "device:/dev/tpmrm0", "key": "(base64)"}
///     {"operation": "fetch", "vault": "…", "place": "device:/dev/tpmrm0", "locator": "(base64)"}
public struct KeystoreRequest: Hashable, Sendable {
  public enum Operation: String, Sendable { case store, fetch, remove }

  /// The size of a presence key and of a boot key in bytes.
  public static let keyCount = 32
  /// The longest locator in bytes.
  public static let locatorLimit = 1 << 10
  /// The longest request in bytes.
  public static let frameLimit = 8 << 10

  public let operation: Operation
  /// The vault's id in hexadecimal.
  public let vault: String
  /// The keystore among those of its kind, as the settings name it: a TPM's device or a bus name. Empty
  /// for the usual one.
  public let place: String
  /// The locator that `store` returned; empty for `store` itself. Not secret.
  public let locator: [UInt8]

  public init(_ operation: Operation, vault: String, place: String, locator: [UInt8] = []) {
    self.operation = operation
    self.vault = vault
    self.place = place
    self.locator = locator
  }

  /// The encoded request; `key` is the key for `store` to keep.
  public func frame(key: RawSpan? = nil) -> SecretBuffer {
    // There is room for the whole request, so that the key is written once and never moved.
    var writer = JSONWriter(capacity: 4 << 10)
    writer.beginObject()
    writer.key("operation")
    writer.string(operation.rawValue)
    writer.key("vault")
    writer.string(vault)
    writer.key("place")
    writer.string(place)
    if let key {
      writer.key("key")
      writer.base64(key)
    } else {
      writer.key("locator")
      // Bytes have no padding: all are initialized.
      unsafe writer.base64(locator.span.bytes)
    }
    writer.endObject()
    return writer.finish()
  }

  /// Reads a frame that ``frame(key:)`` wrote; nil for any other frame.
  public init?(_ frame: borrowing Frame) {
    let root = frame.root
    guard let operation = frame.member("operation", of: root).flatMap({ frame.string($0) }).flatMap(Operation.init),
      let vault = frame.member("vault", of: root).flatMap({ frame.string($0) }),
      let place = frame.member("place", of: root).flatMap({ frame.string($0) })
    else { return nil }
    var locator: [UInt8] = []
    if operation != .store {
      guard let node = frame.member("locator", of: root), let bytes = Self.locator(frame, node) else { return nil }
      locator = bytes
    }
    self.init(operation, vault: vault, place: place, locator: locator)
  }

  /// The key in a frame, which has ``keyCount`` bytes; nil if there is none.
  public static func key(_ frame: borrowing Frame) -> SecretBuffer? {
    guard let node = frame.member("key", of: frame.root), frame.base64Count(node) == keyCount else { return nil }
    var key = SecretBuffer(capacity: keyCount)
    let isValid = key.append(count: keyCount) { frame.copyBase64(node, into: &$0) }
    if isValid { return key }
    return nil
  }

  static func locator(_ frame: borrowing Frame, _ node: Frame.Node) -> [UInt8]? {
    guard let count = frame.base64Count(node), count <= locatorLimit else { return nil }
    var locator = [UInt8](repeating: 0, count: count)
    var span = locator.mutableSpan
    // Bytes have no padding: all are initialized.
    var bytes = unsafe span.mutableBytes
    return frame.copyBase64(node, into: &bytes) ? locator : nil
  }
}
