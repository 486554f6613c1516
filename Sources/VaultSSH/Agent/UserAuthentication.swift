internal import VaultModel
public import VaultSigning

/// The data that a client signs to log in to a server (RFC 4252 section 7, and OpenSSH's host-bound form).
///
/// The form is checked strictly, so that an agent that signs nothing but this and ``SSHSignatureBlob`` never signs data
/// that mean something else elsewhere. The requester chose the user's name, which may contain any character but NUL and
/// must be made safe before a person sees it.
public struct UserAuthentication: Hashable, Sendable {
  /// The identifier of the SSH session, 20 to 128 bytes.
  public let sessionID: [UInt8]
  /// The name of the user on the server, at most 1024 bytes.
  public let user: String
  /// The algorithm of the signature, such as `rsa-sha2-256`, or of a
  /// certificate, such as `rsa-sha2-256-cert-v01@openssh.com`.
  public let algorithm: String
  /// The scheme of the signature.
  let scheme: SignatureScheme
  /// The blob of the key or of its certificate, as the server receives it.
  public let key: [UInt8]
  /// The blob of the plain key that signs: ``key``, or the key in that certificate. The caller must check that this is
  /// the very key that is asked to sign.
  public let signer: [UInt8]
  /// The server's host key; nil unless the data have the host-bound form.
  public let hostKey: [UInt8]?

  /// The allowed lengths of a session's identifier in bytes. The identifier is the hash of a key exchange: at least as
  /// long as that of SHA-1, and at most what OpenSSH allows.
  static let sessionIDLength = 20...128

  private static let hostBoundMethod = "publickey-hostbound-v00@openssh.com"

  /// Reads the data of a request to sign.
  ///
  /// - Throws: ``SSHFormatError`` for any other data, for an algorithm that does not fit the key, and for `ssh-rsa`,
  ///   whose hash is SHA-1.
  public init(_ data: RawSpan) throws(SSHFormatError) {
    var reader = SSHReader(data)
    sessionID = try reader.array(data)
    guard Self.sessionIDLength.contains(sessionID.count) else {
      throw SSHFormatError("a session's identifier is not a hash")
    }
    guard try reader.byte(data) == 50 else { throw SSHFormatError("it is not a request to log in") }
    user = try reader.text(data, atMost: 1024)
    guard try reader.text(data, atMost: 64) == "ssh-connection" else {
      throw SSHFormatError("it asks for an unknown service")
    }
    let method = try reader.text(data, atMost: 64)
    guard method == "publickey" || method == Self.hostBoundMethod else {
      throw SSHFormatError("it logs in by an unknown method")
    }
    guard try reader.boolean(data) else { throw SSHFormatError("it has no room for a signature") }
    algorithm = try reader.text(data, atMost: 64)
    key = try reader.array(data)
    signer = try KeyBlob.plain(key)
    scheme = try Self.scheme(algorithm, of: try KeyBlob.type(key))
    hostKey = method == Self.hostBoundMethod ? try reader.array(data) : nil
    if let hostKey { _ = try KeyBlob.type(hostKey) }
    try reader.finish()
  }

  /// The scheme that an algorithm names, which must fit the key's type. RSA keys have algorithms of their own (RFC
  /// 8332); for other keys the algorithm has the name of the type. An algorithm for a certificate ends like its type.
  private static func scheme(_ algorithm: String, of type: String) throws(SSHFormatError) -> SignatureScheme {
    let suffix = type.hasSuffix(KeyBlob.certificateSuffix) ? KeyBlob.certificateSuffix : ""
    func plain(_ name: String) -> String { suffix.isEmpty ? name : String(name.dropLast(suffix.count)) }
    guard algorithm.hasSuffix(suffix), let scheme = SignatureScheme(sshName: plain(algorithm)),
      scheme.keyType == KeyType(sshName: plain(type))
    else {
      throw SSHFormatError(algorithm == type ? "RSA with SHA-1 is too weak" : "the algorithm does not fit the key")
    }
    return scheme
  }
}
