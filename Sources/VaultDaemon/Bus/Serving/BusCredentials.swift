internal import Glibc
internal import VaultService

/// The facts that a bus tells about one of its connections (D-Bus specification, "GetConnectionCredentials").
struct BusCredentials {
  var uid: uid_t
  var pid: pid_t
  /// The groups of the process when it connected; empty if the bus does not tell.
  var groups: [gid_t] = []
  /// A hold on the process that connected; nil if the bus gives none, as before dbus 1.15.8.
  var process: PeerProcess?

  /// Reads the answer of the bus. Facts that are not known here are skipped.
  init(_ message: BusMessage) throws(BusError) {
    var (uid, pid, groups): (UInt32?, UInt32?, [UInt32]) = (nil, nil, [])
    var descriptor: Int32?
    defer { if let descriptor { close(descriptor) } }
    _ = try message.array(of: "{sv}") { () throws(BusError) in
      try message.entry(of: "sv") { () throws(BusError) in
        switch try message.string() {
        case "UnixUserID": uid = try message.variant(of: "u", message.unsigned)
        case "ProcessID": pid = try message.variant(of: "u", message.unsigned)
        case "UnixGroupIDs":
          groups = try message.variant(of: "au") { () throws(BusError) in
            try message.array(of: "u", message.unsigned)
          }
        case "ProcessFD":
          if let descriptor { close(descriptor) }
          descriptor = try message.variant(of: "h", message.file)
        default: try message.skip()
        }
      }
    }
    guard let uid, let pid = pid.flatMap({ pid_t(exactly: $0) }), pid > 0 else { throw .malformed }
    (self.uid, self.pid, self.groups) = (uid, pid, groups)
    guard let given = descriptor.take() else { return }
    process = PeerProcess(taking: given, of: pid)
    if process == nil { throw .malformed }
  }

  /// The process as the bus describes it; the effective group is not known.
  var peer: Peer { Peer(uid: uid, gid: .max, pid: pid) }

  /// Returns the process as a caller, and a closure that returns true while the process runs; nil if the process has
  /// ended, or nothing can be known about it.
  ///
  /// Older buses know only the process's number, as it was when the process connected. A process that took the number
  /// over before the first call cannot be told apart then. From the first call on, the start time tells the process
  /// from any other.
  ///
  /// - Parameter place: the connection's place in the order in which clients were accepted, see ``HeldProcesses``.
  func caller(
    by door: Caller.Door, acceptedAs place: Int, among clients: Clients
  ) -> (caller: Caller, runs: () -> Bool)? {
    let pid = pid
    guard let started = PeerProcess.start(of: pid) else { return nil }
    // While the process that connected runs, no other has its number.
    if let process, !process.isAlive { return nil }
    let find = { [weak clients] in
      clients?.runningProcess(pid, acceptedAs: place) { PeerProcess(pid, started: started) }
    }
    guard let process = find() else { return nil }
    let peer = Peer(uid: uid, gid: PeerProcess.gid(of: pid) ?? .max, pid: pid)
    var caller = Caller(peer, process, groups: groups, clients.known)
    // A caller without this start time is a process about which nothing is known.
    guard caller.started == started else { return nil }
    caller.door = door
    return (caller, { find() != nil })
  }
}
