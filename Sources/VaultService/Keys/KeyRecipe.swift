internal import VaultCore
internal import VaultModel
internal import VaultSigning

/// A new key that the daemon makes, and that nobody has seen.
package enum KeyRecipe: Hashable, Sendable {
  case ed25519, p256
  /// An RSA key of this size in bits.
  case rsa(bits: Int)
  /// Plain bytes for keyed hashes.
  case hmac

  /// The sizes of new RSA keys in bits.
  package static let rsaBits = [3072, 4096]

  /// The question for a new key that takes a second or more to make; nil for a key that is made at once.
  func question(for use: KeyUse, _ name: ItemName) -> RSAQuestion? {
    switch self {
    case .ed25519, .p256, .hmac: nil
    case .rsa(let bits): .make(bits: bits, comment: use == .ssh ? name.text : nil)
    }
  }

  /// True for a key that takes a second or more to make.
  package var takesLong: Bool {
    switch self {
    case .ed25519, .p256, .hmac: false
    case .rsa: true
    }
  }

  /// Makes a key in the form that its use requires.
  ///
  /// - Parameter name: the item's name, which becomes the comment of a key in OpenSSH's form.
  func make(for use: KeyUse, _ name: ItemName) throws(ValueError) -> SecureBytes {
    let kind: NewKey.Kind
    switch self {
    case .hmac: return RandomBytes.secret(count: 32)
    case .ed25519: kind = .ed25519
    case .p256: kind = .p256
    case .rsa(let bits): kind = .rsa(bits: bits)
    }
    do throws(SigningError) {
      let key = try NewKey.key(kind)
      return use == .ssh ? key.openSSHPrivate(comment: name.text) : key.pkcs8()
    } catch {
      throw ValueError(reason: error.reason)
    }
  }
}
