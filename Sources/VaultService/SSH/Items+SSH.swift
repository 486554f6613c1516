package import VaultModel
internal import VaultSigning
internal import VaultStore

extension Items {
  /// Lends a signature by an item's key, in SSH's form, to `answer`.
  ///
  /// - Parameters:
  ///   - data: what is signed; whoever calls has looked at it, and found that it can mean one thing alone.
  ///   - flags: those of an agent's request, which choose the hash of an RSA key.
  ///   - detail: what it is for, for the audit log.
  ///   - order: the call's, the same in each attempt.
  /// - Returns: nil when it was lent; while the vault is locked, what the caller may wait for.
  /// - Throws: why there is none.
  package func signForSSH(
    _ name: ItemName, _ data: [UInt8], flags: UInt32, detail: String, for caller: Caller, _ said: Said,
    _ order: RSAOrder, _ answer: ([UInt8]) -> Void
  ) throws(Refusal) -> Wait? {
    try use(name, for: .ssh, detail, for: caller, said, order) { (keychain, decide) throws(VaultError) in
      try keychain.withValue(of: name, now: vault.clock.wall(), if: decide) { item, _, value in
        do throws(Refusal) {
          let key = try Self.privateKey(item, value)
          do throws(SigningError) {
            // Bytes have no padding.
            let signature = try key.publicKey.sshSignature(of: unsafe data.span.bytes, flags: flags) {
              (message, scheme) throws(SigningError) in
              try order.sign(message, by: key, scheme, of: item.policy.accessible)
            }
            return .made(signature)
          } catch { throw .misconfigured(error.reason) }
        } catch { return .refused(error) }
      }
    } _: { signature in
      answer(signature)
    }
  }
}
