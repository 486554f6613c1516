internal import VaultBytes
public import VaultSigning

/// The data that `ssh-keygen -Y sign` and git sign with an SSH key: a hash of the message, and the purpose of the
/// signature (OpenSSH's PROTOCOL.sshsig section 3).
public struct SSHSignatureBlob: Hashable, Sendable {
  /// The purpose, such as `git` or `file`: 1 to 256 bytes that the requester chose, to be made safe before
  /// a person sees them.
  public let namespace: String
  /// The hash algorithm of the message.
  public let hashAlgorithm: HashAlgorithm
  /// The hash of the message, of the size that its algorithm gives.
  public let hash: [UInt8]

  /// The algorithms that the format allows.
  public enum HashAlgorithm: String, CaseIterable, Sendable {
    case sha256, sha512

    /// The size of a hash in bytes.
    public var size: Int { self == .sha256 ? 32 : 64 }
  }

  private static let magic = Array("SSHSIG".utf8)

  /// True if `data` begins with the bytes `SSHSIG`. Nothing else that SSH signs begins with them: other data begin with
  /// a length, and as a length these bytes would be too large.
  public static func isBegun(by data: RawSpan) -> Bool {
    data.byteCount >= magic.count && magic.indices.allSatisfy { data.byte($0) == magic[$0] }
  }

  /// Reads the data of a request to sign.
  ///
  /// - Throws: ``SSHFormatError`` for any other data, and for a reserved field that is not empty: a verifier ignores
  ///   that field, but the signer would be responsible for it.
  public init(_ data: RawSpan) throws(SSHFormatError) {
    guard Self.isBegun(by: data) else { throw SSHFormatError("it is not to be signed by SSHSIG") }
    var reader = SSHReader(Self.magic.count..<data.byteCount)
    namespace = try reader.text(data, atMost: 256)
    guard !namespace.isEmpty else { throw SSHFormatError("a namespace is empty") }
    guard try reader.string(data).isEmpty else { throw SSHFormatError("a reserved field is not empty") }
    guard let algorithm = HashAlgorithm(rawValue: try reader.text(data, atMost: 16)) else {
      throw SSHFormatError("a hash is of an unknown algorithm")
    }
    hashAlgorithm = algorithm
    hash = try reader.array(data)
    guard hash.count == algorithm.size else { throw SSHFormatError("a hash is of the wrong size") }
    try reader.finish()
  }
}
