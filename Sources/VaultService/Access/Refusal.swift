internal import VaultCore
package import VaultModel
package import VaultStore

/// The reason why a request is refused, for every door.
package enum Refusal: Error, Equatable {
  /// A parameter, by its name, has a value that it cannot have.
  case invalid(String)
  case noVault
  case vaultExists
  /// The vault is locked; the state says since when and why.
  case locked(LockState)
  /// The time to wait is over, and the vault is still locked.
  case timedOut
  /// The time to wait is over, and nobody has shown the presence that the item requires.
  case unshown
  /// The time to wait is over, and no administrator has answered the request of this number.
  case unanswered(QuestionNumber)
  /// Administrators are asked by the request of this number, and have not answered yet.
  case unapproved(QuestionNumber)
  /// Another call has used the approval for which this one waited, and nobody has answered the request of this number,
  /// which followed; nil if nobody is asked again, because the caller has made too many requests, for example.
  case approvalLost(QuestionNumber?)
  /// There is no such item. If `isVerified`, the store was found whole, so nobody has taken the item away.
  case noSuchItem(String, isVerified: Bool)
  case noSuchVersion(String, Int)
  case noSuchSlot(Int)
  /// There is no grant for this subject, or none for this pattern.
  case noSuchGrant(String)
  /// There is no request, approval or inquiry with this number; nil if there is no such denial.
  case noSuchRequest(QuestionNumber?)
  case invalidGrant(String)
  case lastSlot
  case alreadyExists(String)
  /// The item has expired at this time, in Unix seconds.
  case expired(String, Int64)
  case invalidName(String, reason: String)
  case invalidValue(kind: String, reason: String)
  /// The change would alter what the item always stays, so only another item would help.
  case needsAnotherItem(kind: String, reason: String)
  /// The operation is for items of other kinds; `kind` is this item's.
  case wrongKind(String, kind: ItemKind)
  /// The operation is for keys made for another use; `use` is the use of this key, nil if the item is no key.
  case wrongUse(String, use: KeyUse?)
  /// The item's key is never read, and only a generated value can replace it.
  case neverRead(String)
  /// The item's attributes do not allow the terms of the operation.
  case notOnTheseTerms(String, reason: String)
  /// The query is invalid; `position` is the byte offset in the query.
  case invalidQuery(reason: String, position: Int)
  /// The secret was wrong; the next attempt is possible after `wait` milliseconds.
  case authenticationFailed(method: String, wait: Int)
  case mistypedRecoveryCode
  case backingOff(method: String, wait: Int)
  case unavailable(method: String, Obstacle)
  case accountExpired(String)
  case tooManyTries
  case presenceFailed(String)
  case presenceRequired(String, Requirement)
  case rekeying
  /// A rekey is paused, because the vault is locked.
  case rekeyRests
  case noSuchDeposit(Int)
  case cancelled
  case weakSecret(String)
  case tooLarge(limit: Int)
  case tooMuch(String)
  case denied(String)
  /// The store is corrupt, or a later program wrote it, if `isNewer`.
  case corrupt(String, isNewer: Bool, advice: String?)
  case storageFailed(String)
  /// No entry of the call can be written, and one is required.
  case unrecorded(String)
  case outOfMemory
  case busy(String)
  case invalidBackup(String)
  case misconfigured(String)

  /// The reason for the journal, without its advice. It names no item, because names may be hidden.
  package var reason: String {
    switch self {
    case .corrupt(let reason, _, _), .storageFailed(let reason), .unrecorded(let reason), .busy(let reason),
      .invalidBackup(let reason), .misconfigured(let reason), .denied(let reason), .invalidGrant(let reason),
      .weakSecret(let reason), .tooMuch(let reason), .accountExpired(let reason), .presenceFailed(let reason),
      .invalidName(_, let reason), .invalidValue(_, let reason), .needsAnotherItem(_, let reason),
      .notOnTheseTerms(_, let reason), .invalidQuery(let reason, _):
      reason
    case .unavailable(_, let obstacle): obstacle.reason
    case .invalid(let parameter): "an invalid \(parameter) was sent"
    case .noVault: VaultError.noVault.text
    case .vaultExists: VaultError.vaultExists.text
    case .locked: VaultError.locked.text
    case .timedOut: "nobody has unlocked the vault in time"
    case .unshown: "nobody has shown presence in time"
    case .unanswered: "no administrator has answered in time"
    case .unapproved: "an administrator was asked, and has not approved this yet"
    case .approvalLost(.some): "another call has used the approval, and nobody has answered the request that followed"
    case .approvalLost(.none): "another call has used the approval, and nobody can be asked again now"
    case .noSuchItem: VaultError.noSuchItem.text
    case .noSuchVersion(_, let number): VaultError.noSuchVersion(number).text
    case .noSuchSlot(let id): "there is no slot \(id)"
    case .noSuchGrant: "there is no such grant"
    case .noSuchRequest: "there is no such request"
    case .lastSlot: VaultError.lastSlot.text
    case .alreadyExists: VaultError.alreadyExists.text
    case .expired(_, let time): VaultError.expired(time).text
    case .wrongKind: "the item is of another kind"
    case .wrongUse: "the key is for another use"
    case .neverRead: VaultError.neverRead.text
    case .authenticationFailed, .mistypedRecoveryCode: "the secret was not accepted"
    case .backingOff: "the last try was too short a time ago"
    case .tooManyTries: "there were too many tries"
    case .presenceRequired: "the item asks for a person each time"
    case .rekeying: VaultError.rekeying.text
    case .rekeyRests: "the rekey waits for an unlock"
    case .noSuchDeposit(let number): "there is no deposit \(number)"
    case .cancelled: "it was cancelled"
    case .tooLarge(let limit): "the value has more than \(limit) bytes"
    case .outOfMemory: "there is not enough memory"
    }
  }

  /// The refusal of requests over a connection whose process has ended.
  package static let disowned = Refusal.denied("the process that connected has ended")

  static func unavailable(_ method: String, _ obstacle: Obstacle) -> Refusal { .unavailable(method: method, obstacle) }

  static func unavailable(_ method: String, _ reason: String, _ advice: String? = nil) -> Refusal {
    .unavailable(method: method, Obstacle(reason, advice))
  }

  /// The refusal for an error of the store that is not about a single item.
  init(_ error: VaultError) {
    switch error {
    case .noVault: self = .noVault
    case .vaultExists: self = .vaultExists
    case .noSuchSlot(let id): self = .noSuchSlot(Int(id))
    case .lastSlot: self = .lastSlot
    case .rekeying: self = .rekeying
    case .overtaken, .backingUp: self = .busy(error.text)
    case .tooLarge(let limit): self = .tooLarge(limit: limit)
    case .newer(let version):
      let reason = "the store was written by a newer version of vault (format \(version))"
      self = .corrupt(reason, isNewer: true, advice: "use that version")
    case .corrupt(let reason): self = .corrupt(reason, isNewer: false, advice: nil)
    case .distrusted(let reason, let advice): self = .corrupt(reason, isNewer: false, advice: advice)
    case .permissions, .inUse: self = .misconfigured(error.text)
    case .neverRead: self = .denied(error.text)
    case .locked, .noSuchItem, .noSuchVersion, .alreadyExists, .expired, .notAllowed, .secondStore, .storage,
      .invalidValue, .needsAnotherItem:
      self = .storageFailed(error.text)
    }
  }

  /// The refusal of a question about grants if their records are not the ones stored last, or cannot be read.
  init(grants error: VaultError) {
    guard case .corrupt(let reason) = error else {
      self.init(error)
      return
    }
    let advice = "`vault verify` says what is wrong, `vault salvage` saves the rest"
    self = .corrupt(reason, isNewer: false, advice: advice)
  }

  /// The reason for the journal, with its advice.
  var sentence: String {
    if case .corrupt(_, _, let advice?) = self { Clauses.joined(reason, advice) } else { reason }
  }

  init(_ error: CryptoError) {
    switch error {
    case .authenticationFailed, .malformed: self = .corrupt(error.reason, isNewer: false, advice: nil)
    case .limits(let reason): self = .weakSecret(reason)
    case .outOfMemory: self = .outOfMemory
    }
  }

  /// The reason why a method did not unlock the vault, in words for the person who tried.
  var obstacle: Obstacle {
    switch self {
    case .unavailable(_, let obstacle): obstacle
    case .accountExpired(let reason), .presenceFailed(let reason): Obstacle(reason)
    // A question that takes a password costs a wait, whatever failed. A question for a finger alone costs none.
    case .authenticationFailed(SlotKind.pam.name, let wait):
      Obstacle(wait > 0 ? "login password not accepted" : "fingerprint not recognized")
    case .authenticationFailed: Obstacle("not accepted")
    case .backingOff(_, let milliseconds):
      Obstacle("too soon after the last attempt, wait \((milliseconds + 999) / 1000) s")
    case .tooManyTries: Obstacle("too many tries")
    case .outOfMemory: Obstacle("there was not enough memory to check it")
    default: Obstacle("that did not work")
    }
  }
}

