internal import CLinux
internal import Glibc

/// The state of a file after its last write: its inode number, its size and its modification time.
struct FileIdentity: Equatable {
  let inode: UInt64
  let size: Int64
  let seconds: Int
  let nanoseconds: Int

  init(_ status: stat) {
    (inode, size) = (UInt64(status.st_ino), Int64(status.st_size))
    (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
  }

  /// Parses the text that ``text`` returns; nil for any other text.
  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 4, let inode = UInt64(parts[0]), let size = Int64(parts[1]), let seconds = Int(parts[2]),
      let nanoseconds = Int(parts[3])
    else { return nil }
    (self.inode, self.size, self.seconds, self.nanoseconds) = (inode, size, seconds, nanoseconds)
  }

  var text: String { "\(inode) \(size) \(seconds) \(nanoseconds)" }

  /// Sets a file's modification time to one that no other program's write has: the present second with a random
  /// fraction. The clock's own ticks are so long that two writes may have the same time. If the file system counts in
  /// seconds, the time is a second that has already passed, so that any later write has a later time.
  ///
  /// - Returns: nil if the file is not the caller's, or its file system does not store such times.
  static func stamp(_ descriptor: Int32) -> FileIdentity? {
    var now = timespec()
    guard unsafe clock_gettime(CLOCK_REALTIME, &now) == 0 else { return nil }
    // Some file systems count in units of 100 nanoseconds, and some in units of two seconds.
    let part = Int.random(in: 1..<10_000_000) * 100
    return stamp(descriptor, timespec(tv_sec: now.tv_sec, tv_nsec: part))
      ?? stamp(descriptor, timespec(tv_sec: now.tv_sec - 2 - now.tv_sec % 2, tv_nsec: 0))
  }

  private static func stamp(_ descriptor: Int32, _ time: timespec) -> FileIdentity? {
    let times = [timespec(tv_sec: 0, tv_nsec: omitted), time]
    var status = stat()
    guard unsafe futimens(descriptor, times) == 0, unsafe fstat(descriptor, &status) == 0 else { return nil }
    let identity = FileIdentity(status)
    return identity.seconds == time.tv_sec && identity.nanoseconds == time.tv_nsec ? identity : nil
  }

  /// UTIME_OMIT: the access time stays.
  private static let omitted = (1 << 30) - 2
}
