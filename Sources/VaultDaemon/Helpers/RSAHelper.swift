internal import NIOCore
internal import VaultBytes
internal import VaultCore
internal import VaultService
internal import VaultWire

/// The helper `vault-rsa`, which computes with one large RSA key and exits.
final class RSAHelper: RSAProgram {
  /// The limits of a process. A process that exceeds its limit is ended, even if it was stopped.
  struct Limits {
    var signature = Timeouts.rsaSignature
    var key = Timeouts.rsaKey
  }

  private let programs: HelperPrograms
  private let limits: Limits

  init(_ programs: HelperPrograms, limits: Limits = Limits()) {
    self.programs = programs
    self.limits = limits
  }

  func ask(
    _ question: RSAQuestion, key: SecretBox?, then: @escaping (Result<SecretBox, RSAFailure>) -> Void,
    gone: @escaping () -> Void
  ) -> () -> Void {
    let (work, limit): (RSARequest.Work, TimeAmount) =
      switch question {
      case .sign(_, let scheme, let digest): (.sign(scheme: scheme, digest: digest), limits.signature)
      // The check makes one signature.
      case .check: (.check, limits.signature)
      case .make(let bits, let comment): (.make(bits: bits, comment: comment), limits.key)
      }
    let request = RSARequest(work, keyCount: key?.bytes.count ?? 0)
    let frame =
      if let key { key.bytes.withBytes { request.frame(key: $0) } } else { request.frame(key: RawSpan()) }
    // An immediate failure is also reported in a later turn of the loop, because `then` must never run within this
    // call.
    let loop = programs.loop.assumeIsolated()
    let later = { loop.execute(gone) }
    return programs.ask("vault-rsa", frame, within: limit, gone: later) { answer in
      let result = Self.result(answer)
      loop.execute { then(result) }
    }
  }

  /// Returns the content of an answer, and destroys the answer.
  private static func result(_ answer: consuming Result<Frame, HelperFailure>) -> Result<SecretBox, RSAFailure> {
    switch consume answer {
    case .failure(.tooSlow(let name, let seconds)):
      return .failure(.unanswered("\(name) did not answer within \(seconds) s and was ended"))
    case .failure(let failure): return .failure(.unavailable("\(failure)"))
    case .success(let frame):
      switch RSAReply(frame) {
      case .some(.made(let bytes)): return .success(SecretBox(bytes.withBytes { SecureBytes(copying: $0) }))
      case .some(.failed(let reason)): return .failure(.refused(reason))
      case .none: return .failure(.unavailable("vault-rsa does not follow its protocol"))
      }
    }
  }
}
