internal import VaultService

/// Everybody who is connected to the Varlink socket, and what each uid may have there.
final class Clients {
  /// The number of shares that are kept of uids that have no connection.
  private static let mostGone = 256

  /// The number of users at whose connections is looked between the loop's rounds.
  private static let mostHeard = 4

  private var shares: [UInt32: UserShare] = [:]
  private var connectionCount = 0
  private var heardCount = 0
  private var lastReader: ObjectIdentifier?
  private var processes = HeldProcesses()
  let known = KnownProcesses()
  /// True when the kernel tells the process that connected itself, at any time, and not its number.
  var areProcessesTold = false
  /// The connection that each of the last few users was heard on, for ``lookAround(beside:amongEvents:)``.
  private var lastHeard: [VarlinkConnection] = []
  private var isLooking = false
  /// The buffer for requests that are not waited for.
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

  /// Takes new limits over.
  func reconfigure(_ new: Configuration) {
    (mostConnections, mostRequests) = (new.maxConnections, new.maxRequestsPerSecond)
    for share in shares.values { share.rate.change(perSecond: mostRequests) }
  }

  /// True for those whose share has the weight of an administrator: root, and the user whose vault it is.
  private func isAdministrator(_ uid: UInt32) -> Bool { uid == 0 || uid == owner }

  /// The number of connections that there may be.
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

  /// A number above all that it gave before, for the order in which connections were accepted, and heard.
  func heardNext() -> Int {
    heardCount += 1
    return heardCount
  }

  /// Takes note that a connection has sent something.
  func heard(_ connection: VarlinkConnection) {
    connection.input.heard = heardNext()
    if let index = lastHeard.firstIndex(where: { $0.share === connection.share }) {
      if lastHeard[index] !== connection { lastHeard[index] = connection }
    } else {
      if lastHeard.count >= Self.mostHeard { lastHeard.removeLast() }
      lastHeard.insert(connection, at: 0)
    }
  }

  /// Takes what users who were heard lately have sent meanwhile, and answers it where they have had less than those who wait.
  ///
  /// It runs between any two pieces of work for one user, where several ask: what is done for one connection after the other before
  /// the loop looks at its sockets again would keep all others waiting. To look costs a recv(2), a round of the loop ten times that.
  func lookAround(beside share: UserShare?, amongEvents: Bool) {
    guard !isLooking else { return }
    isLooking = true
    for connection in lastHeard where connection.share !== share {
      connection.lookIn(amongEvents: amongEvents)
    }
    isLooking = false
  }

  /// The process that made a connection, if it runs; `find` takes hold of it.
  func runningProcess(of connection: VarlinkConnection, _ find: () -> PeerProcess?) -> PeerProcess? {
    processes.running(connection.peer.pid, acceptedAs: connection.place, most: openFiles.processes, find)
  }

  /// Lends what has come at a socket by now, if anything has.
  ///
  /// There is one buffer for all: it is lent to one at a time, and wiped before the next.
  func takeIncoming(from socket: ClientSocket, _ body: (RawSpan) -> Void) -> Bool {
    var incoming = Incoming()
    swap(&incoming, &self.incoming)
    let count = incoming.receive(from: socket)
    if count > 0 { incoming.lend(count, body) }
    swap(&incoming, &self.incoming)
    return count > 0
  }

  /// True when this connection was the last one that sent something, too; it is from now on.
  func isLastReader(_ connection: AnyObject) -> Bool {
    let id = ObjectIdentifier(connection)
    defer { lastReader = id }
    return lastReader == id
  }

  /// All that the connections of this peer's uid have together.
  func share(of peer: Peer) -> UserShare {
    if let share = shares[peer.uid] { return share }
    if shares.count >= Self.mostGone { forgetGone() }
    let share = UserShare(uid: peer.uid, RequestRate(perSecond: mostRequests, now: clock.monotonic()))
    if isAdministrator(peer.uid) { share.weight = UserShare.administrator }
    shares[peer.uid] = share
    return share
  }

  /// Forgets uids that are gone for so long that nothing that they did counts any more.
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

  /// Closes a connection for another one of `share` if there are as many as there may be.
  private func makeRoom(for share: UserShare) {
    while connectionCount >= most {
      let holdings = shares.values.lazy.map {
        Room.Holding(uid: $0.uid, count: $0.connections.count, weight: $0.weight)
      }
      guard let loser = Room.loser(holdings, for: share.uid), let leaving = shares[loser]?.leaving() else { return }
      // It is told of the end in a later turn of the loop, and would be counted until then.
      leave(leaving)
      leaving.giveWay(most: most)
    }
  }

  /// True when a refused client may be given the time to read why, which is counted until ``lingered(_:)``: not where there
  /// are many, and of one uid fewer.
  func mayLinger(_ share: UserShare) -> Bool {
    let most = openFiles.lingering
    guard lingering < most, share.lingering < max(1, most / 2) else { return false }
    lingering += 1
    share.lingering += 1
    return true
  }

  /// A refused client is gone.
  func lingered(_ share: UserShare) {
    lingering -= 1
    share.lingering -= 1
  }

  /// Counts what a connection holds of frames more than before, and ends the one that holds most where its uid has too
  /// much.
  func count(_ more: Int, of connection: VarlinkConnection) {
    let share = connection.share
    share.pendingBytes += more
    guard more > 0, share.pendingBytes > Room.pendingBytes else { return }
    share.connections.values.max { $0.input.held < $1.input.held }?.refuseMore()
  }
}
