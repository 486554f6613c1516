internal import CLinux
internal import Glibc
internal import VaultModel

/// A backup that is being read from a file or from standard input.
final class BackupSource {
  private let descriptor: Int32
  private let name: String

  /// Opens the file; `-` means standard input.
  init(_ path: String) throws(Failure) {
    guard path != "-" else {
      descriptor = STDIN_FILENO
      name = "standard input"
      return
    }
    descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
    name = Printable.quoted(path)
    guard descriptor >= 0 else {
      throw Failure(.io, "cannot open \(name): \(Output.describe(errno))", "name another file")
    }
    var status = stat()
    guard unsafe fstat(descriptor, &status) != 0 || status.st_mode & S_IFMT != S_IFDIR else {
      throw Failure(.invalid, "\(name) is a folder, not a backup", "name a file")
    }
  }

  deinit {
    if descriptor > STDERR_FILENO { close(descriptor) }
  }

  /// The size of the whole file in bytes; nil if the source is not a regular file.
  var size: Int? {
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int(status.st_size)
  }

  /// Reads the header at the beginning of the backup.
  ///
  /// - Throws: ``Failure`` if the source is not a backup.
  func header() throws(Failure) -> [UInt8] {
    var bytes = try read(atMost: BackupPrefix.count)
    // Bytes have no padding: all of them are initialized.
    guard unsafe bytes.count == BackupPrefix.count || !BackupPrefix.isBegun(by: bytes.span.bytes) else {
      throw cutShort
    }
    let prefix: BackupPrefix
    do throws(BackupPrefix.Problem) {
      prefix = try BackupPrefix(unsafe bytes.span.bytes)  // Bytes have no padding: all are initialized.
    } catch {
      throw damaged(error.reason, "name another file")
    }
    bytes += try read(atMost: prefix.headerCount - bytes.count)
    guard bytes.count == prefix.headerCount else { throw cutShort }
    return bytes
  }

  /// Fills the front of `bytes` with the next bytes of the backup.
  ///
  /// - Returns: the count of bytes read; 0 at the end.
  func read(into bytes: inout MutableRawSpan) throws(Failure) -> Int {
    while true {
      // The kernel fills the bytes in place.
      let count = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 { return count }
      guard errno == EINTR else { throw Failure(.io, "cannot read \(name): \(Output.describe(errno))", "try again") }
    }
  }

  /// The failure for a source that is not a whole backup.
  func damaged(_ reason: String, _ advice: String = "use another copy of it") -> Failure {
    Failure(.invalid, "\(name) cannot be restored: \(reason)", advice)
  }

  private var cutShort: Failure { damaged("it is cut short") }

  /// Reads `count` bytes, or fewer if the source ends before.
  private func read(atMost count: Int) throws(Failure) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      var span = bytes.mutableSpan
      var all = unsafe span.mutableBytes  // Bytes have no padding: all are initialized.
      var rest = all._mutatingExtracting(droppingFirst: done)
      let count = try read(into: &rest)
      if count == 0 { break }
      done += count
    }
    return Array(bytes.prefix(done))
  }
}
