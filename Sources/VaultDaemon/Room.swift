internal import VaultAPI

/// The choice of who has to go where all clients together are too many, or send too much.
///
/// It is always one of the uid that holds most, so that no other uid's clients pay for it.
enum Room {
  /// Bytes that the connections of one uid may have sent that are no handled calls yet; one frame alone may have 2 MiB.
  static let pendingBytes = 16 << 20

  /// The facts of a connection that are looked at.
  struct Guest {
    var uid: UInt32
    /// True when a call of it waits for something: an unlock, an answer, an event.
    var isHeld: Bool
    /// The time at which it sent something last, as a number that grows.
    var heard: Int
  }

  /// The connection that makes room for another one of `uid`: the longest silent one of the uid that has most, and one
  /// with a call that waits only where all have such calls. Nil when there is none.
  static func leaving(_ guests: [Guest], for uid: UInt32) -> Int? {
    var counts: [UInt32: Int] = [uid: 0]
    for guest in guests { counts[guest.uid, default: 0] += 1 }
    let most = counts.values.max() ?? 0
    // Who comes gives way itself where others have no more.
    let loser = counts[uid] == most ? uid : counts.first { $0.value == most }?.key
    return guests.indices.filter { guests[$0].uid == loser }
      .min { (guests[$0].isHeld ? 1 : 0, guests[$0].heard) < (guests[$1].isHeld ? 1 : 0, guests[$1].heard) }
  }
}

extension Service {
  /// Closes a connection for another one of `uid` if there are as many as there may be.
  func makeRoom(for uid: UInt32) {
    let most = openFiles.connections(configured: configuration.maxConnections)
    while connections.count >= most {
      let all = Array(connections.values)
      let guests = all.map { Room.Guest(uid: $0.peer.uid, isHeld: $0.isHeld, heard: $0.heard) }
      guard let index = Room.leaving(guests, for: uid) else { return }
      // It is told of the end in a later turn of the loop, and would be counted until then.
      leave(all[index])
      all[index].giveWay()
    }
  }

  /// Counts what a connection holds of frames more than before, and ends the one that holds most where its uid has too
  /// much.
  func count(_ more: Int, of connection: Connection) {
    let uid = connection.peer.uid
    pendingBytes[uid, default: 0] += more
    guard more > 0, pendingBytes[uid, default: 0] > Room.pendingBytes else { return }
    connections.values.filter { $0.peer.uid == uid }.max { $0.held < $1.held }?.refuseMore()
  }
}
