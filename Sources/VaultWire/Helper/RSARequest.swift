public import VaultBytes
internal import VaultModel

/// A request of the daemon to `vault-rsa`: one JSON object, ended by a NUL, and after it the private key, whose size
/// the object states.
///
///     {"work": "sign", "scheme": "rsaPSSSHA256", "digest": "(base64)", "key": 3272}
///     {"work": "check", "key": 3272}
///     {"work": "make", "bits": 4096, "comment": "ssh/deploy"}
///
/// The key is not part of the object, so that it is read into its final memory and into no other.
public struct RSARequest: Hashable, Sendable {
  public enum Work: Hashable, Sendable {
    /// Signs a digest with the scheme of that name.
    case sign(scheme: String, digest: [UInt8])
    /// Checks that the key's numbers make a valid signature.
    case check
    /// Makes a new key of `bits` bits: in OpenSSH's form if there is a comment, otherwise in PKCS #8.
    case make(bits: Int, comment: String?)
  }

  /// The longest object in bytes; a comment is the name of an item.
  public static let frameLimit = 4 << 10
  /// The longest private key in bytes.
  public static let keyLimit = 16 << 10
  private static let digests = 32...64

  public let work: Work
  /// The size in bytes of the key that follows.
  public let keyCount: Int

  public init(_ work: Work, keyCount: Int) {
    self.work = work
    self.keyCount = keyCount
  }

  /// The encoded request, followed by the key, which must have ``keyCount`` bytes.
  public func frame(key: RawSpan) -> SecretBuffer {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("work")
    switch work {
    case .sign(let scheme, let digest):
      writer.string("sign")
      writer.key("scheme")
      writer.string(scheme)
      writer.key("digest")
      // Bytes have no padding: all are initialized.
      unsafe writer.base64(digest.span.bytes)
    case .check: writer.string("check")
    case .make(let bits, let comment):
      writer.string("make")
      writer.key("bits")
      writer.integer(Int64(bits))
      if let comment {
        writer.key("comment")
        writer.string(comment)
      }
    }
    writer.key("key")
    writer.integer(Int64(key.byteCount))
    writer.endObject()
    let object = writer.finish()
    // There is room for the whole frame, so that the key is written once and never moved.
    var frame = SecretBuffer(capacity: object.count + key.byteCount)
    object.withBytes { frame.append($0) }
    frame.append(key)
    return frame
  }

  /// Reads a frame that ``frame(key:)`` wrote, up to the key; nil for any other frame.
  public init?(_ frame: borrowing Frame) {
    let root = frame.root
    guard let name = frame.member("work", of: root).flatMap({ frame.string($0) }),
      let count = frame.member("key", of: root).flatMap({ frame.integer($0) }), (0...Self.keyLimit).contains(Int(count))
    else { return nil }
    keyCount = Int(count)
    switch name {
    case "sign":
      guard let scheme = frame.member("scheme", of: root).flatMap({ frame.string($0) }),
        let node = frame.member("digest", of: root), let size = frame.base64Count(node), Self.digests.contains(size)
      else { return nil }
      var digest = [UInt8](repeating: 0, count: size)
      var span = digest.mutableSpan
      // Bytes have no padding: all are initialized.
      var bytes = unsafe span.mutableBytes
      guard frame.copyBase64(node, into: &bytes) else { return nil }
      work = .sign(scheme: scheme, digest: digest)
    case "check": work = .check
    case "make":
      guard let bits = frame.member("bits", of: root).flatMap({ frame.integer($0) }) else { return nil }
      work = .make(bits: Int(bits), comment: frame.member("comment", of: root).flatMap { frame.string($0) })
    default: return nil
    }
  }
}
