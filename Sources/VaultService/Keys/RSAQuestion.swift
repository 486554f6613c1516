package import VaultCore

/// Work with an RSA key that takes so long that it is done in a process of its own.
package enum RSAQuestion: Hashable, Sendable {
  /// A signature of a digest by the key whose public half, in SSH's form, is this one.
  case sign(key: [UInt8], scheme: String, digest: [UInt8])
  /// A check that the numbers of such a key make a valid signature.
  case check(key: [UInt8])
  /// A new key of so many bits: in OpenSSH's form with a comment, otherwise in PKCS #8.
  case make(bits: Int, comment: String?)
}

/// The reason why such work came to nothing.
package enum RSAFailure: Error, Hashable, Sendable {
  /// The key cannot do it, for that reason.
  case refused(String)
  /// The program is not installed, or has ended.
  case unavailable(String)

  package var reason: String {
    switch self {
    case .refused(let reason), .unavailable(let reason): reason
    }
  }
}

/// The program that does such work.
package protocol RSAProgram: AnyObject {
  /// Starts a process with one question, and tells what came of it: a signature, nothing, or a new key.
  ///
  /// - Parameters:
  ///   - key: the private key in PKCS #8; nil for a new one.
  ///   - then: called once at most, and never within this call.
  ///   - gone: called once, when no process is left: at the end of each, however that came about.
  /// - Returns: what ends the process at once, so that `then` is not called any more.
  func ask(
    _ question: RSAQuestion, key: SecretBox?, then: @escaping (Result<SecretBox, RSAFailure>) -> Void,
    gone: @escaping () -> Void
  ) -> () -> Void
}