extension Vault {
  /// The refusal for an error of the store about one item.
  func refusal(_ error: VaultError, _ name: String, kind: ItemKind? = nil) -> Refusal {
    switch error {
    case .locked: .locked(state)
    case .noSuchItem: .noSuchItem(name, isVerified: isVerified)
    case .noSuchVersion(let version): .noSuchVersion(name, version)
    case .alreadyExists: .alreadyExists(name)
    case .expired(let time): .expired(name, time)
    case .invalidValue(let reason): .invalidValue(kind: kind?.rawValue ?? "", reason: reason)
    case .needsAnotherItem(let reason): .needsAnotherItem(kind: kind?.rawValue ?? "", reason: reason)
    case .neverRead: .neverRead(name)
    default: Refusal(error)
    }
  }

  /// True when all records are known to be the ones that were written last.
  var isVerified: Bool { openKeychain?.isVerified ?? false }
}

extension VaultError {
  var isInUse: Bool { if case .inUse = self { true } else { false } }

  /// The error in one sentence for a person.
  package var text: String {
    switch self {
    case .noVault: "there is no vault"
    case .vaultExists: "there is already a vault"
    case .inUse(let pid): "another vaultd \(pid.map { "(pid \($0)) " } ?? "")serves this vault"
    case .locked: "the vault is locked"
    case .noSuchItem: "there is no such item"
    case .noSuchVersion(let number): "there is no version \(number)"
    case .alreadyExists: "there is already an item of this name"
    case .expired: "the item has expired"
    case .notAllowed: "the item requires the presence of a person"
    case .neverRead: "its key is never read, and only a generated key can replace it"
    case .corrupt(let reason): reason
    case .distrusted(let reason, let advice): Obstacle(reason, advice).sentence
    case .secondStore(let reason): "the second store, which the rekey fills, is not what was written: \(reason)"
    case .newer(let version): "the store was written by a newer version of vault (format \(version)); use that version"
    case .storage(let reason), .permissions(let reason), .invalidValue(let reason), .needsAnotherItem(let reason):
      reason
    case .tooLarge(let limit): "the limit is \(limit) bytes"
    case .lastSlot: "it is the last slot"
    case .noSuchSlot(let id): "there is no slot \(id)"
    case .overtaken: "the slots were changed meanwhile"
    case .backingUp: "another backup is being made"
    case .rekeying: "the vault is being given a new key"
    }
  }
}

extension CryptoError {
  var reason: String {
    switch self {
    case .authenticationFailed: "a record does not authenticate"
    case .malformed(let reason), .limits(let reason): reason
    case .outOfMemory: "there is not enough memory"
    }
  }
}
