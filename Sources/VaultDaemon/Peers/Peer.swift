internal import Glibc
internal import VaultModel
internal import VaultService

/// The process at the other end of a connection, as the kernel saw it when it connected.
struct Peer: Hashable, Sendable {
  var uid: uid_t
  var gid: gid_t
  var pid: pid_t

  /// A process of which not even the user is known.
  static let unknown = Peer(uid: .max, gid: .max, pid: 0)
}

extension Caller {
  /// A process about which nothing is known, or nothing yet, and so nothing is trusted. Another process may have its
  /// number, so nothing is found out about it later.
  init(unknown peer: Peer, by door: Door = .varlink) {
    self.init(unknown: peer, by: door, groups: [], memory: Memory())
  }

  private init(unknown peer: Peer, by door: Door, groups: [gid_t], memory: Memory) {
    self.init(
      door: door, uid: peer.uid, groups: groups, pid: peer.pid, started: nil, unit: Self.unknownUnit, session: nil,
      memory: memory)
  }

  private static func memory(of peer: Peer, _ programs: ProgramReader?) -> Memory {
    let pid = peer.pid
    return Memory(
      executable: { Program.path(of: pid) }, former: { Program.path(of: pid, evenGone: true) },
      digest: { then in
        guard let programs else { return then(.uncertain) }
        programs.digest(of: pid, uid: peer.uid, then: then)
      }, ancestry: { Ancestry.of(pid) })
  }

  /// Collects the facts about the process that connected, while it runs. A fact that cannot be learned counts as
  /// absent.
  ///
  /// If the kernel identifies the process only by its number, the facts count only if that number still belongs to the
  /// uid that connected. This is checked last, because another process may have the number by then.
  ///
  /// - Parameter groups: the supplementary groups that the process had when it connected.
  init(_ peer: Peer, _ process: PeerProcess, groups: [gid_t], _ known: KnownProcesses) {
    let groups = [peer.gid] + groups.filter { $0 != peer.gid }
    // Nothing is trusted about a process that cannot be seen from here; pid 0 would mean this daemon.
    guard peer.pid > 0, let started = known.start(of: peer.pid, process) else {
      self.init(unknown: peer, by: .varlink, groups: groups, memory: Self.memory(of: peer, known.programs))
      return
    }
    let (unit, userUnit) = known.units(of: peer.pid, uid: peer.uid, process)
    let session = AuthenticationSession(of: peer, started: started, known)
    // If the process still runs, the number was its own all the time.
    guard process.isAlive, process.started == nil || PeerProcess.uid(of: peer.pid) == peer.uid else {
      self.init(unknown: peer, by: .varlink, groups: groups, memory: Self.memory(of: peer, known.programs))
      return
    }
    self.init(
      door: .varlink, uid: peer.uid, groups: groups, pid: peer.pid, started: started, unit: unit, userUnit: userUnit,
      session: session, memory: Self.memory(of: peer, known.programs))
  }

  /// The unit of a process about which nothing is known. It counts as a service, so that no person is assumed to be
  /// there.
  private static let unknownUnit = "unknown.service"
}
