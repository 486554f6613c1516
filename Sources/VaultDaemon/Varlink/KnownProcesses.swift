internal import CSystemd
internal import Glibc
internal import VaultService

/// Remembers facts about clients' processes, so that the next client costs less.
final class KnownProcesses {
  /// The number of cgroups that are remembered.
  private static let most = 64

  /// The unit of each cgroup as `/proc/PID/cgroup` names it; nil for one that is in none. `sd_pid_get_unit` reads two files,
  /// and each of them line by line.
  private var units: [[UInt8]: String?] = [:]
  /// The leader of the session that was asked for last.
  private var leader: (pid: pid_t, process: PeerProcess)?

  /// The unit of a process, which a user cannot fake; nil where it belongs to none.
  func unit(of pid: pid_t) -> String? {
    let file = "/proc/\(pid)/cgroup"
    let cgroup = ProcFile.read(file)
    if let cgroup, let known = units[cgroup] { return known }
    var name: UnsafeMutablePointer<CChar>?
    let result = unsafe sd_pid_get_unit(pid, &name)
    defer { unsafe free(name) }
    var unit: String?
    if result >= 0, let name = unsafe name { unit = unsafe String(cString: name) }
    // It may have been moved to another cgroup meanwhile.
    guard result >= 0 || result == -ENODATA, let cgroup, ProcFile.read(file) == cgroup else { return unit }
    if units.count >= Self.most { units = [:] }
    units[cgroup] = .some(unit)
    return unit
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
