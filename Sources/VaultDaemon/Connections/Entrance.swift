/// The entrance of one door: the clients that came through it, and the limit for their number.
///
/// Each door has its own limit, so that no door's clients keep out those of another.
final class Entrance<Connection: Client> {
  /// The rule for a newcomer when the number of clients has reached the limit.
  enum Rule {
    /// The newcomer is admitted, and a connection that ``Room`` chooses gives way.
    case oneGivesWay
    /// The newcomer is admitted, and an idle connection gives way. If no connection is idle, the newcomer is turned
    /// away.
    case idleGivesWay
    /// The newcomer is refused, and stays connected until it has read the refusal. At twice the limit, which counts
    /// refused clients too, a newcomer is turned away.
    case newcomerIsRefused
  }

  enum Admission {
    case admitted
    /// The connection is to be refused, and is counted until it ends.
    case refused
    /// The connection is to be ended, and is not counted.
    case turnedAway
  }

  /// The clients of one uid.
  private final class User {
    let share: UserShare
    var connections: [ObjectIdentifier: Connection] = [:]
    /// The connections that must go first, as they were last put in order. The very first is at the end of the list.
    var leaving: [Room.Guest<Int32>] = []
    /// The number of the uid's connections when `leaving` was put in order.
    var ordered = 0

    init(_ share: UserShare) { self.share = share }
  }

  /// The most connections that one newcomer causes to be looked at.
  private static var mostLooks: Int { 64 }

  private let clients: Clients
  private let rule: Rule
  private let most: () -> Int
  private var users: [UInt32: User] = [:]
  private(set) var count = 0

  /// - Parameter most: returns the most clients at once.
  init(_ clients: Clients, _ rule: Rule, most: @escaping () -> Int) {
    (self.clients, self.rule, self.most) = (clients, rule, most)
  }

  /// All clients.
  var connections: [Connection] { users.values.flatMap { Array($0.connections.values) } }

  /// The clients of one uid.
  func connections(of uid: UInt32) -> [Connection] { (users[uid]?.connections).map { Array($0.values) } ?? [] }

  // MARK: Coming and going

  /// Admits a connection, which may end another one.
  func admit(_ connection: Connection) -> Admission {
    let most = most()
    var isFull = false
    switch rule {
    case .oneGivesWay, .idleGivesWay:
      while count >= most {
        guard let leaving = leaving(for: connection.share.uid) else { return .turnedAway }
        // The connection is told of its end only in a later turn of the loop, and would be counted until then.
        leave(leaving)
        leaving.giveWay(most: most)
      }
    case .newcomerIsRefused:
      guard count < 2 * most else { return .turnedAway }
      isFull = connections.count { !$0.isRefused } >= most
    }
    let share = connection.share
    let user = users[share.uid] ?? User(share)
    users[share.uid] = user
    user.connections[ObjectIdentifier(connection)] = connection
    share.clientCount += 1
    count += 1
    return isFull ? .refused : .admitted
  }

  /// Forgets a connection that has ended, or is about to; safe to call twice.
  func leave(_ connection: Connection) {
    let share = connection.share
    clients.forget(connection)
    guard let user = users[share.uid], user.connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else {
      return
    }
    if user.connections.isEmpty { users[share.uid] = nil }
    // A process that has closed many connections may no longer be the one with the most, so the order is void.
    if user.connections.count < user.ordered * 3 / 4 { user.leaving = [] }
    share.clientCount -= 1
    count -= 1
  }

  /// Ends all connections.
  func close() { for connection in connections { connection.close() } }

  // MARK: Room

  /// Returns the connection that must go to make room for another one of `uid`; nil when there is none.
  private func leaving(for uid: UInt32) -> Connection? {
    let holdings = users.values.lazy.map {
      Room.Holding(
        uid: $0.share.uid, count: $0.connections.count, weight: $0.share.weight, isStranger: $0.share.isStranger)
    }
    guard let user = Room.loser(holdings, for: uid).flatMap({ users[$0] }) else { return nil }
    var looks = 0
    while let guest = next(of: user), let connection = user.connections[guest.id] {
      // An urgent call may still be unread. If all are urgent, one of them goes.
      guard guest.standing < .urgent, looks < Self.mostLooks else { return connection }
      looks += 1
      if !connection.looksUrgent() { return connection }
    }
    return nil
  }

  /// Takes out the first of a user's connections that must go.
  private func next(of user: User) -> Room.Guest<Int32>? {
    while let guest = user.leaving.popLast() {
      // A connection that was heard since then has another place in the order.
      if let connection = user.connections[guest.id], connection.guest == guest { return guest }
    }
    let guests = user.connections.values.map(\.guest)
    let order = Room.leaving(rule == .idleGivesWay ? guests.filter { $0.standing == .idle } : guests)
    // A few at a time, so that not every newcomer causes a choice among thousands.
    user.leaving = order.prefix(1 + order.count / 64).reversed()
    user.ordered = user.connections.count
    return user.leaving.popLast()
  }
}

extension Entrance where Connection: Sender {
  /// Counts further bytes of frames that a connection holds, as a negative number if it holds fewer. If its uid now
  /// holds too many bytes, ends the connection of that uid that holds the most. Strangers count together, and the
  /// stranger with the most bytes loses a connection.
  func count(_ more: Int, of connection: Connection) {
    let share = connection.share
    share.countPending(more)
    guard more > 0, share.pendingTogether > Room.pendingBytes else { return }
    let user = share.isStranger ? mostHolding ?? share.uid : share.uid
    connections(of: user).max { $0.held < $1.held }?.refuseMore()
  }

  /// The stranger whose connections here hold the most bytes.
  private var mostHolding: UInt32? {
    users.values.lazy.filter(\.share.isStranger).max { $0.share.pendingBytes < $1.share.pendingBytes }?.share.uid
  }
}
