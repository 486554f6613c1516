import Glibc

/// The free space on a file system.
enum FreeSpace {
  /// The number of bytes that this process may still write to the file system of `path`.
  static func bytes(at path: String) throws(VaultError) -> Int {
    var status = statvfs()
    guard unsafe statvfs(path, &status) == 0 else { throw SystemCall.error("statvfs", path, errno) }
    return Int(clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
  }
}
