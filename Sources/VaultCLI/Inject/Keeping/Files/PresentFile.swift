internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// A regular file under a name, as it is at this moment.
final class PresentFile {
  let status: stat
  /// False if the file may not be read, or is larger than a rendering may be.
  let isReadable: Bool
  /// The content of the file; empty if it is not readable.
  let text: SecretBuffer
  /// True if a program has the file open for writing, as far as that can be determined, or wrote during the read. More
  /// may come, and the text may not match the file's times.
  let hasWriter: Bool
  /// True if ``hasWriter`` is, or if that cannot be determined. The keeper removes the last name of such a file only if
  /// nothing was written to it for a while.
  let mayHaveWriter: Bool

  /// Reads the file; nil if there is no regular file of that name.
  init?(_ name: String, in folder: Int32 = AT_FDCWD) {
    var status = stat()
    guard unsafe fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return nil
    }
    let descriptor = unsafe openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      text = SecretBuffer()
      (self.status, isReadable, hasWriter, mayHaveWriter) = (status, false, false, true)
      return
    }
    defer { close(descriptor) }
    // The check for writers comes before and after the read. A program that opens the file in between leaves another
    // modification time.
    var writers = vault_has_writer(descriptor)
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    let read = try? FileInput.readAll(descriptor, limit: Rendering.limit, name: name)
    if writers != 1 { writers = vault_has_writer(descriptor) }
    var after = stat()
    guard unsafe fstat(descriptor, &after) == 0 else { return nil }
    let isWritten = FileIdentity(after) != FileIdentity(status) || !Self.isSame(after.st_ctim, status.st_ctim)
    (self.status, isReadable) = (after, read != nil)
    (hasWriter, mayHaveWriter) = (writers == 1 || isWritten, writers != 0 || isWritten)
    text = read ?? SecretBuffer()
  }

  private static func isSame(_ one: timespec, _ other: timespec) -> Bool {
    one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec
  }

  /// Returns true if nothing was written to the file, and nothing else about it changed, since it was read as `other`.
  func isUnchanged(since other: PresentFile) -> Bool {
    identity == other.identity && Self.isSame(status.st_ctim, other.status.st_ctim)
  }

  /// The reason why the file is not readable, in words.
  var unread: String {
    status.st_size > Rendering.limit ? "it has more than \(Counted.size(Rendering.limit))" : "it cannot be read"
  }

  var identity: FileIdentity { FileIdentity(status) }

  /// Returns true if the file holds exactly these bytes.
  func holds(_ content: borrowing SecretBuffer) -> Bool { isReadable && text.isEqual(to: content) }

  /// Returns true if both files hold the same bytes, and no program is writing this one. Files that are not readable
  /// are compared by their identity.
  func isSame(as other: PresentFile) -> Bool {
    if hasWriter { return false }
    return other.isReadable ? holds(other.text) : !isReadable && identity == other.identity
  }
}
