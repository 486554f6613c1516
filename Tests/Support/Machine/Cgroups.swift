import Foundation
import Glibc

/// Real cgroups in the place where systemd would keep its units, made and removed by the test.
public final class Cgroups {
  private static let mounts = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]
  private static let found = mounts.first { unsafe access($0 + "/cgroup.procs", W_OK) == 0 }
  /// True if a test may make cgroups.
  public static let canBeMade = geteuid() == 0 && found != nil

  private let root: String
  private let processes: [Process]
  private var made: [String] = []
  /// The processes that were started.
  public var pids: [Int32] { processes.map(\.processIdentifier) }

  /// Starts processes, which are at first in the test's own cgroup.
  public init(processes count: Int = 0) throws {
    guard let root = Self.found else { throw SandboxError("no cgroups can be made") }
    self.root = root
    processes = try (0..<count).map { _ in
      try Process.run(URL(fileURLWithPath: "/bin/sleep"), arguments: ["600"])
    }
  }

  /// Makes a cgroup and its parents if they do not exist, and returns the path of the file through
  /// which processes enter it.
  public func make(_ cgroup: String) -> String {
    var path = root
    for part in cgroup.split(separator: "/") {
      path += "/" + part
      if unsafe mkdir(path, 0o755) == 0 { made.append(path) }
    }
    return path + "/cgroup.procs"
  }

  /// Moves a process into a cgroup, which is made if it does not exist.
  public func move(_ pid: Int32, to cgroup: String) throws {
    try Data("\(pid)".utf8).write(to: URL(fileURLWithPath: make(cgroup)))
  }

  /// Ends the processes and removes the cgroups, which are then empty.
  public func remove() {
    for process in processes {
      // Other signals may be blocked.
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    for path in made.reversed() { unsafe rmdir(path) }
  }
}
