/// The choice of the connection that must go when all clients together are too many, or send too much.
///
/// It always belongs to the uid that holds most, so that clients of other uids do not pay for it.
enum Room {
  /// The most bytes that the connections of one uid may have sent without a handled call; one frame alone may have 2
  /// MiB.
  static let pendingBytes = 16 << 20
  /// The most bytes that the connections of one uid may leave unread.
  static let unreadBytes = 16 << 20
  /// The number of connections that are chosen at a time, so that not every newcomer causes a choice among thousands.
  static let chosen = 64

  /// The number of a uid's connections, and its weight.
  struct Holding {
    var uid: UInt32
    var count: Int
    var weight: Int
  }

  /// The facts about a connection that decide the choice.
  struct Guest: Equatable {
    var id: ObjectIdentifier
    /// True when a call on the connection waits for something: an unlock, an answer, an event.
    var isHeld: Bool
    /// The time at which the connection last sent something, as an increasing number.
    var heard: Int

    /// Orders the connections by who goes first: the one that has been silent longest. One with a waiting call goes
    /// only if all have waiting calls.
    static func < (one: Guest, other: Guest) -> Bool {
      one.isHeld == other.isHeld ? one.heard < other.heard : other.isHeld
    }
  }

  /// Returns the uid that must make room for another connection of `uid`: the one with the most connections for its
  /// weight. Nil when there are no connections.
  static func loser(_ holdings: some Sequence<Holding>, for uid: UInt32) -> UInt32? {
    var loser: Holding?
    for holding in holdings where holding.count > 0 {
      guard let most = loser else {
        loser = holding
        continue
      }
      let (more, less) = (holding.count * most.weight, most.count * holding.weight)
      // If no other uid has more, the newcomer's uid makes room itself.
      if more > less || more == less && holding.uid == uid { loser = holding }
    }
    return loser?.uid
  }

  /// Returns the first ``chosen`` connections that must go, in that order.
  static func silent(_ guests: some Sequence<Guest>) -> [Guest] {
    var first: [Guest] = []
    for guest in guests {
      if first.count == chosen {
        guard guest < first[chosen - 1] else { continue }
        first.removeLast()
      }
      var place = first.count
      while place > 0, guest < first[place - 1] { place -= 1 }
      first.insert(guest, at: place)
    }
    return first
  }
}
