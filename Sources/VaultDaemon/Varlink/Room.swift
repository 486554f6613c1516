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
