/// The reason why the store or the keychain refused.
///
/// No case carries a secret: the texts name files, tables, record numbers and limits, never an item's content.
public enum VaultError: Error, Hashable {
  /// There is no vault in the directory (or no directory).
  case noVault
  /// A vault is there already, in whatever condition; nothing was touched.
  case vaultExists
  /// Another process has the store; its process id, if that is known.
  case inUse(pid: Int32?)
  /// The key for this is not in memory.
  case locked
  /// No item has that name.
  case noSuchItem
  /// The item keeps no version with that number.
  case noSuchVersion(Int)
  /// An item (or a slot) with that name is there.
  case alreadyExists
  /// The item is no longer served since that time, in Unix seconds.
  case expired(Int64)
  /// The caller may not have the value, which was not opened.
  case notAllowed(Decision)
  /// The item's key is never read, and takes the place of no value but a generated one.
  case neverRead
  /// A file or a record is not what this program wrote; the text says which.
  case corrupt(String)
  /// The store as a whole can no longer be relied on, and nothing is written to it; the advice says what to do.
  case distrusted(String, advice: String)
  /// The second store of a rekey is not what was written, and the vault itself is whole; the text says what is wrong.
  case secondStore(String)
  /// A later program wrote the store, with that version of the schema. Nothing was touched.
  case newer(Int)
  /// The system failed to read or write.
  case storage(String)
  /// A file or directory has the wrong owner, mode or type; the text says which and what to do.
  case permissions(String)
  /// The value or the attributes do not fit the item's kind, or the vault has as many slots as it can have.
  case invalidValue(String)
  /// The value has more bytes than that limit.
  case tooLarge(Int)
  /// The vault would have no lasting way in left: a password or a recovery code that can be read.
  case lastSlot
  /// No slot has that number.
  case noSuchSlot(UInt32)
  /// The slots are no longer those that the change was decided on.
  case overtaken
  /// The vault is being given a new key, and its slots stay as they are until it has it.
  case rekeying
}
