internal import VaultCore
internal import VaultModel
internal import VaultSigning

extension KeyRecipe {
  /// The question for a new key that takes a second or more to make, which is an RSA key; nil for a key that is made at
  /// once.
  func question(for use: KeyUse, _ name: ItemName) -> RSAQuestion? {
    takesLong ? .make(bits: facts.bits, comment: Self.comment(for: use, name)) : nil
  }

  /// Makes a key in the form that its use requires.
  ///
  /// - Parameter name: the item's name, which becomes the comment of a key in OpenSSH's form.
  func make(for use: KeyUse, _ name: ItemName) throws(ValueError) -> SecureBytes {
    let facts = facts
    guard let type = facts.type else { return RandomBytes.secret(count: facts.bits / 8) }
    do throws(SigningError) {
      let key = try NewKey.key(type, bits: facts.bits)
      guard let comment = Self.comment(for: use, name) else { return key.pkcs8() }
      return key.openSSHPrivate(comment: comment)
    } catch {
      throw ValueError(reason: error.reason)
    }
  }

  /// The comment of a key in OpenSSH's form; nil for a key in PKCS #8.
  private static func comment(for use: KeyUse, _ name: ItemName) -> String? { use == .ssh ? name.text : nil }
}
