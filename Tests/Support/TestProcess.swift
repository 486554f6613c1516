import Foundation
import Glibc

/// The process that runs the tests, as what it makes outside its own folders names it, so that a later run can tell
/// what a killed one has left.
enum TestProcess {
  /// `test-PID-START`: the number of this process and its start in ticks since the machine's.
  static let tag = "test-\(getpid())-" + (start(of: getpid()) ?? "0")

  /// True for a text that begins with the tag of a process that has ended.
  static func isGone(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count >= 3, parts[0] == "test", let pid = Int32(parts[1]) else { return false }
    return start(of: pid).map { $0 != parts[2] } ?? true
  }

  /// The 22nd field of `/proc/PID/stat`, proc(5); nil when there is no such process.
  private static func start(of pid: Int32) -> String? {
    let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
    // The program's name, the second field, may have spaces and brackets in it.
    guard let stat, let name = stat.lastIndex(of: ")") else { return nil }
    let fields = stat[name...].split(separator: " ")
    return fields.count > 20 ? String(fields[20]) : nil
  }
}
