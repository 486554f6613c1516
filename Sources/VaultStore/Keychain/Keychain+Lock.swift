// The lock of the store, by which other programs find the process that has the store open.
extension Keychain {
  /// The path of the lock's file for a store in `directory`.
  public static func lockFile(in directory: String) -> String { directory + "/" + StoreLock.fileName }

  /// Confirms a lock of the vault to programs that cannot reach this process at its socket: increases the number in the
  /// lock's file.
  ///
  /// - Parameter directory: the directory of a store that this process has open, or makes. Otherwise nothing happens.
  public static func confirmLock(in directory: String) { StoreLock.confirm(in: directory) }

  /// True when the lock's file has lost its place: other programs do not find this process by it any more, and may open
  /// the store as well.
  public var hasLostLock: Bool { database.lock?.isLost == true }

  /// True when the open files have all that is left of the store, because its directory was removed.
  public var isLastCopy: Bool {
    database.lock?.isRemoved == true && ![nil, Database.lostLog].contains(database.lostFile)
  }
}
