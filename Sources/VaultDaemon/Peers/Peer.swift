internal import Glibc
internal import VaultService

/// The process at the other end of a connection, as the kernel saw it when it connected.
struct Peer: Hashable, Sendable {
  var uid: uid_t
  var gid: gid_t
  var pid: pid_t
}

extension Caller {
  /// A process of which nothing is known yet, and so nothing is believed.
  init(unknown peer: Peer) {
    self.init(
      door: .varlink, uid: peer.uid, groups: [], pid: peer.pid, started: nil, unit: Self.unknownUnit, session: nil,
      memory: Memory(
        executable: { Program.path(of: peer.pid) }, former: { Program.path(of: peer.pid, evenGone: true) },
        digest: { Program.digest(of: peer.pid) }, ancestry: { Ancestry.of(peer.pid) }))
  }

  /// The process that connected, while it runs: what cannot be learned of it counts as nothing.
  ///
  /// If the kernel knows the process by its number alone, what was learned counts only when the number still belongs to the
  /// uid that connected, asked last: what has the number by then may be another process.
  ///
  /// - Parameter groups: the supplementary groups that it had when it connected.
  init(_ peer: Peer, _ process: PeerProcess, groups: [gid_t], _ known: KnownProcesses) {
    self.init(unknown: peer)
    self.groups = [peer.gid] + groups.filter { $0 != peer.gid }
    // Of a process that cannot be seen from here nothing is believed; 0 would be this one.
    guard peer.pid > 0, let started = known.start(of: peer.pid, process) else { return }
    let (unit, userUnit) = known.units(of: peer.pid, uid: peer.uid, process)
    let session = AuthenticationSession(of: peer, started: started, known)
    // The number was its own all the time if it still runs.
    guard process.isAlive, process.started == nil || PeerProcess.uid(of: peer.pid) == peer.uid else { return }
    (self.started, self.unit, self.userUnit, self.session) = (started, unit, userUnit, session)
  }

  /// A unit that is taken for a service: where nobody can tell, nobody sits.
  private static let unknownUnit = "unknown.service"
}
