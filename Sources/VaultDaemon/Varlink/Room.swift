/// The choice of who has to go where all clients together are too many, or send too much.
///
/// It is always one of the uid that holds most, so that no other uid's clients pay for it.
enum Room {
  /// Bytes that the connections of one uid may have sent that are no handled calls yet; one frame alone may have 2 MiB.
  static let pendingBytes = 16 << 20
  /// Bytes that the connections of one uid may leave unread.
  static let unreadBytes = 16 << 20
  /// The number of guests that are chosen at a time, so that a choice among thousands is not made for each that comes.
  static let chosen = 64

  /// The number of connections that a uid has, and its weight.
  struct Holding {
    var uid: UInt32
    var count: Int
    var weight: Int
  }

  /// The facts of a connection that are looked at.
  struct Guest: Equatable {
    var id: ObjectIdentifier
    /// True when a call of it waits for something: an unlock, an answer, an event.
    var isHeld: Bool
    /// The time at which it sent something last, as a number that grows.
    var heard: Int

    /// Orders those before that give way first: the longest silent one, and one with a call that waits only where all have
    /// such calls.
    static func < (one: Guest, other: Guest) -> Bool {
      one.isHeld == other.isHeld ? one.heard < other.heard : other.isHeld
    }
  }

  /// The uid that makes room for another connection of `uid`: the one that has most for its weight. Nil when nobody has any.
  static func loser(_ holdings: some Sequence<Holding>, for uid: UInt32) -> UInt32? {
    var loser: Holding?
    for holding in holdings where holding.count > 0 {
      guard let most = loser else {
        loser = holding
        continue
      }
      let (more, less) = (holding.count * most.weight, most.count * holding.weight)
      // Who comes gives way itself where others have no more.
      if more > less || more == less && holding.uid == uid { loser = holding }
    }
    return loser?.uid
  }

  /// The first ``chosen`` that give way, in that order.
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
