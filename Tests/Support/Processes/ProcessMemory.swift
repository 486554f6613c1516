import Foundation

/// The figures of proc(5) about a process's memory.
public enum ProcessMemory {
  /// The value in bytes of a memory line in `/proc/PID/status`, such as `VmHWM`, the highest resident size.
  public static func bytes(_ name: String, of pid: Int32) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
    guard let line, let kilobytes = Int(line.filter(\.isNumber)) else { throw SandboxError("no \(name) of \(pid)") }
    return kilobytes << 10
  }
}
