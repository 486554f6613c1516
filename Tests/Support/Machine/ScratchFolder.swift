import Foundation
import Glibc

/// Folders that exist as long as a test. Their names contain the process ID of the test run, so that the next run can
/// remove the folders that a killed run left behind.
public enum ScratchFolder {
  /// Removes the folders of ended runs, once, before the first folder is made.
  private static let tidied: Void = { for place in ["/tmp", "/dev/shm"] { removeLeftovers(in: place) } }()

  /// The parent of all folders. It is in memory, where a sync costs nothing, if programs can run from there and a
  /// gigabyte is free. No test relies on the disk: ``DurableDisk`` determines from the recorded calls what a power cut
  /// would leave.
  public static let place: String = {
    var status = statvfs()
    let isThere = unsafe statvfs("/dev/shm", &status) == 0
    let room = UInt64(status.f_bavail) * UInt64(status.f_frsize)
    // The number is that of ST_NOEXEC, which glibc declares only under _GNU_SOURCE.
    return isThere && status.f_flag & 8 == 0 && room >= 1 << 30 ? "/dev/shm" : "/tmp"
  }()

  /// Makes a new folder of mode 0700. Its path is short, because a socket's path has at most 107 bytes.
  public static func make(in place: String = place) throws -> String {
    tidied
    var template = Array("\(place)/v-\(getpid())-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw SandboxError("mkdtemp in \(place): \(errno)") }
    let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    HangWatch.ofThisRun.add(folder)
    return folder
  }

  /// Removes the folders of processes that have ended, and ends the programs that those left running there.
  public static func removeLeftovers(in place: String) {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? [] {
      let parts = name.split(separator: "-", omittingEmptySubsequences: false)
      guard parts.count == 3, parts[0] == "v", let pid = pid_t(parts[1]), pid > 0 else { continue }
      // For another user's process, errno is EPERM.
      guard kill(pid, 0) != 0, errno == ESRCH else { continue }
      endProcesses(in: place + "/" + name)
      try? FileManager.default.removeItem(atPath: place + "/" + name)
    }
  }

  /// Ends the processes that have a variable in their environment that names the folder.
  private static func endProcesses(in folder: String) {
    let mark = Data("=\(folder)/".utf8)
    for pid in (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap(pid_t.init) ?? [] {
      guard FileManager.default.contents(atPath: "/proc/\(pid)/environ")?.range(of: mark) != nil else { continue }
      kill(pid, SIGKILL)
    }
  }
}
