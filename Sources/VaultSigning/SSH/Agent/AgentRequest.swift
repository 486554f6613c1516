/// A request of the ssh-agent protocol (RFC 9987), read to its last byte.
///
/// What is secret in a frame, a private key or a passphrase, is not copied: the request says where in the frame it lies, so
/// that it goes from there into secure memory. The same goes for the data to sign, which may be most of the frame.
public enum AgentRequest: Hashable, Sendable {
  /// The bytes that a frame may have after its length; OpenSSH's agent and client set the same limit.
  public static let maximumFrame = 256 << 10

  /// The keys of the agent are to be listed (type 11).
  case list
  /// Data are to be signed (type 13).
  case sign(SignRequest)
  /// A key is to be added (types 17 and 25).
  case add(AddedKey)
  /// The key with this public key blob is to be removed (type 18).
  case remove([UInt8])
  /// All keys are to be removed (type 19).
  case removeAll
  /// The agent is to be locked (type 22) with the passphrase at this place in the frame.
  case lock(Range<Int>)
  /// The agent is to be unlocked (type 23) with the passphrase at this place in the frame.
  case unlock(Range<Int>)
  /// The connection is to be bound to an SSH session. Nil where the message is malformed: that, too, is an attempt, of
  /// which ``SessionBindings/fail()`` is told.
  case bind(SessionBind?)
  /// The names of the agent's extensions are asked for (RFC 9987, the extension `query`).
  case query
  /// An extension that nothing here knows. The name is the client's own text.
  case unknownExtension(String)
  /// A message type without an operation here: those of SSH 1 (1, 3, 7, 8, 9 and 24), of smartcards (20, 21 and 26), and
  /// any other.
  case unsupported(UInt8)

  /// Reads `frame`, the bytes after a frame's length: a type, and what belongs to it.
  ///
  /// Ranges in the request count from the start of `frame`.
  /// - Throws: ``SSHFormatError`` for a frame that is cut off, too long or followed by more, for a key that cannot be held
  ///   here, and for a constraint that cannot be kept.
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
    // What follows the name is the extension's own business.
    default: return .unknownExtension(name)
    }
  }
}
