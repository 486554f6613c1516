internal import Glibc

/// The processes behind the connections that were heard last, the latest first: a descriptor for each of a few, and whether one
/// runs costs one poll(2).
///
/// The connections of one process share its descriptor. Clients are accepted in the order in which they connected: so whoever
/// connected under the number of a process that was accepted before and still runs is that process.
struct HeldProcesses {
  private struct Held {
    let process: PeerProcess
    let pid: pid_t
    /// The connection that it was found by, as its place in the order of accepting.
    let place: Int
  }

  private var held: [Held] = []

  /// The process that connected; nil where it has ended, or nothing can be known of it.
  ///
  /// - Parameters:
  ///   - pid: its number; 0 for one that cannot be seen from here, as many others may be.
  ///   - place: that of its connection in the order of accepting.
  ///   - most: how many may be held.
  ///   - find: takes hold of it by its connection.
  mutating func running(_ pid: pid_t, acceptedAs place: Int, most: Int, _ find: () -> PeerProcess?) -> PeerProcess? {
    if let index = held.firstIndex(where: { $0.pid == pid && ($0.place == place || pid > 0 && $0.place < place) }) {
      let known = held[index]
      if known.process.isAlive {
        if index > 0 { held.swapAt(0, index) }
        return known.process
      }
      held.remove(at: index)
      if known.place == place { return nil }
    }
    if held.count >= most { held.removeLast() }
    var found = find()
    if found == nil, !held.isEmpty {
      // At the limit of open files there may be no other descriptor.
      held = []
      found = find()
    }
    guard let found, found.isAlive else { return nil }
    held.removeAll { $0.pid == pid && pid > 0 }
    held.insert(Held(process: found, pid: pid, place: place), at: 0)
    return found
  }
}
