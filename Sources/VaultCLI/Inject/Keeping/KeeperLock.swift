internal import CLinux
internal import Glibc
internal import VaultModel

/// The lock that lets only one keeper keep a file. It is a lock on an empty file beside the kept one, which nothing
/// replaces, and it is held from before the first write. The kernel releases it when the process ends.
final class KeeperLock {
  private static let attempts = 8

  private let file: String
  private let path: String
  /// The locked descriptor; -1 while the lock is not held.
  private var descriptor: Int32 = -1

  /// - Parameter file: the path of the kept file.
  init(of file: String) {
    self.file = file
    path = FileMark.path(of: file, ending: "vault-lock")
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Takes the lock. Does nothing if this process already holds it, unless somebody has removed the lock file since.
  ///
  /// - Throws: ``Failure`` if another process holds the lock, or if the folder or its file system permits no lock.
  func take() throws(Failure) {
    for _ in 0..<Self.attempts {
      if descriptor >= 0, isNamed(descriptor) { return }
      let opened = unsafe open(
        path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0o600 as mode_t)
      guard opened >= 0 else { throw failure(errno) }
      guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
        let code = errno
        close(opened)
        throw failure(code)
      }
      if descriptor >= 0 { close(descriptor) }
      descriptor = opened
      // The process's umask may have taken the rights that the next keeper needs.
      var status = stat()
      if unsafe fstat(opened, &status) == 0, status.st_mode & 0o600 != 0o600 { fchmod(opened, 0o600) }
    }
    throw failure(ESTALE)
  }

  /// Returns true while the lock file still has the name by which other keepers find it.
  private func isNamed(_ descriptor: Int32) -> Bool {
    var (mine, there) = (stat(), stat())
    return unsafe fstat(descriptor, &mine) == 0 && lstat(path, &there) == 0 && mine.st_ino == there.st_ino
      && mine.st_dev == there.st_dev
  }

  private func failure(_ code: Int32) -> Failure {
    guard code != EWOULDBLOCK else {
      return Failure(.exists, "\(Printable.quoted(file)) is already kept by another process", "end that process first")
    }
    let isFull = NewFile.isFull(code)
    var failure = Failure(
      .io, "\(Printable.quoted(path)) cannot be locked: \(Output.describe(code))",
      isFull
        ? "make room on its disk" : "check the folder, and remove that file unless it belongs to another user's keeper")
    failure.isOfFullDisk = isFull
    return failure
  }
}
