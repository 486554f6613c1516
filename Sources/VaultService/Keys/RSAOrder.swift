internal import VaultCore
internal import VaultModel
internal import VaultSigning

/// The part of one call that large RSA keys have: kept for as long as the call is not answered, and made again with it.
///
/// The call is decided anew each time: when its turn comes, and when the work is done. What it asked for stays the
/// same. Where it ends, for whatever reason, so does the work for it.
package final class RSAOrder {
  private let works: RSAWorks
  private let place: RSAWorks.Place
  private let number: Int
  /// True when the attempt that goes on has asked for something.
  private var hasAsked = false
  /// The wait of the call; nil where it is for no RSA key.
  private(set) var wait: Wait?
  /// The number and the time of the token that is made, which stay those of the first attempt.
  var token: (id: String, now: Int64)?

  /// - Parameter goOn: makes the call again; nil for one that waits among ``Vault/waiting``.
  init(_ works: RSAWorks, of user: UInt32, goOn: (() -> Void)? = nil) {
    let number = works.nextNumber()
    (self.works, self.number, place) = (works, number, RSAWorks.Place(user: user))
    place.goOn = goOn ?? { [weak vault = works.vault] in vault?.waiting.go(.signature(number)) { true } }
  }

  deinit { works.leave(place) }

  /// Begins an attempt to answer the call.
  func begin() { (hasAsked, wait) = (false, nil) }

  /// Ends it. One that has not come as far as the key does not keep others waiting for it.
  func end() {
    guard !hasAsked else { return }
    works.leave(place)
    token = nil
  }

  /// A signature by a key: at once by a small one.
  ///
  /// - Throws: also where a large key's is still to be made: ``wait`` is set then.
  func sign(
    _ message: RawSpan, by key: borrowing PrivateKey, _ scheme: SignatureScheme, of accessible: AccessClass
  ) throws(SigningError) -> [UInt8] {
    guard key.publicKey.isLarge else { return try key.sign(message, scheme) }
    guard scheme.keyType == key.type else { throw SigningError("the scheme is for another type of key") }
    let digest = try scheme.digest(of: message)
    let question = RSAQuestion.sign(key: key.publicKey.sshBlob, scheme: scheme.rawValue, digest: digest)
    let signature: SecretBox?
    do throws(RSAStop) {
      hasAsked = true
      signature = try works.ask(place, question, of: accessible) { SecretBox(key.pkcs8()) }
    } catch {
      switch error {
      case .busy(let reason): throw SigningError(reason)
      case .failed(let failure): throw SigningError(failure.reason)
      case .locked: throw SigningError("the vault was locked meanwhile")
      }
    }
    guard let signature else {
      wait = .signature(number)
      throw SigningError("the signature is being made")
    }
    return signature.bytes.withBytes { $0.array }
  }

  /// The answer to a question that is not for a signature; nil while it waits or is worked on.
  func ask(_ question: RSAQuestion, key: () -> SecretBox?) throws(Refusal) -> SecretBox? {
    hasAsked = true
    do throws(RSAStop) { return try works.ask(place, question, of: .whenUnlocked, key: key) } catch {
      switch error {
      case .busy(let reason): throw .busy(reason)
      case .failed(.refused(let reason)): throw .invalidValue(kind: "", reason: reason)
      case .failed(.unavailable(let reason)): throw .misconfigured(reason)
      case .locked: throw works.vault.locked
      }
    }
  }
}

extension Items {
  /// The part of a call that large RSA keys may have.
  package func rsaOrder(for caller: Caller) -> RSAOrder { RSAOrder(rsa, of: caller.uid) }
}
