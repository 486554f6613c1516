// The lock of the store, by which other programs find the process that has the store open.
extension Keychain {
  /// The path of the lock file of a store in `directory`.
  public static func lockFile(in directory: String) -> String { directory + "/" + StoreLock.fileName }

  /// Confirms to programs that cannot reach this process's socket that the vault was locked: increases the number in
  /// the lock file.
  ///
  /// - Parameter directory: the directory of a store that this process has open, or makes. Otherwise nothing happens.
  public static func confirmLock(in directory: String) { StoreLock.confirm(in: directory) }

  /// Checks that no other process has the lock of the store in `directory`, and so may have the vault open, whatever
  /// the condition of the store.
  ///
  /// - Throws: ``VaultError/inUse(pid:)`` when another process has it; another error when that cannot be examined.
  public static func checkFree(in directory: String) throws(VaultError) { try StoreLock.checkFree(in: directory) }

  /// True when the lock file has lost its place: other programs do not find this process by it any more, and may open
  /// the store as well.
  public var hasLostLock: Bool { database.lock?.isLost == true }

  /// True when only the open files still hold the store, because its directory was removed.
  public var isLastCopy: Bool {
    database.lock?.isRemoved == true && ![nil, Database.lostLog].contains(database.lostFile)
  }
}
