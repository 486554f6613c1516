internal import VaultSigning

/// A reply of the ssh-agent protocol (RFC 9987).
public enum AgentReply: Hashable, Sendable {
  /// The request failed (type 5). The protocol has no field for a reason.
  case failure
  /// The request succeeded (type 6).
  case success
  /// The keys of the agent (type 12).
  case identities([Identity])
  /// A signature blob (type 14).
  case signature([UInt8])
  /// A known extension failed (type 28); for an unknown extension the reply is ``failure``.
  case extensionFailure
  /// The names of the agent's extensions (type 29), in reply to the extension `query`.
  case extensions([String])

  /// A key in the list.
  public struct Identity: Hashable, Sendable {
    /// The public key blob.
    public let key: [UInt8]
    /// The comment, often the path of the key's file.
    public let comment: String

    public init(key: [UInt8], comment: String) {
      self.key = key
      self.comment = comment
    }

    /// The bytes that the key takes in the list.
    fileprivate var size: Int { 8 + key.count + comment.utf8.count }
  }

  /// The highest number of keys that OpenSSH's client accepts in one list; it refuses a longer list as a whole.
  public static let maximumIdentities = 2048

  static let queryName = "query"

  /// The whole frame: its length, its type and its content.
  ///
  /// Keys that the client would not accept, because there are too many of them or the frame would be too long, are left
  /// out at the end of the list.
  public func encoded() -> [UInt8] {
    var writer = SSHWriter()
    writer.string(body())
    return writer.bytes
  }

  private func body() -> [UInt8] {
    var writer = SSHWriter()
    switch self {
    case .failure: writer.byte(5)
    case .success: writer.byte(6)
    case .identities(let identities):
      let (count, list) = Self.list(identities)
      writer.byte(12)
      writer.uint32(count)
      return writer.bytes + list
    case .signature(let blob):
      writer.byte(14)
      writer.string(blob)
    case .extensionFailure: writer.byte(28)
    case .extensions(let names):
      writer.byte(29)
      writer.string(Self.queryName)
      for name in names { writer.string(name) }
    }
    return writer.bytes
  }

  private static func list(_ identities: [Identity]) -> (count: UInt32, bytes: [UInt8]) {
    var writer = SSHWriter()
    let count = fitting(identities)
    for identity in identities.prefix(count) {
      writer.string(identity.key)
      writer.string(identity.comment)
    }
    return (UInt32(count), writer.bytes)
  }

  /// The number of keys, counted from the first, that fit into a list that the client accepts.
  ///
  /// - Parameter others: The keys that follow them in the list, and keep their places.
  public static func fitting(_ identities: [Identity], before others: [Identity] = []) -> Int {
    var count = 0
    // Besides the keys, the frame has a type and a number.
    var size = others.reduce(5) { $0 + $1.size }
    for identity in identities {
      size += identity.size
      guard count + others.count < maximumIdentities, size <= AgentRequest.maximumFrame else { break }
      count += 1
    }
    return count
  }
}
