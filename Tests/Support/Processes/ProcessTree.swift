import Foundation
import Glibc

/// The processes that a daemon has started, as the kernel lists them.
public enum ProcessTree {
  /// The descendants of `parent` that run the program of this name, which has at most 15 bytes.
  public static func processes(named name: String, of parent: Int32) -> [Int32] {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(parent)/task")) ?? []
    return tasks.flatMap { task -> [Int32] in
      let list = (try? String(contentsOfFile: "/proc/\(parent)/task/\(task)/children", encoding: .utf8)) ?? ""
      return list.split(separator: " ").compactMap { Int32($0) }.flatMap { child -> [Int32] in
        (program(of: child) == name ? [child] : []) + processes(named: name, of: child)
      }
    }
  }

  /// Waits for a descendant of `parent` that runs the program of this name, and stops it.
  ///
  /// - Returns: The process ID. `SIGCONT` makes the process continue.
  public static func stopped(named name: String, of parent: Int32) throws -> Int32 {
    var found: Int32?
    try wait(for: name) {
      guard let process = processes(named: name, of: parent).first, kill(process, SIGSTOP) == 0 else { return false }
      // A process that is ending does not stop any more.
      try wait(for: "the stop of \(name)") { !hasMemory(process) || state(of: process) == "T" }
      found = process
      return hasMemory(process)
    }
    return found!
  }

  /// True if there is such a process that nobody has reaped, whether it has ended or not.
  ///
  /// Use this function in expectations: the macro that takes a condition apart may do something between the call and
  /// the check of `errno`.
  public static func isThere(_ pid: Int32) -> Bool { kill(pid, 0) == 0 || errno != ESRCH }

  /// True if there is such a process and it still has its memory; an ended process that was not reaped has none.
  public static func hasMemory(_ pid: Int32) -> Bool {
    let pages = try? String(contentsOfFile: "/proc/\(pid)/statm", encoding: .utf8)
    return pages.map { !$0.hasPrefix("0 ") } ?? false
  }

  /// The number of sockets that a process has open.
  public static func socketCount(_ pid: Int32) -> Int {
    let files = "/proc/\(pid)/fd"
    let all = (try? FileManager.default.contentsOfDirectory(atPath: files)) ?? []
    return all.filter {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: files + "/" + $0))?.hasPrefix("socket:") == true
    }.count
  }

  /// The letter for a process's state, see proc_pid_stat(5); nil if the process is gone.
  private static func state(of pid: Int32) -> Character? {
    let line = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
    // The name before the state may have parentheses and spaces of its own.
    return line?.split(separator: ")").last?.dropFirst().first
  }

  /// The name of the program that a process runs; nil if the process is gone.
  private static func program(of pid: Int32) -> String? {
    let name = try? String(contentsOfFile: "/proc/\(pid)/comm", encoding: .utf8)
    return name?.trimmingCharacters(in: .newlines)
  }
}
