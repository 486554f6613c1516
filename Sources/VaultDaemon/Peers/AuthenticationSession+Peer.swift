internal import Glibc
internal import VaultService

extension AuthenticationSession {
  /// The session of a connected process that had started at `own`, if it has the peer's number all the time.
  init(of peer: Peer, started own: UInt64, _ known: KnownProcesses) {
    let leader = getsid(peer.pid)
    if leader > 0, let start = leader == peer.pid ? own : known.start(ofLeader: leader), getsid(peer.pid) == leader {
      // In that session before and after, so in between no other leader had its number.
      self.init(uid: peer.uid, scope: .session, pid: leader, started: start)
    } else {
      self.init(uid: peer.uid, scope: .process, pid: peer.pid, started: own)
    }
  }
}
