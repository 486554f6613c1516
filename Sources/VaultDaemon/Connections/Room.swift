/// The choice of the connection that must go when all clients together are too many, or send too much.
///
/// The connection always belongs to the uid that holds most, so that no client of another uid pays for that uid. Of the
/// uid's processes, the connection belongs to the one that holds most, so that the uid's other programs do not pay
/// either. The clients of a bus, which is one user's, give way by the second rule alone.
enum Room {
  /// The most bytes that the connections of one uid may have sent and that are not handled yet. One frame alone may
  /// have 2 MiB.
  static let pendingBytes = 16 << 20
  /// The most bytes that the connections of one uid may leave unread.
  static let unreadBytes = 16 << 20

  /// The number of a uid's connections, and its weight.
  struct Holding {
    var uid: UInt32
    var count: Int
    var weight: Int
    /// True for a uid without any right. All such uids count as one.
    var isStranger = false
  }

  /// The importance of a connection, the lowest first.
  enum Standing: Int, Comparable {
    /// Every call is answered.
    case idle
    /// A call waits for something, such as an unlock or an event, or no call has come yet.
    case waiting
    /// A lock waits to be handled, or the call of an agent that is about to attend.
    case urgent
    /// An agent attends over the connection.
    case attending

    static func < (one: Standing, other: Standing) -> Bool { one.rawValue < other.rawValue }
  }

  /// The facts about a connection that decide the choice.
  struct Guest<Process: Hashable>: Equatable {
    var id: ObjectIdentifier
    /// The process that connected, or those that count as one process with it.
    var process: Process
    var standing: Standing
    /// The time at which the connection last sent something, as an increasing number.
    var heard: Int
  }

  /// Returns the uid that must make room for another connection of `uid`: the one with the most connections for its
  /// weight, where all strangers count as one. If several have equally many, the newcomer's uid makes room itself, or
  /// else the strangers do. Nil when there are no connections.
  static func loser(_ holdings: some Sequence<Holding>, for uid: UInt32) -> UInt32? {
    let strangers = holdings.reduce(0) { $0 + ($1.isStranger ? $1.count : 0) }
    var loser: Holding?
    for holding in holdings where holding.count > 0 {
      guard let most = loser else {
        loser = holding
        continue
      }
      let areAlike = holding.isStranger == most.isStranger
      let count = holding.isStranger && !areAlike ? strangers : holding.count
      let other = most.isStranger && !areAlike ? strangers : most.count
      let (more, less) = (count * most.weight, other * holding.weight)
      if more > less || more == less && most.uid != uid && (holding.uid == uid || holding.isStranger && !areAlike) {
        loser = holding
      }
    }
    return loser?.uid
  }

  /// Returns the connections of one uid in the order in which they must go.
  ///
  /// The process with the most connections gives way first. Of one process, and of processes with equally many, the
  /// connection of the lowest standing goes first, and of those the one that has been silent longest. Each process has
  /// one connection for an agent or an urgent call that does not count as one of its connections and goes last;
  /// otherwise a program that forks, or pretends to be several agents, would drive out an agent or a lock.
  static func leaving<Process>(_ guests: some Sequence<Guest<Process>>) -> [Guest<Process>] {
    var numbered: [(number: Int, guest: Guest<Process>)] = []
    for own in Dictionary(grouping: guests, by: \.process).values {
      // The connection that stays longest comes first.
      let staying = own.sorted { one, other in
        (other.standing.rawValue, other.heard) < (one.standing.rawValue, one.heard)
      }
      let first = staying.first.map { $0.standing >= .urgent ? -1 : 0 } ?? 0
      for (number, guest) in staying.enumerated() { numbered.append((first + number, guest)) }
    }
    numbered.sort { one, other in
      (other.number, one.guest.standing.rawValue, one.guest.heard)
        < (one.number, other.guest.standing.rawValue, other.guest.heard)
    }
    return numbered.map(\.guest)
  }
}
