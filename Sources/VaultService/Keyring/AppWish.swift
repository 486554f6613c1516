internal import VaultCore

/// A sandboxed program's wish for its own secret, which the portal passes on. While the wish waits, the program's id is
/// kept as ``SealedTexts``.
package final class AppWish: Equatable {
  let app: SealedTexts
  let answer: (RawSpan) -> Void

  /// - Parameters:
  ///   - app: the program's id, as the portal gives it.
  ///   - answer: is lent the secret.
  /// - Throws: the fault if the id cannot be sealed in a vault that hides names.
  package init(_ app: String, _ keyring: Keyring, answer: @escaping (RawSpan) -> Void) throws(KeyringFault) {
    self.app = try SealedTexts([app], in: keyring.vault)
    self.answer = answer
  }

  package static func == (left: AppWish, right: AppWish) -> Bool { left === right }

  /// The program's id.
  func app(in vault: Vault) throws(KeyringFault) -> String {
    guard let app = try app.open(in: vault)?.first else { throw .noSuchObject }
    return app
  }
}
