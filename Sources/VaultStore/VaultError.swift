/// Why the store or the keychain refused.
///
/// No case carries a secret: the texts name files, tables, record numbers and limits, never an item's content.
public enum VaultError: Error, Hashable {
  /// There is no vault in the directory (or no directory).
  case noVault
  /// A vault is there already, in whatever condition; nothing was touched.
  case vaultExists
  /// Another process has the store, with that process id where it could be told.
  case inUse(pid: Int32?)
  /// The key for this is not in memory.
  case locked
  /// No item has that name.
  case noSuchItem
  /// The item keeps no version with that number.
  case noSuchVersion(Int)
  /// An item (or a slot) with that name is there.
  case alreadyExists
  /// The item's current version stopped being served at that Unix time in seconds.
  case expired(Int64)
  /// Whoever asked for the value may not have it; it was not opened.
  case notAllowed
  /// A file or a record is not what this program wrote; the text says which.
  case corrupt(String)
  /// A later program wrote the store: its schema version. Nothing was touched.
  case newer(Int)
  /// The system failed to read or write.
  case storage(String)
  /// A file or directory has the wrong owner, mode or type; the text says which and what to do.
  case permissions(String)
  /// The value or the attributes do not fit the item's kind.
  case invalidValue(String)
  /// More bytes than the limit, which is given.
  case tooLarge(Int)
  /// A vault keeps a way in that lasts: a password or a recovery code that can be read.
  case lastSlot
  /// No slot has that number.
  case noSuchSlot(UInt32)
  /// The slots are no longer those that the change was decided on.
  case overtaken
  /// The vault is being given a new key, and its slots stay as they are until it has it.
  case rekeying
}
