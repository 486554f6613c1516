/// An answer of the ssh-agent protocol (RFC 9987).
public enum AgentReply: Hashable, Sendable {
  /// What was asked for was not done (type 5). The protocol has no room for a reason.
  case failure
  /// It was done (type 6).
  case success
  /// The keys of the agent (type 12).
  case identities([Identity])
  /// A signature blob (type 14).
  case signature([UInt8])
  /// An extension that is known did not do what was asked for (type 28); for one that is not known it is ``failure``.
  case extensionFailure
  /// The names of the agent's extensions (type 29), as an answer to the extension `query`.
  case extensions([String])

  /// A key as it is listed.
  public struct Identity: Hashable, Sendable {
    /// The public key blob.
    public let key: [UInt8]
    /// The text beside it, often the path of the key's file.
    public let comment: String

    public init(key: [UInt8], comment: String) {
      self.key = key
      self.comment = comment
    }
  }

  /// The number of keys that OpenSSH's client takes in one list; it refuses the whole of a longer one.
  public static let maximumIdentities = 2048

  static let queryName = "query"

  /// The whole frame: its length, its type and its content.
  ///
  /// Keys that the client would not take, because there are too many or the frame is too long with them, are left out from
  /// the end of the list.
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
    var count: UInt32 = 0
    for identity in identities.prefix(maximumIdentities) {
      // Beside the list there are a type and a number.
      let size = writer.bytes.count + 5 + 8 + identity.key.count + identity.comment.utf8.count
      guard size <= AgentRequest.maximumFrame else { break }
      writer.string(identity.key)
      writer.string(identity.comment)
      count += 1
    }
    return (count, writer.bytes)
  }
}
