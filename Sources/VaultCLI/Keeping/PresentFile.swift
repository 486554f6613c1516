internal import CLinux
internal import Glibc
internal import VaultWire

/// A regular file as it stands under a name just now.
final class PresentFile {
  let status: stat
  /// False where it may not be read, or holds more than a rendering may.
  let isReadable: Bool
  /// Its content; empty where it is not readable.
  let text: SecretBuffer
  /// True when a program has it open for writing, as far as that can be told, or wrote while it was read: more may come,
  /// and the text need not be that of its times.
  let hasWriter: Bool
  /// True also where it cannot be told. Such a file loses its last name to nobody.
  let mayHaveWriter: Bool

  /// - Returns: nil where there is none.
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
    // Looked for before it is read and behind that: what is opened in between leaves another time of writing.
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

  /// True when nothing was written to it, and nothing else of it was changed, since it was that one.
  func isUnchanged(since other: PresentFile) -> Bool {
    identity == other.identity && Self.isSame(status.st_ctim, other.status.st_ctim)
  }

  var identity: FileIdentity { FileIdentity(status) }

  /// True when it holds just these bytes.
  func holds(_ content: borrowing SecretBuffer) -> Bool { isReadable && text.isEqual(to: content) }

  /// True when both hold the same bytes, and no more may come to this one.
  func isSame(as other: PresentFile) -> Bool {
    if hasWriter { return false }
    return other.isReadable ? holds(other.text) : !isReadable && identity == other.identity
  }
}
