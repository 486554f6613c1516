internal import VaultBytes
internal import VaultCore
internal import VaultModel
internal import VaultSigning

/// The work of one call with large RSA keys. It is kept until the call is answered, and used again in each attempt of
/// the call.
///
/// The call is decided again in each attempt: when its turn has come, and when the work is done. Its question stays the
/// same. When the call ends, for whatever reason, the work for it ends as well.
package final class RSAOrder {
  private let works: RSAWorks
  private let place: RSAWorks.Place
  private let number: Int
  /// True when the current attempt has asked a question.
  private var hasAsked = false
  /// The wait of the call; nil if it does not wait for an RSA key.
  private(set) var wait: Wait?
  /// The refusal of the call, if it may work later; nil otherwise.
  private(set) var refusal: Refusal?
  /// The id and the time of the token that is made; later attempts keep those of the first.
  var token: (id: String, now: Int64)?

  /// - Parameter goOn: repeats the call; nil for a call that waits among ``Vault/waiting``.
  init(_ works: RSAWorks, of user: UInt32, goOn: (() -> Void)? = nil) {
    let number = works.nextNumber()
    (self.works, self.number, place) = (works, number, RSAWorks.Place(user: user))
    place.goOn = goOn ?? { [weak vault = works.vault] in vault?.waiting.go(.signature(number)) { true } }
  }

  deinit { works.leave(place) }

  /// Begins an attempt to answer the call.
  func begin() { (hasAsked, wait, refusal) = (false, nil, nil) }

  /// Ends an attempt. If the attempt has not asked a question, the call gives up its place, so that it keeps no other
  /// call waiting.
  func end() {
    guard !hasAsked else { return }
    works.leave(place)
    token = nil
  }

  /// A signature by a key. With a small key, the signature is made at once.
  ///
  /// - Throws: an error, also while the signature of a large key is still to be made; ``wait`` is set in that case. If
  ///   the work may be done later, ``refusal`` is set.
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
      case .failed(let failure):
        if case .unanswered(let reason) = failure { refusal = .interrupted(reason) }
        throw SigningError(failure.reason)
      case .locked: throw SigningError("the vault was locked meanwhile")
      }
    }
    guard let signature else {
      wait = .signature(number)
      throw SigningError("the signature is being made")
    }
    return signature.bytes.withBytes { $0.array }
  }

  /// The answer to a question other than for a signature; nil while the question waits or is worked on.
  func ask(_ question: RSAQuestion, key: () -> SecretBox?) throws(Refusal) -> SecretBox? {
    hasAsked = true
    do throws(RSAStop) { return try works.ask(place, question, of: .whenUnlocked, key: key) } catch {
      switch error {
      case .busy(let reason): throw .busy(reason)
      case .failed(.refused(let reason)): throw .invalidValue(kind: "", reason: reason)
      case .failed(.unavailable(let reason)): throw .misconfigured(reason)
      case .failed(.unanswered(let reason)): throw .interrupted(reason)
      case .locked: throw works.vault.locked
      }
    }
  }
}

extension Items {
  /// The work of a call that may need large RSA keys.
  package func rsaOrder(for caller: Caller) -> RSAOrder { RSAOrder(rsa, of: caller.uid) }
}
