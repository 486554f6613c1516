internal import VaultCore
package import VaultModel
internal import VaultStore

/// The reason why a request is refused, for every door.
///
/// Each door translates a refusal into an error of its interface. People and logs see the words of that error.
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
  /// The change would alter something that never changes in an item, so only another item would help.
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
  /// The store is corrupt or, if `isNewer`, was written by a later program.
  case corrupt(String, isNewer: Bool, advice: String?)
  case storageFailed(String)
  /// No entry of the call can be written, and one is required.
  case unrecorded(String)
  case outOfMemory
  case busy(String)
  case invalidBackup(String)
  case misconfigured(String)

  /// The refusal of requests over a connection whose process has ended.
  package static let disowned = Refusal.denied("the process that connected has ended")

  /// The refusal of a call that something has ended. Nothing is in progress any more that would have to end first, so
  /// the reason has advice of its own.
  static func interrupted(_ reason: String, _ advice: String = "try again") -> Refusal {
    .busy(Clauses.joined(reason, advice))
  }

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
    case .overtaken: self = .interrupted(error.text)
    case .backingUp: self = .busy(error.text)
    case .tooLarge(let limit): self = .tooLarge(limit: limit)
    case .newer: self = .corrupt(error.reason, isNewer: true, advice: error.advice)
    case .corrupt, .distrusted: self = .corrupt(error.reason, isNewer: false, advice: error.advice)
    case .permissions, .inUse: self = .misconfigured(error.text)
    case .neverRead: self = .denied(error.text)
    case .locked, .noSuchItem, .noSuchVersion, .alreadyExists, .expired, .notAllowed, .secondStore, .storage,
      .invalidValue, .needsAnotherItem:
      self = .storageFailed(error.text)
    }
  }

  /// The refusal of a question about grants if their records are not the ones stored last, or cannot be read.
  init(grants error: VaultError) {
    guard case .corrupt = error else {
      self.init(error)
      return
    }
    self = .corrupt(error.reason, isNewer: false, advice: error.adviceOnGrants)
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
    // An attempt that may take a password makes the next attempt wait, whatever failed. An attempt with a finger alone
    // does not.
    case .authenticationFailed(SlotKind.pam.name, let wait):
      Obstacle(wait > 0 ? "login password not accepted" : "fingerprint not recognized")
    case .authenticationFailed: Obstacle("not accepted")
    case .backingOff(_, let milliseconds):
      Obstacle("too soon after the last attempt, wait \((milliseconds + 999) / 1000) s")
    case .tooManyTries: Obstacle("too many tries")
    case .outOfMemory: Obstacle("there was not enough memory to check it")
    default: Obstacle("the attempt failed")
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
    case .noVault, .vaultExists, .inUse, .notAllowed, .corrupt, .distrusted, .secondStore, .newer, .storage,
      .permissions, .tooLarge, .lastSlot, .noSuchSlot, .overtaken, .backingUp, .rekeying:
      Refusal(error)
    }
  }

  /// True when all records are known to be the ones that were written last.
  var isVerified: Bool { openKeychain?.isVerified ?? false }
}

extension VaultError {
  var isInUse: Bool { if case .inUse = self { true } else { false } }

  /// The advice if the records of grants cannot be read.
  var adviceOnGrants: String? {
    if case .corrupt = self { "`vault verify` says what is wrong, `vault salvage` saves the rest" } else { advice }
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
