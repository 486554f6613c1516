internal import VaultModel
internal import VaultSigning

/// A request to sign (RFC 9987, type 13): the key, the data and the flags.
public struct SignRequest: Hashable, Sendable {
  /// The public key blob of the signing key.
  public let key: [UInt8]
  /// The place of the data in the frame.
  public let data: Range<Int>
  /// The flags as received, including unknown ones.
  public let flags: Flags

  /// The options of a client that asks for a signature. Only RSA has any.
  public struct Flags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// An RSA key signs with `rsa-sha2-256` (RFC 8332). If both flags are set, OpenSSH's agent uses this one.
    public static let rsaSHA256 = Flags(rawValue: SignatureScheme.rsaPKCS1SHA256.facts.agentFlag)
    /// An RSA key signs with `rsa-sha2-512` (RFC 8332).
    public static let rsaSHA512 = Flags(rawValue: SignatureScheme.rsaPKCS1SHA512.facts.agentFlag)
  }

  init(_ reader: inout SSHReader, _ frame: RawSpan) throws(SSHFormatError) {
    key = try reader.array(frame)
    data = try reader.string(frame)
    flags = Flags(rawValue: try reader.uint32(frame))
  }
}
