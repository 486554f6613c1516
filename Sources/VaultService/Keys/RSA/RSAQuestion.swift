package import VaultCore

/// A piece of work with an RSA key that takes so long that it is done in a process of its own.
package enum RSAQuestion: Hashable, Sendable {
  /// A signature of a digest by the key that has this public half, in SSH's form.
  case sign(key: [UInt8], scheme: String, digest: [UInt8])
  /// A check that the numbers of the key with this public half make a valid signature.
  case check(key: [UInt8])
  /// A new key of this size in bits: in OpenSSH's form if there is a comment, otherwise in PKCS #8.
  case make(bits: Int, comment: String?)
}

/// The reason why a piece of work with an RSA key has failed.
package enum RSAFailure: Error, Hashable, Sendable {
  /// The key cannot be used for the work, for this reason.
  case refused(String)
  /// The program is not installed, or has ended.
  case unavailable(String)
  /// The program did not answer in time, and was ended. The work may be done later.
  case unanswered(String)

  package var reason: String {
    switch self {
    case .refused(let reason), .unavailable(let reason), .unanswered(let reason): reason
    }
  }
}

/// The program that works with large RSA keys.
package protocol RSAProgram: AnyObject {
  /// Starts a process with one question. The result is a signature, nothing, or a new key.
  ///
  /// - Parameters:
  ///   - key: the private key in PKCS #8; nil for a new key.
  ///   - then: called at most once, and never within this call.
  ///   - gone: called once, when the process is gone, however it ended.
  /// - Returns: a closure that ends the process at once, after which `then` is not called.
  func ask(
    _ question: RSAQuestion, key: SecretBox?, then: @escaping (Result<SecretBox, RSAFailure>) -> Void,
    gone: @escaping () -> Void
  ) -> () -> Void
}
