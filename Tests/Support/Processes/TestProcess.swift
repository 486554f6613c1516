import Foundation
import Glibc

/// The identity of the process that runs the tests, used in the names of things that it makes outside its own folders,
/// so that a later run can recognize what a killed run has left.
enum TestProcess {
  /// The tag `test-PID-START`: the ID of this process, and its start in clock ticks since the start of the machine.
  static let tag = "test-\(getpid())-" + (start(of: getpid()) ?? "0")

  /// True if the text begins with the tag of a process that has ended.
  static func isGone(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count >= 3, parts[0] == "test", let pid = Int32(parts[1]) else { return false }
    return start(of: pid).map { $0 != parts[2] } ?? true
  }

  /// The 22nd field of `/proc/PID/stat` (proc(5)); nil if there is no such process.
  private static func start(of pid: Int32) -> String? {
    let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
    // The program's name, the second field, may contain spaces and parentheses.
    guard let stat, let name = stat.lastIndex(of: ")") else { return nil }
    let fields = stat[name...].split(separator: " ")
    return fields.count > 20 ? String(fields[20]) : nil
  }
}
