public import VaultSigning

/// A request of the ssh-agent protocol (RFC 9987), read to its last byte.
///
/// Secret data in a frame, such as a private key or a passphrase, are not copied: the request holds their place in the
/// frame, so that they go from there into secure memory. The same holds for the data to sign, which may be most of the
/// frame.
public enum AgentRequest: Hashable, Sendable {
  /// The highest number of bytes of a frame after its length; OpenSSH's agent and client have the same limit.
  public static let maximumFrame = 256 << 10

  /// Lists the keys of the agent (type 11).
  case list
  /// Signs data (type 13).
  case sign(SignRequest)
  /// Adds a key (types 17 and 25).
  case add(AddedKey)
  /// Removes the key with this public key blob (type 18).
  case remove([UInt8])
  /// Removes all keys (type 19).
  case removeAll
  /// Locks the agent (type 22) with the passphrase at this place in the frame.
  case lock(Range<Int>)
  /// Unlocks the agent (type 23) with the passphrase at this place in the frame.
  case unlock(Range<Int>)
  /// Binds the connection to an SSH session. Nil if the message is malformed; the caller must then call
  /// ``SessionBindings/fail()``.
  case bind(SessionBind?)
  /// Asks for the names of the agent's extensions (RFC 9987, the extension `query`).
  case query
  /// Calls an unknown extension. The client chose the name.
  case unknownExtension(String)
  /// A message type without an operation here: those of SSH 1 (1, 3, 7, 8, 9 and 24), those of smartcards (20, 21 and
  /// 26), and any other.
  case unsupported(UInt8)

  /// Reads `frame`, which holds the bytes after a frame's length: a type and its data.
  ///
  /// Ranges in the request are relative to the start of `frame`.
  /// - Throws: ``SSHFormatError`` for a frame that is cut off, too long or followed by more bytes, for a key that
  ///   cannot be held here, and for a constraint that cannot be enforced.
  public init(_ frame: RawSpan) throws(SSHFormatError) {
    guard frame.byteCount <= Self.maximumFrame else { throw SSHFormatError("a frame is too long") }
    var reader = SSHReader(frame)
    let type = try reader.byte(frame)
    switch type {
    case 11: self = .list
    case 13: self = .sign(try SignRequest(&reader, frame))
    case 17: self = .add(try AddedKey(&reader, frame, areConstraintsExpected: false))
    case 18: self = .remove(try reader.array(frame))
    case 19: self = .removeAll
    case 22: self = .lock(try reader.string(frame))
    case 23: self = .unlock(try reader.string(frame))
    case 25: self = .add(try AddedKey(&reader, frame, areConstraintsExpected: true))
    case 27:
      self = try Self.readExtension(&reader, frame)
      return
    default:
      self = .unsupported(type)
      return
    }
    try reader.finish()
  }

  private static func readExtension(
    _ reader: inout SSHReader, _ frame: RawSpan
  ) throws(SSHFormatError) -> AgentRequest {
    let name = try reader.text(frame, atMost: 256)
    switch name {
    case SessionBind.name: return .bind(try? SessionBind(&reader, frame))
    case AgentReply.queryName:
      try reader.finish()
      return .query
    // The data after the name belong to the extension.
    default: return .unknownExtension(name)
    }
  }
}
