internal import VaultCore
package import VaultModel
package import VaultStore

/// The reason why what was asked for is not done, for whichever door it was asked at.
package enum Refusal: Error, Equatable {
  /// A parameter that cannot be what it is, by its name.
  case invalid(String)
  case noVault
  case vaultExists
  /// The vault is locked; the state tells since when and why.
  case locked(LockState)
  /// The time to wait is up, and the vault is still locked.
  case timedOut
  /// The time to wait is up, and no administrator has answered the request of that number.
  case unanswered(Int)
  /// Administrators are asked by the request of that number, and have not answered yet.
  case unapproved(Int)
  /// `isVerified` tells that the store was found whole: nobody has taken the item away.
  case noSuchItem(String, isVerified: Bool)
  case noSuchVersion(String, Int)
  case noSuchSlot(Int)
  /// No grant is for that subject, or none is for that pattern.
  case noSuchGrant(String)
  /// Nothing that somebody asked for has that number; nil for what was not asked for by one.
  case noSuchRequest(Int?)
  case invalidGrant(String)
  case lastSlot
  case alreadyExists(String)
  /// Since when, Unix seconds.
  case expired(String, Int64)
  case invalidName(String, reason: String)
  case invalidValue(kind: String, reason: String)
  /// What was asked for is done with items of other kinds.
  case wrongKind(String, kind: ItemKind)
  /// What was asked for is done with keys that are made for it; `use` is what this one is made for, nil where it is no key.
  case wrongUse(String, use: KeyUse?)
  /// The item's key is never read, and takes no value but a generated one.
  case neverRead(String)
  /// What was asked for is not what the item's attributes allow.
  case notOnTheseTerms(String, reason: String)
  /// `position` is the byte offset in the query.
  case invalidQuery(reason: String, position: Int)
  /// The secret was wrong; the next attempt is possible after so many milliseconds.
  case authenticationFailed(method: String, wait: Int)
  case mistypedRecoveryCode
  case backingOff(method: String, wait: Int)
  case unavailable(method: String, Obstacle)
  case accountExpired(String)
  case tooManyTries
  case presenceFailed(String)
  case presenceRequired(String, Requirement)
  case rekeying
  /// A rekey rests, because the vault is locked.
  case rekeyRests
  case noSuchDeposit(Int)
  case cancelled
  case weakSecret(String)
  case tooLarge(limit: Int)
  case tooMuch(String)
  case denied(String)
  /// `isNewer` when a later program wrote the store.
  case corrupt(String, isNewer: Bool, advice: String?)
  case storageFailed(String)
  case outOfMemory
  case busy(String)
  case invalidBackup(String)
  case misconfigured(String)

  /// The reason for the journal, without its advice.
  package var reason: String {
    switch self {
    case .corrupt(let reason, _, _), .storageFailed(let reason), .busy(let reason), .invalidBackup(let reason),
      .misconfigured(let reason), .denied(let reason), .invalidGrant(let reason):
      reason
    default: "\(self)"
    }
  }

  /// The refusal of what is asked over a connection whose process has ended.
  package static let disowned = Refusal.denied("the process that connected has ended")

  static func unavailable(_ method: String, _ obstacle: Obstacle) -> Refusal { .unavailable(method: method, obstacle) }

  static func unavailable(_ method: String, _ reason: String, _ advice: String? = nil) -> Refusal {
    .unavailable(method: method, Obstacle(reason, advice))
  }

  /// An error of the store that is about no single item.
  init(_ error: VaultError) {
    switch error {
    case .noVault: self = .noVault
    case .vaultExists: self = .vaultExists
    case .noSuchSlot(let id): self = .noSuchSlot(Int(id))
    case .lastSlot: self = .lastSlot
    case .rekeying: self = .rekeying
    case .overtaken: self = .busy(error.text)
    case .tooLarge(let limit): self = .tooLarge(limit: limit)
    case .newer(let version):
      let reason = "the store was written by a later vault (format \(version))"
      self = .corrupt(reason, isNewer: true, advice: "use that one")
    case .corrupt(let reason): self = .corrupt(reason, isNewer: false, advice: nil)
    case .distrusted(let reason, let advice): self = .corrupt(reason, isNewer: false, advice: advice)
    case .permissions, .inUse: self = .misconfigured(error.text)
    case .neverRead: self = .denied(error.text)
    default: self = .storageFailed(error.text)
    }
  }

  /// The refusal of a question about grants that are not what was stored, or cannot be read.
  init(grants error: VaultError) {
    guard case .corrupt(let reason) = error else {
      self.init(error)
      return
    }
    let advice = "`vault verify` says what is wrong, `vault salvage` saves the rest"
    self = .corrupt(reason, isNewer: false, advice: advice)
  }

  /// Its reason for the journal, with its advice.
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

  /// The reason why a way in did not open the vault, in words for the person who tried.
  var obstacle: Obstacle {
    switch self {
    case .unavailable(_, let obstacle): obstacle
    case .accountExpired(let reason), .presenceFailed(let reason): Obstacle(reason)
    // Only what is typed costs a wait.
    case .authenticationFailed(SlotKind.pam.name, let wait):
      Obstacle(wait > 0 ? "login password not accepted" : "fingerprint not recognised")
    case .authenticationFailed: Obstacle("not accepted")
    case .backingOff(_, let milliseconds):
      Obstacle("too soon after a wrong answer, wait \((milliseconds + 999) / 1000) s")
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
    case .neverRead: .neverRead(name)
    default: Refusal(error)
    }
  }

  /// True when all records are known to be those that were written last.
  var isVerified: Bool { openKeychain?.isVerified ?? false }
}

extension VaultError {
  var isInUse: Bool { if case .inUse = self { true } else { false } }

  /// One sentence for a person.
  package var text: String {
    switch self {
    case .noVault: "there is no vault"
    case .vaultExists: "there is a vault already"
    case .inUse(let pid): "another vaultd \(pid.map { "(pid \($0)) " } ?? "")serves this vault"
    case .locked: "the vault is locked"
    case .noSuchItem: "there is no such item"
    case .noSuchVersion(let number): "there is no version \(number)"
    case .alreadyExists: "there is an item of this name already"
    case .expired: "the item has expired"
    case .notAllowed: "the item asks for a person"
    case .neverRead: "its key is never read, and only a generated one takes its place"
    case .corrupt(let reason): reason
    case .distrusted(let reason, let advice): Obstacle(reason, advice).sentence
    case .secondStore(let reason): "the second store, which the rekey fills, is not what was written: \(reason)"
    case .newer(let version): "the store was written by a later vault (format \(version)); use that one"
    case .storage(let reason), .permissions(let reason), .invalidValue(let reason): reason
    case .tooLarge(let limit): "the limit is \(limit) bytes"
    case .lastSlot: "it is the last slot"
    case .noSuchSlot(let id): "there is no slot \(id)"
    case .overtaken: "the ways in were changed meanwhile"
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
