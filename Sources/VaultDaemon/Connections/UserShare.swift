internal import VaultService

/// The share of the daemon that all processes of one uid have together.
final class UserShare {
  /// The weight of an administrator's share; everybody else's is 1. So the administrator's tools get through when a
  /// service keeps the vault busy.
  static let administrator = 4

  let uid: UInt32
  let rate: RequestRate
  /// Calls that are answered at once, and calls that take long; neither line waits for the other.
  let answers: Line
  let works: Line
  private(set) var connections: [ObjectIdentifier: VarlinkConnection] = [:]
  /// The number of bytes that the connections have sent and that are not handled yet.
  var pendingBytes = 0
  /// The number of bytes that were sent to the connections and that they have not taken.
  var unreadBytes = 0
  /// The number of the uid's refused clients that are still connected.
  var lingering = 0
  /// Some of the connections that have been silent longest, the most silent one last.
  private var silent: [Room.Guest] = []

  init(uid: UInt32, _ rate: RequestRate) {
    self.uid = uid
    self.rate = rate
    answers = Line(of: uid)
    works = Line(of: uid)
  }

  /// The uid's factor compared to others: for turns, and for the number of connections.
  var weight: Int {
    get { Int(answers.weight) }
    set { (answers.weight, works.weight) = (Int64(newValue), Int64(newValue)) }
  }

  func add(_ connection: VarlinkConnection) { connections[ObjectIdentifier(connection)] = connection }

  /// Removes a connection; false when it was not there.
  func remove(_ connection: VarlinkConnection) -> Bool {
    connections.removeValue(forKey: ObjectIdentifier(connection)) != nil
  }

  /// Returns the connection that must go to make room for another one; nil when there is none.
  func leaving() -> VarlinkConnection? {
    while let guest = silent.popLast() {
      // A connection that was heard since then is not silent any more.
      if let connection = connections[guest.id], connection.guest == guest { return connection }
    }
    silent = Room.silent(connections.values.lazy.map(\.guest)).reversed()
    return silent.popLast().flatMap { connections[$0.id] }
  }
}

extension VarlinkConnection {
  /// The facts that decide if this connection must go.
  fileprivate var guest: Room.Guest { Room.Guest(id: ObjectIdentifier(self), isHeld: isHeld, heard: input.heard) }
}
