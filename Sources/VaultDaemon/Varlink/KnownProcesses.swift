internal import CLinux
internal import CSystemd
internal import Glibc
internal import VaultService

/// Remembers facts about clients' processes, so that the next client costs less.
final class KnownProcesses {
  /// What tells one cgroup from all others.
  private enum Cgroup: Hashable {
    /// The kernel's number, which no later cgroup gets.
    case number(UInt64)
    /// The lines of `/proc/PID/cgroup`, from a kernel that tells no number.
    case lines([UInt8])
  }

  /// The number of cgroups that are remembered.
  private static let most = 64

  /// The unit of each cgroup; nil for one that is in none. `sd_pid_get_unit` reads two files, and each of them line by
  /// line.
  private var units: [Cgroup: String?] = [:]
  /// The leader of the session that was asked for last.
  private var leader: (pid: pid_t, process: PeerProcess)?
  /// True when units are cgroups of the hierarchy that the kernel's numbers are of.
  private let areNumbered = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].contains { isSecondVersion($0) }

  /// The unit of a process, which a user cannot fake; nil where it belongs to none.
  func unit(of pid: pid_t, _ process: PeerProcess) -> String? {
    let cgroup = cgroup(of: pid, process)
    if let cgroup, let known = units[cgroup] { return known }
    var name: UnsafeMutablePointer<CChar>?
    let result = unsafe sd_pid_get_unit(pid, &name)
    defer { unsafe free(name) }
    var unit: String?
    if result >= 0, let name = unsafe name { unit = unsafe String(cString: name) }
    // It may have been moved to another cgroup meanwhile.
    guard result >= 0 || result == -ENODATA, let cgroup, self.cgroup(of: pid, process) == cgroup else { return unit }
    if units.count >= Self.most { units = [:] }
    units[cgroup] = .some(unit)
    return unit
  }

  private func cgroup(of pid: pid_t, _ process: PeerProcess) -> Cgroup? {
    let number = areNumbered ? vault_cgroup(process.descriptor) : 0
    return number != 0 ? .number(number) : ProcFile.read("/proc/\(pid)/cgroup").map { .lines($0) }
  }

  /// True where the second version of control groups is mounted; systemd then keeps its units there, and only there.
  private static func isSecondVersion(_ directory: String) -> Bool {
    var system = statfs()
    return unsafe statfs(directory, &system) == 0 && system.f_type == 0x6367_7270  // CGROUP2_SUPER_MAGIC
  }

  /// The time at which the leader of a session started, as ``PeerProcess/start(of:)`` tells it.
  func start(ofLeader pid: pid_t) -> UInt64? {
    if let leader, leader.pid == pid, leader.process.isAlive { return leader.process.started }
    leader = nil
    guard let started = PeerProcess.start(of: pid) else { return nil }
    leader = PeerProcess(pid, started: started).map { (pid, $0) }
    return started
  }
}
