internal import VaultService

/// The clients that are connected to the Varlink socket, and the share of each uid there.
final class Clients {
  /// The number of shares that are kept for uids without a connection.
  private static let mostGone = 256

  /// The number of users whose connections are checked between the loop's rounds.
  private static let mostHeard = 4

  private var shares: [UInt32: UserShare] = [:]
  private var connectionCount = 0
  private var heardCount = 0
  private var lastReader: ObjectIdentifier?
  private var processes = HeldProcesses()
  let known = KnownProcesses()
  /// True when the kernel identifies the connected process itself, at any time, and not only by its pid.
  var areProcessesTold = false
  /// The connection on which each of the last few users was heard, for ``lookAround(beside:amongEvents:)``.
  private var lastHeard: [VarlinkConnection] = []
  private var isLooking = false
  /// The buffer for requests that are read without waiting.
  private var incoming = Incoming()
  /// The number of refused clients that are still connected.
  private(set) var lingering = 0
  private let owner: UInt32
  private let clock: Clock
  private let openFiles: OpenFiles
  private var mostConnections: Int
  private var mostRequests: Int

  init(owner: UInt32, clock: Clock, openFiles: OpenFiles, _ settings: Configuration) {
    self.owner = owner
    self.clock = clock
    self.openFiles = openFiles
    (mostConnections, mostRequests) = (settings.maxConnections, settings.maxRequestsPerSecond)
  }

  /// Applies new limits.
  func reconfigure(_ new: Configuration) {
    (mostConnections, mostRequests) = (new.maxConnections, new.maxRequestsPerSecond)
    for share in shares.values { share.rate.change(perSecond: mostRequests) }
  }

  /// Returns true for users whose share has the weight of an administrator: root, and the user whose vault it is.
  private func isAdministrator(_ uid: UInt32) -> Bool { uid == 0 || uid == owner }

  /// The most connections at once.
  private var most: Int { openFiles.connections(configured: mostConnections) }

  func admit(_ connection: VarlinkConnection) {
    makeRoom(for: connection.share)
    connection.share.add(connection)
    connectionCount += 1
  }

  func leave(_ connection: VarlinkConnection) {
    if connection.share.remove(connection) { connectionCount -= 1 }
    lastHeard.removeAll { $0 === connection }
  }

  /// Returns a number above all earlier ones, for the order in which connections were accepted and heard.
  func heardNext() -> Int {
    heardCount += 1
    return heardCount
  }

  /// Records that a connection has sent something.
  func heard(_ connection: VarlinkConnection) {
    connection.input.heard = heardNext()
    if let index = lastHeard.firstIndex(where: { $0.share === connection.share }) {
      if lastHeard[index] !== connection { lastHeard[index] = connection }
    } else {
      if lastHeard.count >= Self.mostHeard { lastHeard.removeLast() }
      lastHeard.insert(connection, at: 0)
    }
  }

  /// Reads what recently heard users have sent meanwhile, and answers those who have had less than the users who wait.
  ///
  /// It runs between any two pieces of work for one user when several users make calls. Otherwise, work for one
  /// connection after another would keep everyone else waiting until the loop looks at its sockets again. A check costs
  /// one recv(2), and a round of the loop costs ten times that.
  func lookAround(beside share: UserShare?, amongEvents: Bool) {
    guard !isLooking else { return }
    isLooking = true
    for connection in lastHeard where connection.share !== share {
      connection.lookIn(amongEvents: amongEvents)
    }
    isLooking = false
  }

  /// Returns the process that made a connection, if it runs; `find` gets hold of the process.
  func runningProcess(of connection: VarlinkConnection, _ find: () -> PeerProcess?) -> PeerProcess? {
    processes.running(connection.peer.pid, acceptedAs: connection.place, most: openFiles.processes, find)
  }

  /// Lends the bytes that have arrived at a socket; false when there are none.
  ///
  /// All sockets share one buffer. It is lent to one at a time, and wiped before the next.
  func takeIncoming(from socket: ClientSocket, _ body: (RawSpan) -> Void) -> Bool {
    var incoming = Incoming()
    swap(&incoming, &self.incoming)
    let count = incoming.receive(from: socket)
    if count > 0 { incoming.lend(count, body) }
    swap(&incoming, &self.incoming)
    return count > 0
  }

  /// Returns true when this connection was also the last one that sent something, and records it as the last.
  func isLastReader(_ connection: AnyObject) -> Bool {
    let id = ObjectIdentifier(connection)
    defer { lastReader = id }
    return lastReader == id
  }

  /// The share of this peer's uid, which all its connections have together.
  func share(of peer: Peer) -> UserShare {
    if let share = shares[peer.uid] { return share }
    if shares.count >= Self.mostGone { forgetGone() }
    let share = UserShare(uid: peer.uid, RequestRate(perSecond: mostRequests, now: clock.monotonic()))
    if isAdministrator(peer.uid) { share.weight = UserShare.administrator }
    shares[peer.uid] = share
    return share
  }

  /// Forgets uids that have been gone for so long that nothing they did still counts.
  private func forgetGone() {
    let now = clock.monotonic()
    shares = shares.filter {
      !$0.value.connections.isEmpty || $0.value.lingering > 0 || !$0.value.rate.isFull(now: now)
    }
  }

  func close() {
    for share in shares.values { for connection in share.connections.values { connection.close() } }
  }

  // MARK: Room

  /// Closes a connection to make room for another one of `share`, if the limit is reached.
  private func makeRoom(for share: UserShare) {
    while connectionCount >= most {
      let holdings = shares.values.lazy.map {
        Room.Holding(uid: $0.uid, count: $0.connections.count, weight: $0.weight)
      }
      guard let loser = Room.loser(holdings, for: share.uid), let leaving = shares[loser]?.leaving() else { return }
      // The connection is told of its end only in a later turn of the loop, and would be counted until then.
      leave(leaving)
      leaving.giveWay(most: most)
    }
  }

  /// Returns true when a refused client may get time to read the reason, and counts it until ``lingered(_:)``. Returns
  /// false when many clients do so already; the limit for one uid is lower.
  func mayLinger(_ share: UserShare) -> Bool {
    let most = openFiles.lingering
    guard lingering < most, share.lingering < max(1, most / 2) else { return false }
    lingering += 1
    share.lingering += 1
    return true
  }

  /// Records that a refused client is gone.
  func lingered(_ share: UserShare) {
    lingering -= 1
    share.lingering -= 1
  }

  /// Counts the further bytes of frames that a connection holds. If its uid holds too many, ends that uid's connection
  /// with the most.
  func count(_ more: Int, of connection: VarlinkConnection) {
    let share = connection.share
    share.pendingBytes += more
    guard more > 0, share.pendingBytes > Room.pendingBytes else { return }
    share.connections.values.max { $0.input.held < $1.input.held }?.refuseMore()
  }
}
