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
      door: .varlink, uid: peer.uid, groups: [], pid: peer.pid, started: nil, unit: Self.unknownUnit, session: nil)
  }

  /// The process that connected, while it runs: what cannot be learned of it counts as nothing.
  ///
  /// If the kernel knows the process by its number alone, the unit counts only when the number still belongs to the uid
  /// that connected, asked after the unit: what has the number by then may be another process.
  ///
  /// - Parameter groups: the supplementary groups that it had when it connected.
  init(_ peer: Peer, _ process: PeerProcess, groups: [gid_t], _ known: KnownProcesses) {
    let started = process.started ?? PeerProcess.start(of: peer.pid)
    self.init(
      door: .varlink, uid: peer.uid, groups: [peer.gid] + groups.filter { $0 != peer.gid }, pid: peer.pid,
      started: process.isAlive ? started : nil, unit: Self.unit(of: peer, process, known),
      session: AuthenticationSession(of: peer, process, started: started, known))
  }

  private static func unit(of peer: Peer, _ process: PeerProcess, _ known: KnownProcesses) -> String? {
    // Of a process that cannot be seen from here nothing is believed; 0 would be this one.
    guard peer.pid > 0 else { return unknownUnit }
    let unit = known.unit(of: peer.pid)
    let isKnown = process.isAlive && (process.started == nil || PeerProcess.uid(of: peer.pid) == peer.uid)
    return isKnown ? unit : unknownUnit
  }

  /// A unit that is taken for a service: where nobody can tell, nobody sits.
  private static let unknownUnit = "unknown.service"
}
