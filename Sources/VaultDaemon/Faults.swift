internal import VaultAPI
internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The errors of the parts below the socket, in the words of the interface.
extension Service {
  /// The reason why there is no vault to work on.
  var storeFault: Fault {
    switch vault.content {
    case .unreadable(let error): Fault(error)
    case .none, .open: .noVault
    }
  }

  /// An error of the store about one item.
  func fault(_ error: VaultError, name: String, kind: String? = nil, failed: Int? = nil) -> Fault {
    switch error {
    case .locked: .locked(state: state.kind.rawValue, cause: state.cause.text)
    case .noSuchItem: .noSuchItem(name: name, unverified: isVerified ? nil : true)
    case .noSuchVersion(let version): .noSuchVersion(name: name, version: version)
    case .alreadyExists: .alreadyExists(name: name, failed: failed)
    case .expired(let time): .expired(name: name, expires: time)
    case .invalidValue(let reason): .invalidValue(kind: kind ?? "", reason: reason, failed: failed)
    default: Fault(error)
    }
  }
}

extension Fault {
  init(_ error: VaultError) {
    switch error {
    case .noVault: self = .noVault
    case .vaultExists: self = .vaultExists
    case .noSuchSlot(let id): self = .noSuchSlot(id: Int(id))
    case .lastSlot: self = .lastSlot
    case .rekeying: self = .rekeying
    case .overtaken: self = .busy(reason: error.text)
    case .tooLarge(let limit): self = .tooLarge(limit: limit)
    case .newer: self = .corrupt(reason: error.text, newer: true)
    case .corrupt(let reason): self = .corrupt(reason: reason, newer: false)
    case .permissions, .inUse: self = .misconfigured(reason: error.text)
    default: self = .storageFailed(reason: error.text)
    }
  }

  init(_ error: CryptoError) {
    switch error {
    case .authenticationFailed, .malformed: self = .corrupt(reason: error.reason, newer: false)
    case .limits(let reason): self = .weakSecret(reason: reason)
    case .outOfMemory: self = .outOfMemory
    }
  }

  init(_ error: FrameError) {
    switch error {
    case .tooLong(let limit): self = .tooLarge(limit: limit)
    case .invalidJSON(let offset, let reason): self = .invalidFrame(reason: "at byte \(offset): \(reason)")
    case .tooDeep: self = .invalidFrame(reason: "nested deeper than \(Frame.maximumDepth)")
    case .tooManyValues(let limit): self = .invalidFrame(reason: "more than \(limit) values")
    case .tooManyMembers(let limit): self = .invalidFrame(reason: "more than \(limit) members in one object")
    case .duplicateKey: self = .invalidFrame(reason: "the same key twice in one object")
    case .notAnObject: self = .invalidFrame(reason: "a message is one JSON object")
    }
  }
}

extension VaultError {
  var isInUse: Bool { if case .inUse = self { true } else { false } }

  /// One sentence for a person.
  var text: String {
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
    case .corrupt(let reason): reason
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
