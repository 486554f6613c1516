internal import VaultBytes
internal import VaultCore
internal import VaultModel
internal import VaultSigning

/// Checks whether a value is a key for the use of its item.
enum KeyCheck {
  /// The fewest bytes of a key for keyed hashes, because a key of less than 128 bits can be guessed.
  static let shortestHashKey = 16
  /// The fewest bytes of a key for HS256 tokens (RFC 7518 section 3.2).
  static let shortestTokenKey = 32

  /// Checks a value, and the attributes for its use.
  ///
  /// - Returns: the public half in SSH's form; nil if there is none.
  /// - Throws: ``ValueError`` that says what is wrong without quoting the value.
  static func publicKey(
    _ use: KeyUse, _ value: RawSpan, _ attributes: [String: String]
  ) throws(ValueError) -> [UInt8]? {
    let longest = ItemKind.tlsKey.longest
    guard value.byteCount <= longest else { throw ValueError(reason: "a key has at most \(longest >> 10) KiB") }
    switch use {
    case .totp: return nil
    case .ssh, .sign: return try read(value).publicKey.sshBlob
    case .mac:
      try check(value, isAtLeast: shortestHashKey, "a key for keyed hashes", or: "have one made (--generate hmac256)")
      return nil
    case .jwt:
      do throws(TokenProblem) { _ = try TokenTerms(attributes: attributes) } catch {
        throw ValueError(reason: error.reason)
      }
      guard isPEM(value) else {
        try check(
          value, isAtLeast: shortestTokenKey, "a key for HS256 tokens",
          or: "a private key in PEM, in ASCII and not indented")
        return nil
      }
      let key = try read(value).publicKey
      guard key.type.facts.tokenScheme != nil else {
        throw ValueError(reason: "tokens are signed with Ed25519, P-256 or RSA, or with plain bytes by HS256")
      }
      return key.sshBlob
    }
  }

  /// Checks the parts of a value that has no use as a key here, but contains a private key, often with its certificate,
  /// for another program. For types of keys that this program does not compute with, only the form is checked.
  static func checkParts(_ kind: ItemKind, _ value: RawSpan) throws(ValueError) {
    do throws(KeyError) {
      switch kind {
      case .tlsKey: try PrivateKey(value).publicKey.leads(certificatesOf: value)
      case .sshKey: try PrivateKey(value).publicKey.agrees(withLinesOf: value)
      case .password, .apiKey, .deviceToken, .wifi, .pairingCode, .certificate, .totp, .note, .blob: return
      }
    } catch {
      switch error {
      case .unsupported, .size: return
      // A passphrase may protect an SSH key that another program uses.
      case .encrypted where kind == .sshKey: return
      case .noKey, .encrypted, .damaged, .mismatched, .otherCertificate, .certificateOrder, .library:
        throw ValueError(reason: error.reason)
      }
    }
  }

  /// True for a text that contains a PEM block, even a damaged one, at the beginning of a line.
  static func isPEM(_ value: RawSpan) -> Bool {
    do throws(PEMFault) { return try PEM.block(in: value, from: 0) != nil } catch { return true }
  }

  /// Checks a key of plain bytes.
  ///
  /// - Parameter other: what can be given instead, in words for the reason.
  private static func check(
    _ value: RawSpan, isAtLeast count: Int, _ what: String, or other: String
  ) throws(ValueError) {
    if let form = KeyForm(of: value) {
      throw ValueError(
        reason: "\(what) is plain bytes, and this is \(form.rawValue): give the bytes alone, or \(other)")
    }
    guard value.byteCount >= count else { throw ValueError(reason: "\(what) has \(count) bytes or more") }
  }

  private static func read(_ value: RawSpan) throws(ValueError) -> PrivateKey {
    do throws(KeyError) {
      let key = try PrivateKey(value)
      try key.publicKey.leads(certificatesOf: value)
      try key.publicKey.agrees(withLinesOf: value)
      // A signature by a large key takes so long that it is made elsewhere; see ``LargeKey``. If many large keys are
      // stored at once, no signature is made: libgcrypt returns no wrong signature, whatever the numbers are.
      if !key.publicKey.isLarge { try key.checkPrimes() }
      return key
    } catch .encrypted(let isOpenSSH) {
      // Neither program reads all forms of the other.
      let way =
        isOpenSSH
        ? "remove the passphrase from a copy of the file with `ssh-keygen -p -N '' -f COPY`"
        : "print the key without the passphrase with `openssl pkey -in FILE`"
      throw ValueError(reason: "the key is encrypted with a passphrase; \(way)")
    } catch {
      // Another form of the key is a better reason than what is missing or damaged in it.
      let slip: PEMSlip? =
        switch error {
        case .noKey, .damaged: PEMSlip(of: value)
        case .encrypted, .unsupported, .size, .mismatched, .otherCertificate, .certificateOrder, .library: nil
        }
      throw ValueError(reason: slip?.reason ?? error.reason)
    }
  }
}
