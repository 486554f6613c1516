internal import VaultBytes
internal import VaultModel
internal import VaultService
internal import VaultWire

extension Fault {
  /// Translates a refusal into an error of the interface.
  ///
  /// - Parameter failed: the index of the refused item among the items of the call.
  init(_ refusal: Refusal, failed: Int? = nil) {
    switch refusal {
    case .invalid(let parameter): self = .service(.invalidParameter(parameter: parameter))
    case .noVault: self = .noVault
    case .vaultExists: self = .vaultExists
    case .locked(let state): self = .locked(state: state.kind.rawValue, cause: state.cause.text)
    case .timedOut, .unshown: self = .timedOut
    case .unanswered(let number): self = .unanswered(number: number.value)
    case .noSuchItem(let name, let isVerified): self = .noSuchItem(name: name, unverified: isVerified ? nil : true)
    case .noSuchVersion(let name, let version): self = .noSuchVersion(name: name, version: version)
    case .noSuchSlot(let id): self = .noSuchSlot(id: id)
    case .lastSlot: self = .lastSlot
    case .noSuchGrant(let subject):
      // The subject is named as in the reply of `Grants`.
      self = .noSuchGrant(subject: (try? Subject(parsing: subject)).map { VarlinkDoor.named($0) } ?? subject)
    case .noSuchRequest(let number): self = .noSuchRequest(number: number?.value)
    case .invalidGrant(let reason): self = .invalidGrant(reason: reason)
    case .alreadyExists(let name): self = .alreadyExists(name: name, failed: failed)
    case .expired(let name, let time): self = .expired(name: name, expires: time)
    case .invalidName(let name, let reason): self = .invalidName(name: name, reason: reason, failed: failed)
    case .invalidValue(let kind, let reason): self = .invalidValue(kind: kind, reason: reason, failed: failed)
    case .needsAnotherItem(let kind, let reason):
      self = .invalidValue(kind: kind, reason: reason, failed: failed, anotherItem: true)
    case .wrongKind(let name, let kind): self = .wrongKind(name: name, kind: kind.rawValue)
    case .wrongUse(let name, let use): self = .wrongUse(name: name, use: use?.name)
    case .neverRead(let name): self = .neverRead(name: name)
    case .notOnTheseTerms(let name, let reason): self = .notOnTheseTerms(name: name, reason: reason)
    case .invalidQuery(let reason, let position): self = .invalidQuery(reason: reason, position: position)
    case .authenticationFailed(let method, let wait):
      self = .authenticationFailed(method: method, retryAfterMilliseconds: wait)
    case .mistypedRecoveryCode: self = .mistypedRecoveryCode
    case .backingOff(let method, let wait): self = .backingOff(method: method, retryAfterMilliseconds: wait)
    case .unavailable(let method, let obstacle):
      self = .methodUnavailable(method: method, reason: obstacle.reason, advice: obstacle.advice)
    case .accountExpired(let reason): self = .accountExpired(reason: reason)
    case .tooManyTries: self = .tooManyTries
    case .presenceFailed(let reason): self = .presenceFailed(reason: reason)
    case .presenceRequired(let name, let requirement):
      self = .presenceRequired(name: name, require: requirement.name)
    case .rekeying: self = .rekeying
    case .rekeyRests: self = .rekeyRests
    case .noSuchDeposit(let number): self = .noSuchDeposit(number: number)
    case .cancelled: self = .cancelled
    case .weakSecret(let reason): self = .weakSecret(reason: reason)
    case .tooLarge(let limit): self = .tooLarge(limit: limit)
    case .tooMuch(let reason): self = .tooMuch(reason: reason)
    case .unapproved(let number):
      self = .denied(
        reason: "an administrator was asked, and has not approved this yet", request: number.value)
    case .approvalLost(let number?):
      self = .denied(
        reason: "another call has used the approval, and nobody has answered the request that followed",
        request: number.value)
    case .approvalLost(nil):
      self = .denied(
        reason: "another call has used the approval, and nobody can be asked again now", request: nil)
    case .denied(let reason): self = .denied(reason: reason, request: nil)
    case .corrupt(let reason, let isNewer, let advice):
      self = .corrupt(reason: reason, newer: isNewer, advice: advice)
    case .storageFailed(let reason), .unrecorded(let reason): self = .storageFailed(reason: reason)
    case .outOfMemory: self = .outOfMemory
    case .busy(let reason): self = .busy(reason: reason)
    case .invalidBackup(let reason): self = .invalidBackup(reason: reason)
    case .misconfigured(let reason): self = .misconfigured(reason: reason)
    }
  }

  /// Translates the error of a frame that cannot be read.
  init(_ error: FrameError) {
    switch error {
    case .tooLong(let limit): self = .tooLarge(limit: limit)
    case .invalidJSON(let offset, let reason): self = .invalidFrame(reason: "at byte \(offset): \(reason)")
    case .tooDeep: self = .invalidFrame(reason: "nested deeper than \(Frame.maximumDepth)")
    case .tooManyValues(let limit): self = .invalidFrame(reason: "more than \(limit) values")
    case .tooManyMembers(let limit): self = .invalidFrame(reason: "more than \(limit) members in one object")
    case .duplicateKey: self = .invalidFrame(reason: "the same key twice in one object")
    case .notAnObject: self = .invalidFrame(reason: "not a JSON object")
    }
  }
}

extension Refusal {
  /// The refusal in words for a log, and for programs that log them. They name no item, because names may be hidden.
  var reason: String { Fault(self).words().journal }
}
