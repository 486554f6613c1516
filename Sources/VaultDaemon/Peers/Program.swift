internal import CLinux
internal import Glibc
internal import VaultCore

/// The file that a process runs, as far as that can be told. The process can run another file a moment later, and its
/// user can make a file look like any other by mounting. So this is only advice.
enum Program {
  /// The longest file that is hashed, in bytes.
  private static let longest: off_t = 256 << 20
  /// The digests of files, by the facts that identify a file and its version.
  private nonisolated(unsafe) static var digests: [Identity: String] = [:]
  /// The number of files whose digests are remembered.
  private static let most = 64

  private struct Identity: Hashable {
    var device: dev_t
    var inode: ino_t
    var size: off_t
    var changed: [Int]
  }

  /// The path of the file. Nil when it may not be known, and when the file is gone, unless `evenGone` allows its former
  /// path.
  static func path(of pid: pid_t, evenGone: Bool = false) -> String? {
    guard pid > 0 else { return nil }
    var text = [UInt8](repeating: 0, count: Int(PATH_MAX) + 1)
    let count = unsafe text.withUnsafeMutableBytes { bytes in
      // The kernel writes no more than that count.
      unsafe readlink("/proc/\(pid)/exe", bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    guard count > 0, count <= Int(PATH_MAX), let path = String(validating: text.prefix(count), as: UTF8.self) else {
      return nil
    }
    guard path.hasPrefix("/") else { return nil }
    let mark = " (deleted)"
    guard path.hasSuffix(mark) else { return path }
    return evenGone ? String(path.dropLast(mark.count)) : nil
  }

  /// The SHA-256 of the file's content, in hexadecimal. Call this on the loop.
  static func digest(of pid: pid_t) -> String? {
    guard pid > 0 else { return nil }
    let file = unsafe open("/proc/\(pid)/exe", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0, status.st_size <= longest else { return nil }
    let identity = Identity(
      device: status.st_dev, inode: status.st_ino, size: status.st_size,
      changed: [status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec])
    if let known = unsafe digests[identity] { return known }
    guard let digest = SHA256.hex(ofFile: file) else { return nil }
    if unsafe digests.count >= most { unsafe digests = [:] }
    unsafe digests[identity] = digest
    return digest
  }
}
