internal import Glibc
internal import VaultService

extension AuthenticationSession {
  /// Makes the session of a connected process that started at `own`. The peer's pid must belong to that process all the
  /// time.
  init(of peer: Peer, started own: UInt64, _ known: KnownProcesses) {
    let leader = getsid(peer.pid)
    if leader > 0, let start = leader == peer.pid ? own : known.start(ofLeader: leader), getsid(peer.pid) == leader {
      // The process was in that session before and after, so no other leader had this number in between.
      self.init(uid: peer.uid, scope: .session, pid: leader, started: start)
    } else {
      self.init(uid: peer.uid, scope: .process, pid: peer.pid, started: own)
    }
  }
}
