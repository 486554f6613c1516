public import VaultSigning

/// A client's statement that its connection to the agent belongs to an SSH session with a certain host, proven by that
/// host's signature (OpenSSH's PROTOCOL.agent section 1).
public struct SessionBind: Hashable, Sendable {
  /// The name of the agent's extension.
  public static let name = "session-bind@openssh.com"

  /// The blob of the server's host key, or of its certificate.
  public let hostKey: [UInt8]
  /// The identifier of the session, 20 to 128 bytes.
  public let sessionID: [UInt8]
  /// The host key's signature over ``signedBytes``, as a signature blob.
  public let signature: [UInt8]
  /// True if the session forwards the agent to the host; false if it logs in there.
  public let isForwarding: Bool

  /// Makes a bind from its parts, without checking them.
  public init(hostKey: [UInt8], sessionID: [UInt8], signature: [UInt8], isForwarding: Bool) {
    self.hostKey = hostKey
    self.sessionID = sessionID
    self.signature = signature
    self.isForwarding = isForwarding
  }

  /// The bytes that the host signed in the key exchange: the session's identifier itself.
  public var signedBytes: [UInt8] { sessionID }

  /// The plain key of the host, which makes its signatures; for a certificate, the key in it.
  ///
  /// - Throws: ``SSHFormatError`` for an unknown type.
  public func signer() throws(SSHFormatError) -> [UInt8] { try KeyBlob.plain(hostKey) }

  /// Reads the data after the extension's name.
  init(_ reader: inout SSHReader, _ frame: RawSpan) throws(SSHFormatError) {
    hostKey = try reader.array(frame)
    _ = try KeyBlob.type(hostKey)
    sessionID = try reader.array(frame)
    guard UserAuthentication.sessionIDLength.contains(sessionID.count) else {
      throw SSHFormatError("a session's identifier is not a hash")
    }
    signature = try reader.array(frame)
    isForwarding = try reader.boolean(frame)
    try reader.finish()
  }
}
