internal import VaultService

/// All that the processes of one uid have of the daemon together.
final class UserShare {
  /// The weight of an administrator's share, where that of everybody else is 1: its own tools get through when a service
  /// keeps the vault busy.
  static let administrator = 4

  let uid: UInt32
  let rate: RequestRate
  /// What is answered at once, and what takes long: one does not wait for the other.
  let answers: Line
  let works: Line
  private(set) var connections: [ObjectIdentifier: VarlinkConnection] = [:]
  /// The number of bytes that its connections have sent and that are not handled yet.
  var pendingBytes = 0
  /// The number of bytes that its connections were sent and have not taken.
  var unreadBytes = 0
  /// The number of its refused clients that are still connected.
  var lingering = 0
  /// Some of those that have been silent for longest, the first one last.
  private var silent: [Room.Guest] = []

  init(uid: UInt32, _ rate: RequestRate) {
    self.uid = uid
    self.rate = rate
    answers = Line(of: uid)
    works = Line(of: uid)
  }

  /// How much more than others it gets: of the turns, and of the room for connections.
  var weight: Int {
    get { Int(answers.weight) }
    set { (answers.weight, works.weight) = (Int64(newValue), Int64(newValue)) }
  }

  func add(_ connection: VarlinkConnection) { connections[ObjectIdentifier(connection)] = connection }

  /// False when it was not there.
  func remove(_ connection: VarlinkConnection) -> Bool {
    connections.removeValue(forKey: ObjectIdentifier(connection)) != nil
  }

  /// The connection that gives way for another one; nil where there is none.
  func leaving() -> VarlinkConnection? {
    while let guest = silent.popLast() {
      // One that was heard since then is not silent any more.
      if let connection = connections[guest.id], connection.guest == guest { return connection }
    }
    silent = Room.silent(connections.values.lazy.map(\.guest)).reversed()
    return silent.popLast().flatMap { connections[$0.id] }
  }
}

extension VarlinkConnection {
  /// The facts that decide whether it gives way.
  fileprivate var guest: Room.Guest { Room.Guest(id: ObjectIdentifier(self), isHeld: isHeld, heard: input.heard) }
}
