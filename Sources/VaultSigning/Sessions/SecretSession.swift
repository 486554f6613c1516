internal import VaultBytes
public import VaultCore
internal import VaultModel

/// A session of the Secret Service: the form in which a client and this program hand each other secrets (Secret Service
/// API Draft 0.2, section 7, "Transfer of Secrets").
///
/// A session with a key holds four pages of memory, so the number of a client's sessions must be limited.
public struct SecretSession: ~Copyable, Sendable {
  /// The ways of agreeing on a key and of encrypting with it, by their names on the bus.
  public enum Algorithm: String, CaseIterable, Sendable {
    /// Secrets as they are (section 7.2). Whoever can watch the bus reads them.
    case plain = "plain"
    /// A key agreed on in the second Oakley group (RFC 2409 section 6.2), derived by HKDF with SHA-256, without salt
    /// and info, from the shared secret with its leading zeros, and AES-128 in CBC mode with the padding of PKCS #7
    /// (section 7.3). It keeps secrets from those who store or watch messages, not from those who change them.
    case agreed = "dh-ietf1024-sha256-aes128-cbc-pkcs7"
  }

  /// The highest number of bytes of a secret as it travels.
  public static let mostBytes = PaddedCBC.paddedCount(ValueLimits.bytes)

  public let algorithm: Algorithm
  /// The public key for the client, 128 bytes; empty without an agreement.
  public let publicKey: [UInt8]
  /// The key of 16 bytes; nil without an agreement.
  private let key: SecureBytes?

  private init(_ algorithm: Algorithm, publicKey: [UInt8], key: consuming SecureBytes?) {
    self.algorithm = algorithm
    self.publicKey = publicKey
    self.key = key
  }

  /// Opens a session in which secrets travel as they are.
  public static func plain() -> SecretSession { SecretSession(.plain, publicKey: [], key: nil) }

  /// Opens a session with a new key, agreed on with the client.
  ///
  /// The private exponent and the shared secret lie in libgcrypt's secure memory and in ``SecureBytes``, and are wiped
  /// before this call returns. The call takes about a millisecond.
  ///
  /// - Parameter peerKey: the client's public key, a big-endian number. Leading zeros are allowed, even a 129th byte:
  ///   Java's clients send such a byte before half of all keys, those whose first bit is set.
  /// - Throws: ``SecretSessionError/publicKey`` unless the key lies from 2 to the prime minus 2.
  public static func agree(with peerKey: RawSpan) throws(SecretSessionError) -> SecretSession {
    defer { Stack.wipe() }
    return try compute(peerKey, SecondOakleyGroup.newExponent)
  }

  /// Opens a session with this private exponent, which is a big-endian number above 0.
  ///
  /// Only for programs that search memory for the exponent afterwards.
  package static func agree(
    with peerKey: RawSpan, exponent: borrowing SecureBytes
  ) throws(SecretSessionError) -> SecretSession {
    defer { Stack.wipe() }
    return try compute(peerKey) { () throws(SigningError) in
      try exponent.withBytes { (digits: RawSpan) throws(SigningError) in try Number(secret: digits) }
    }
  }

  /// Runs in a frame of its own, so that all its traces lie below the frame that wipes them.
  @inline(never)
  private static func compute(
    _ peerKey: RawSpan, _ makeExponent: () throws(SigningError) -> Number
  ) throws(SecretSessionError) -> SecretSession {
    do throws(SigningError) {
      let group = try SecondOakleyGroup()
      if let peer = try group.peer(peerKey) {
        let exponent = try makeExponent()
        let publicKey = try group.publicKey(of: exponent)
        // Nothing is computed after the secrets: a later computation could overwrite traces that the tests look for.
        let secret = try group.sharedSecret(with: peer, exponent)
        let key = try HKDF.derive(count: PaddedCBC.blockCount, from: secret)
        return SecretSession(.agreed, publicKey: publicKey, key: key)
      }
    } catch { throw .library(error) }
    throw .publicKey
  }

  /// More bytes of stack than libgcrypt takes to encrypt or decrypt a secret. Wiping as much as after an agreement
  /// would take longer than the cipher itself.
  private static let cipherStack = Stack.exchange

  /// The size in bytes of a secret of `count` bytes as it travels.
  public func encodedCount(_ count: Int) -> Int {
    switch algorithm {
    case .plain: count
    case .agreed: PaddedCBC.paddedCount(count)
    }
  }

  /// Writes the encoded form of `secret` into `room`, which must have the size that ``encodedCount(_:)`` gives.
  ///
  /// - Returns: The parameters that travel with it: 16 random bytes, new for each secret; none for a plain session.
  public func encode(_ secret: RawSpan, into room: inout MutableRawSpan) throws(SecretSessionError) -> [UInt8] {
    let parameters = key == nil ? [] : RandomBytes.array(count: PaddedCBC.blockCount)
    try encode(secret, parameters: parameters, into: &room)
    return parameters
  }

  /// Writes the encoded form of `secret` with given parameters, for tests and fuzz targets.
  func encode(
    _ secret: RawSpan, parameters: [UInt8], into room: inout MutableRawSpan
  ) throws(SecretSessionError) {
    switch key {
    case nil: room.copy(secret)
    case .some(let key):
      defer { Stack.wipe(Self.cipherStack) }
      do throws(SigningError) { try Self.encrypt(secret, key, parameters, &room) } catch { throw .library(error) }
    }
  }

  /// Reads a secret as it traveled.
  ///
  /// - Throws: ``SecretSessionError/secret`` if the parameters or the value have another form than the session's: a
  ///   plain session has no parameters, so a client that wrongly believes its session to be encrypted gets this error;
  ///   ``SecretSessionError/tooLong`` if the secret has more bytes than a value may have.
  public func decode(parameters: RawSpan, value: RawSpan) throws(SecretSessionError) -> SecureBytes {
    switch key {
    case nil:
      guard parameters.isEmpty else { throw .secret }
      guard value.byteCount <= ValueLimits.bytes else { throw .tooLong }
      return SecureBytes(copying: value)
    case .some(let key):
      guard parameters.byteCount == PaddedCBC.blockCount, !value.isEmpty,
        value.byteCount % PaddedCBC.blockCount == 0
      else { throw .secret }
      guard value.byteCount <= Self.mostBytes else { throw .tooLong }
      defer { Stack.wipe(Self.cipherStack) }
      let secret: SecureBytes?
      do throws(SigningError) { secret = try Self.decrypt(value, key, parameters) } catch { throw .library(error) }
      guard let secret else { throw .secret }
      // The check of the padded size lets up to 15 bytes too many pass.
      guard secret.count <= ValueLimits.bytes else { throw .tooLong }
      return secret
    }
  }
}

/// The computations, in frames of their own, so that all their traces lie below the frame that wipes them.
extension SecretSession {
  @inline(never)
  private static func encrypt(
    _ secret: RawSpan, _ key: borrowing SecureBytes, _ vector: [UInt8], _ room: inout MutableRawSpan
  ) throws(SigningError) {
    let cipher = try vector.withSpan { (vector: RawSpan) throws(SigningError) in
      try PaddedCBC(key: key, vector: vector)
    }
    try cipher.encrypt(secret, into: &room)
  }

  @inline(never)
  private static func decrypt(
    _ value: RawSpan, _ key: borrowing SecureBytes, _ vector: RawSpan
  ) throws(SigningError) -> SecureBytes? {
    try PaddedCBC(key: key, vector: vector).decrypt(value)
  }
}
