internal import VaultBytes
internal import VaultModel

/// The public key to which values for a vault are sealed, with the id of that vault.
///
/// As text: `vault-key:` and the base64 (RFC 4648) of 1 byte format version, which is 1, 16 bytes vault id,
/// and 32 bytes key.
public struct DepositKey: Hashable, Sendable {
  public let vault: VaultID
  /// The public key, which has 32 bytes.
  public let publicKey: [UInt8]

  private static let formatVersion: UInt8 = 1
  private static let prefix = "vault-key:"

  /// Takes a key of 32 bytes.
  public init(vault: VaultID, publicKey: [UInt8]) {
    precondition(publicKey.count == SealedBox.keyCount, "a public key has 32 bytes")
    (self.vault, self.publicKey) = (vault, publicKey)
  }

  /// Reads the text of a key.
  ///
  /// - Throws: ``CryptoError/malformed(_:)`` for any other text.
  public init(parsing text: String) throws(CryptoError) {
    guard text.hasPrefix(Self.prefix), let bytes = [UInt8](base64: text.dropFirst(Self.prefix.count)),
      bytes.count == 1 + VaultID.count + SealedBox.keyCount, bytes[0] == Self.formatVersion
    else { throw .malformed("it is not the public key of a vault") }
    vault = try VaultID(Array(bytes[1..<1 + VaultID.count]))
    publicKey = Array(bytes[(1 + VaultID.count)...])
  }

  private var encoded: [UInt8] { [Self.formatVersion] + vault.bytes + publicKey }

  public var text: String { Self.prefix + encoded.base64 }

  /// A fingerprint for people to compare: 128 bits of BLAKE2b over the vault id and the key, in hexadecimal, in groups
  /// of four digits.
  public var fingerprint: String {
    let digest = Array((Array("vault public key".utf8) + encoded).withSpan { Digest(of: $0) }.array.prefix(16))
    return stride(from: 0, to: 16, by: 2).map { Array(digest[$0..<$0 + 2]).hex }.joined(separator: " ")
  }
}
