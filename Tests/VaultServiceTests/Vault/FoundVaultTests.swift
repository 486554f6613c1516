import Glibc
import Testing
import VaultModel

@testable import VaultService

@Suite("A daemon that has no store open") struct FoundVaultTests {
  private let stand: RoomStand

  init() throws { stand = try RoomStand() }

  private var vault: Vault { stand.vault }
  private var lockFile: String { vault.directory + "/vault.lock" }

  /// Takes the lock of the store as another process would: the file has that process's number.
  private func withLockTaken(_ body: () throws -> Void) throws {
    let file = unsafe open(lockFile, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    try #require(file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0)
    defer { close(file) }
    let text = Array("\(getppid())\n".utf8)
    try #require(ftruncate(file, 0) == 0 && (unsafe pwrite(file, text, text.count, 0)) == text.count)
    try body()
  }

  /// The refusal after a lock; nil if nothing can be unlocked.
  private func refusal() -> Refusal? {
    do throws(Refusal) { try vault.checkLocked() } catch { return error }
    return nil
  }

  @Test("finds a vault that another program has made since") func found() throws {
    #expect(vault.state.kind == .new && refusal() == .noVault)
    try RoomStand.makeStore(vault.directory)
    vault.checkDeadlines()
    #expect(vault.state.kind == .cold && vault.state.cause == .found && refusal() == nil)
  }

  @Test("tells of another process that serves a vault made since, instead of that there is none") func served() throws {
    try RoomStand.makeStore(vault.directory)
    try withLockTaken {
      vault.checkDeadlines()
      #expect(vault.state.kind == .unreadable && vault.isInUse)
      #expect(refusal() == .misconfigured("another vaultd (pid \(getppid())) serves this vault"))
    }
    vault.checkDeadlines()
    #expect(vault.state.kind == .cold && refusal() == nil)
  }

  @Test("does not call a vault locked that another process may have open, whatever else is wrong with the store")
  func faulty() throws {
    try RoomStand.makeStore(vault.directory)
    try #require(unsafe chmod(vault.directory, 0o755) == 0)
    try withLockTaken {
      vault.checkDeadlines()
      #expect(vault.state.kind == .unreadable && !vault.isInUse)
      #expect(refusal() == .misconfigured("another vaultd (pid \(getppid())) serves this vault"))
    }
    #expect(refusal() == nil)
    // Nobody can tell who has a lock that cannot be examined.
    try #require((unsafe unlink(lockFile)) == 0 && (unsafe mkfifo(lockFile, 0o600)) == 0)
    #expect(refusal() == .misconfigured("\(lockFile): is not a regular file; it must be one"))
  }

  @Test("does not say that there is no vault where another process has the lock, though vault.db is gone")
  func moved() throws {
    try RoomStand.makeStore(vault.directory)
    try #require(unsafe unlink(vault.directory + "/vault.db") == 0)
    try withLockTaken {
      vault.checkDeadlines()
      #expect(refusal() == .misconfigured("another vaultd (pid \(getppid())) serves this vault"))
    }
    #expect(refusal() == .noVault)
  }
}
