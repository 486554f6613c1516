internal import VaultModel
internal import VaultSigning
internal import VaultStore

extension Items {
  /// Lends a signature by an item's key, in SSH's form, to `answer`.
  ///
  /// - Parameters:
  ///   - data: the data to sign; the calling code has checked that it can have only one meaning.
  ///   - flags: the flags of an agent's request, which choose the hash of an RSA key.
  ///   - detail: the purpose in words for the audit log.
  ///   - order: the work of this call with large RSA keys, the same object in each attempt.
  /// - Returns: nil if the signature was lent; otherwise what the caller may wait for.
  /// - Throws: the reason why there is no signature.
  package func signForSSH(
    _ reading: Reading, _ data: [UInt8], flags: UInt32, detail: String, _ order: RSAOrder, _ answer: ([UInt8]) -> Void
  ) throws(Refusal) -> Wait? {
    try use(reading, for: .ssh, detail, order) { (keychain, decide) throws(VaultError) in
      try keychain.withValue(of: reading.name, now: vault.clock.wall(), if: decide) { item, _, value in
        do throws(Refusal) {
          let key = try Self.privateKey(item, value)
          do throws(SigningError) {
            // Bytes have no padding.
            let signature = try key.publicKey.sshSignature(of: unsafe data.span.bytes, flags: flags) {
              (message, scheme) throws(SigningError) in
              try order.sign(message, by: key, scheme, of: item.policy.accessible)
            }
            return .success(signature)
          } catch { throw .misconfigured(error.reason) }
        } catch { return .failure(error) }
      }
    } _: { signature in
      answer(signature)
    }
  }
}
