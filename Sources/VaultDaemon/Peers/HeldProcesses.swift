internal import Glibc

/// The processes behind the connections that were heard last, the latest first. A descriptor is kept for a few of them,
/// and one poll(2) tells if a process still runs.
///
/// The connections of one process share its descriptor. Clients are accepted in the order in which they connected. So
/// if a process was accepted earlier and still runs, a later connection with the same pid comes from that same process.
struct HeldProcesses {
  private struct Held {
    let process: PeerProcess
    let pid: pid_t
    /// The place, in the order of accepting, of the connection through which the process was found.
    let place: Int
  }

  private var held: [Held] = []

  /// Returns the process that connected; nil when it has ended, or nothing can be known about it.
  ///
  /// - Parameters:
  ///   - pid: the pid of the process; 0 for a process that cannot be seen from here, a number that many may have.
  ///   - place: the connection's place in the order of accepting.
  ///   - most: the most processes to keep.
  ///   - find: gets hold of the process through its connection.
  mutating func running(_ pid: pid_t, acceptedAs place: Int, most: Int, _ find: () -> PeerProcess?) -> PeerProcess? {
    if let index = held.firstIndex(where: { $0.pid == pid && ($0.place == place || pid > 0 && $0.place < place) }) {
      let known = held[index]
      if known.process.isAlive {
        if index > 0 { held.insert(held.remove(at: index), at: 0) }
        return known.process
      }
      held.remove(at: index)
      if known.place == place { return nil }
    }
    if held.count >= most { held.removeLast() }
    var found = find()
    if found == nil, !held.isEmpty {
      // At the limit of open files, only the kept descriptors can make room.
      held = []
      found = find()
    }
    guard let found, found.isAlive else { return nil }
    held.removeAll { $0.pid == pid && pid > 0 }
    held.insert(Held(process: found, pid: pid, place: place), at: 0)
    return found
  }
}
