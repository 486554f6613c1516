internal import CLinux
internal import CSystemd
internal import Glibc
internal import VaultService

/// Remembers facts about clients' processes, so that the next client costs less.
final class KnownProcesses {
  /// The identity of a cgroup.
  private enum Cgroup: Hashable {
    /// The kernel's number, which no later cgroup gets.
    case number(UInt64)
    /// The lines of `/proc/PID/cgroup`, from a kernel that gives no number.
    case lines([UInt8])
  }

  /// The number of cgroups that are remembered.
  private static let most = 64

  /// The units that a cgroup belongs to.
  private struct Units {
    /// The unit of the system's service manager; nil for none.
    var system: String?
    /// The unit of a user's service manager, and the user who owns it.
    var user: (owner: uid_t, name: String)?
  }

  /// The units of each cgroup. `sd_pid_get_unit` reads two files, each of them line by line.
  private var units: [Cgroup: Units] = [:]
  /// The session leader that was last looked up.
  private var leader: (pid: pid_t, process: PeerProcess)?
  /// The process whose start was last looked up.
  private var last: (process: PeerProcess, started: UInt64)?
  /// Reads the files that clients' processes run; nil where nothing depends on the files' digests.
  let programs: ProgramReader?
  /// True when units are cgroups of the hierarchy to which the kernel's numbers refer.
  private let areNumbered = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].contains { isSecondVersion($0) }

  init(_ programs: ProgramReader? = nil) { self.programs = programs }

  /// Returns the units of a process: the system service manager's unit, which no user can fake, and the unit of the
  /// process's own user, which that user makes. Each is nil when the process belongs to no such unit; both are nil when
  /// the process moved to another cgroup in the meantime.
  func units(of pid: pid_t, uid: uid_t, _ process: PeerProcess) -> (system: String?, user: String?) {
    let cgroup = cgroup(of: pid, process)
    guard let cgroup else { return (nil, nil) }
    if let known = units[cgroup] { return Self.units(known, of: uid) }
    var found = Units()
    let (status, system) = unsafe Self.text { unsafe sd_pid_get_unit(pid, $0) }
    let (userStatus, user) = unsafe Self.text { unsafe sd_pid_get_user_unit(pid, $0) }
    var owner: uid_t = .max
    if user != nil, unsafe sd_pid_get_owner_uid(pid, &owner) < 0 { owner = .max }
    found.system = system
    found.user = user.map { (owner, $0) }
    // Facts that were read at two times may be about two units.
    guard self.cgroup(of: pid, process) == cgroup else { return (nil, nil) }
    // Only a missing unit, or a system without units, is a lasting error. Any other error may pass, so its result is
    // not remembered.
    guard Self.isCertain(status), Self.isCertain(userStatus) else { return Self.units(found, of: uid) }
    if units.count >= Self.most { units = [:] }
    units[cgroup] = found
    return Self.units(found, of: uid)
  }

  private static func isCertain(_ status: Int32) -> Bool { status >= 0 || [-ENODATA, -ENXIO].contains(status) }

  /// Drops the user's unit if it is not of `uid`. A process in another user's slice, where only root can put it, has no
  /// unit of its own user.
  private static func units(_ units: Units, of uid: uid_t) -> (system: String?, user: String?) {
    (units.system, units.user.flatMap { $0.owner == uid ? $0.name : nil })
  }

  private static func text(
    _ ask: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32
  ) -> (status: Int32, text: String?) {
    var text: UnsafeMutablePointer<CChar>?
    let status = unsafe ask(&text)
    defer { unsafe free(text) }
    guard status >= 0, let text = unsafe text else { return (status, nil) }
    return (status, unsafe String(cString: text))
  }

  private func cgroup(of pid: pid_t, _ process: PeerProcess) -> Cgroup? {
    let number = areNumbered ? vault_cgroup(process.descriptor) : 0
    return number != 0 ? .number(number) : ProcFile.read("/proc/\(pid)/cgroup").map { .lines($0) }
  }

  /// Returns true when version 2 of control groups is mounted here; systemd then keeps its units there, and only there.
  private static func isSecondVersion(_ directory: String) -> Bool {
    var system = statfs()
    return unsafe statfs(directory, &system) == 0 && system.f_type == 0x6367_7270  // CGROUP2_SUPER_MAGIC
  }

  /// The time at which a process started, as ``PeerProcess/start(of:)`` returns it.
  func start(of pid: pid_t, _ process: PeerProcess) -> UInt64? {
    if let started = process.started { return started }
    if let last, last.process === process { return last.started }
    guard let started = PeerProcess.start(of: pid) else { return nil }
    last = (process, started)
    return started
  }

  /// The time at which the leader of a session started, as ``PeerProcess/start(of:)`` returns it; nil if the leader has
  /// ended, even if its parent has not waited for it yet.
  func start(ofLeader pid: pid_t) -> UInt64? {
    if let leader, leader.pid == pid, leader.process.isAlive { return leader.process.started }
    leader = nil
    guard let started = PeerProcess.start(of: pid), let process = PeerProcess(pid, started: started), process.isAlive
    else { return nil }
    leader = (pid, process)
    return started
  }
}
