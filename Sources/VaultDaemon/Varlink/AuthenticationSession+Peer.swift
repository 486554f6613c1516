internal import Glibc
internal import VaultService

extension AuthenticationSession {
  /// The session of a connected process that had started at `own`; nil when it has ended.
  init?(of peer: Peer, _ process: PeerProcess, started own: UInt64?, _ known: KnownProcesses) {
    guard peer.pid > 0, let own else { return nil }
    let leader = getsid(peer.pid)
    var session = AuthenticationSession(uid: peer.uid, scope: .process, pid: peer.pid, started: own)
    if leader > 0, let start = leader == peer.pid ? own : known.start(ofLeader: leader),
      getsid(peer.pid) == leader
    {
      // In that session before and after, so in between no other leader had its number.
      session = AuthenticationSession(uid: peer.uid, scope: .session, pid: leader, started: start)
    }
    // The number was its own all the time if it still runs.
    guard process.isAlive else { return nil }
    self = session
  }
}
