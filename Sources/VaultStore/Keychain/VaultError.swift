internal import VaultModel

/// The error with which the store or the keychain refuses an operation.
///
/// No case carries a secret: the texts name files, tables, record numbers and limits, never the content of an item.
public enum VaultError: Error, Hashable {
  /// There is no vault in the directory, or no directory.
  case noVault
  /// A vault exists already, in whatever condition; nothing was changed.
  case vaultExists
  /// Another process has the store open; its process id, if known.
  case inUse(pid: Int32?)
  /// The key for this operation is not in memory.
  case locked
  /// No item has that name.
  case noSuchItem
  /// The item keeps no version with that number.
  case noSuchVersion(Int)
  /// An item or a slot with that name or id exists already.
  case alreadyExists
  /// The item expired at this time, in Unix seconds, and is no longer served.
  case expired(Int64)
  /// The caller may not have the value, which was not opened.
  case notAllowed(Decision)
  /// The item's key is never read, and only a generated key can replace it.
  case neverRead
  /// A file or a record is not what this program wrote; the text says which.
  case corrupt(String)
  /// The store as a whole can no longer be trusted, and nothing is written to it; the advice says what to do.
  case distrusted(String, advice: String)
  /// The second store of a rekey is not what was written, while the vault itself is intact; the text says what is
  /// wrong.
  case secondStore(String)
  /// A later version of the program wrote the store, with this version of the schema. Nothing was changed.
  case newer(Int)
  /// The system failed to read or write.
  case storage(String)
  /// A file or directory has the wrong owner, mode or type; the text says which and what to do.
  case permissions(String)
  /// The value or the attributes do not fit the item's kind, or the vault has the most slots that it can have.
  case invalidValue(String)
  /// The change would alter what never changes about an item: its use, a key's kind, or whether it can be read. No
  /// other value or kind would help, only another item.
  case needsAnotherItem(String)
  /// The value is longer than this limit, in bytes.
  case tooLarge(Int)
  /// The change would leave the vault without a lasting slot: a password or a recovery code that can be read.
  case lastSlot
  /// No slot has that id.
  case noSuchSlot(UInt32)
  /// The slots are no longer those on which the change was decided.
  case overtaken
  /// Another backup is being made.
  case backingUp
  /// The vault is being rekeyed, and its slots cannot be changed until the rekey ends.
  case rekeying
}

extension VaultError {
  /// The error in words for the log, without its advice. The words for a caller are chosen elsewhere.
  package var reason: String {
    switch self {
    case .noVault: "there is no vault"
    case .vaultExists: "there is already a vault"
    case .inUse(let pid): "another vaultd \(pid.map { "(pid \($0)) " } ?? "")serves this vault"
    case .locked: "the vault is locked"
    case .noSuchItem: ItemProblem.missing
    case .noSuchVersion(let number): ItemProblem.noVersion(number)
    case .alreadyExists: ItemProblem.exists
    case .expired: ItemProblem.expired
    case .notAllowed: "the item requires the presence of a person"
    case .neverRead: ItemProblem.neverRead
    case .secondStore(let reason): "the second store, which the rekey fills, is not what was written: \(reason)"
    case .newer(let version): "the store was written by a newer version of vault (format \(version))"
    case .corrupt(let reason), .distrusted(let reason, _), .storage(let reason), .permissions(let reason),
      .invalidValue(let reason), .needsAnotherItem(let reason):
      reason
    case .tooLarge(let limit): "the limit is \(limit) bytes"
    case .lastSlot: "it is the last slot"
    case .noSuchSlot(let id): "there is no slot \(id)"
    case .overtaken: "the slots were changed meanwhile"
    case .backingUp: "another backup is being made"
    case .rekeying: "the vault is being given a new key"
    }
  }

  /// The advice for the next step; nil for most errors.
  package var advice: String? {
    switch self {
    case .newer: "use that version"
    case .distrusted(_, let advice): advice
    case .noVault, .vaultExists, .inUse, .locked, .noSuchItem, .noSuchVersion, .alreadyExists, .expired, .notAllowed,
      .neverRead, .corrupt, .secondStore, .storage, .permissions, .invalidValue, .needsAnotherItem, .tooLarge,
      .lastSlot, .noSuchSlot, .overtaken, .backingUp, .rekeying:
      nil
    }
  }

  /// The reason and the advice in one sentence.
  package var text: String { Clauses.joined(reason, advice) }
}
