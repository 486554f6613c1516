internal import CLinux
internal import Glibc
internal import VaultCore
internal import VaultProcess
internal import VaultService

/// The file that a process runs, as far as that can be told. The process can run another file a moment later, and its
/// user can make a file look like any other by mounting. So this is only advice.
enum Program {
  /// The longest file that is hashed, in bytes.
  private static let longest = 256 << 20
  /// The size from which a file is a long one, in bytes.
  private static let long = 8 << 20
  /// The time after which the reading of a file ends without a result, in seconds of `CLOCK_MONOTONIC`.
  private static let patience = 60

  /// The result of reading the file of a process.
  enum Reading: Equatable, Sendable {
    /// The digest of the file, in hexadecimal, and the stamp of the version that has it.
    case digest(String, FileStamp)
    /// The file may not be read, or is too long.
    case none
    /// The file could not be read in time or at all, or was changed meanwhile.
    case uncertain
    /// The file takes long, and was not read yet.
    case long
  }

  /// The path of the file. Nil when the daemon may not learn the path, and when the file is gone, unless `evenGone`
  /// allows its former path.
  static func path(of pid: pid_t, evenGone: Bool = false) -> String? {
    guard pid > 0, let path = SymbolicLink.target(of: "/proc/\(pid)/exe") else { return nil }
    guard path.hasPrefix("/") else { return nil }
    let mark = " (deleted)"
    guard path.hasSuffix(mark) else { return path }
    return evenGone ? String(path.dropLast(mark.count)) : nil
  }

  /// Reads the file of a process for its digest, unless the digest is among the known ones.
  ///
  /// The opening of the file and each question about it can take as long as the reading, or for ever, if its file
  /// system does not answer. So this must not be called on the loop.
  ///
  /// - Parameter takesLong: true to read a long file, too.
  static func read(_ pid: pid_t, known: [FileStamp: String], takesLong: Bool) -> Reading {
    let end = now() + patience
    return read(pid, known: known, takesLong: takesLong) { now() < end }
  }

  /// - Parameter mayGoOn: asked before each part of the file is read.
  static func read(
    _ pid: pid_t, known: [FileStamp: String], takesLong: Bool = true, while mayGoOn: () -> Bool
  ) -> Reading {
    let file = unsafe open("/proc/\(pid)/exe", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return [EACCES, EPERM, ENOENT, ESRCH].contains(errno) ? .none : .uncertain }
    defer { close(file) }
    guard let stamp = FileStamp(of: file) else { return .uncertain }
    if let digest = known[stamp] { return .digest(digest, stamp) }
    guard stamp.size <= longest else { return .none }
    if stamp.size > long, !takesLong { return .long }
    let digest = SHA256.hex(ofFile: file, atMost: stamp.size, while: mayGoOn)
    guard let digest, FileStamp(of: file) == stamp else { return .uncertain }
    return .digest(digest, stamp)
  }

  private static func now() -> Int {
    var now = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    return now.tv_sec
  }
}
