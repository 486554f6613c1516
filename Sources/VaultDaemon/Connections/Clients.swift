internal import VaultService

/// The clients of all doors together: the share of each uid, and who was heard last.
final class Clients {
  /// The number of shares at which those of uids without a connection are forgotten.
  private static let mostGone = 256

  /// The number of users whose connections are checked between two pieces of work.
  private static let mostHeard = 4

  /// The most closed connections that are freed only in a later turn. Clients that connect and are refused could close
  /// more than that between two turns, and would fill the memory.
  private static let mostClosed = 64

  private var shares: [UInt32: UserShare] = [:]
  private let strangers = Strangers()
  private var heardCount = 0
  private var processes = HeldProcesses()
  let known: KnownProcesses
  /// True when the kernel identifies the connected process itself, at any time, and not only by its pid.
  var areProcessesTold = false
  /// The connection on which each of the last few users was heard, in no order, for
  /// ``lookAround(beside:amongEvents:)``.
  private var lastHeard: [(share: UserShare, sender: any Sender)] = []
  private var isLooking = false
  /// The number of closed connections that wait to be freed.
  private var closed = 0
  /// The buffer for requests that are read without waiting for the loop.
  private var incoming = Incoming()
  /// The buffer for the rest of long requests.
  private var rest = Incoming(size: Incoming.most)
  /// The number of refused clients that are still connected.
  private(set) var lingering = 0
  private let owner: UInt32
  private let clock: Clock
  private let openFiles: OpenFiles
  private var mostConnections: Int
  private var mostRequests: Int

  init(
    owner: UInt32, clock: Clock, openFiles: OpenFiles, _ settings: Configuration, _ programs: ProgramReader? = nil
  ) {
    known = KnownProcesses(programs)
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

  /// The most clients at once that the settings allow.
  var most: Int { openFiles.connections(configured: mostConnections) }

  /// Returns true for users whose share has the weight of an administrator: root, and the user whose vault it is.
  private func isAdministrator(_ uid: UInt32) -> Bool { uid == 0 || uid == owner }

  /// The share of a uid, which all its connections have together. A new uid counts as a stranger until it is known
  /// whether it has any right.
  func share(of uid: UInt32) -> UserShare {
    if let share = shares[uid] { return share }
    if shares.count >= Self.mostGone { forgetGone() }
    let share = UserShare(
      uid: uid, RequestRate(perSecond: mostRequests, now: clock.monotonic()), among: strangers,
      isStranger: !isAdministrator(uid))
    if isAdministrator(uid) { share.weight = UserShare.administrator }
    shares[uid] = share
    return share
  }

  /// Forgets uids that have been gone for so long that nothing they did still counts. Uids with rights are remembered
  /// longer, so that a crowd of strangers cannot make the daemon forget a service and take it for a stranger.
  private func forgetGone() {
    let now = clock.monotonic()
    let isCrowd = shares.values.count { !$0.isStranger } >= Self.mostGone
    shares = shares.filter {
      $0.value.clientCount > 0 || $0.value.lingering > 0 || !$0.value.rate.isFull(now: now)
        || !$0.value.isStranger && !isCrowd
    }
  }

  // MARK: Hearing

  /// Returns a number above all earlier ones, for the order in which connections were accepted and heard.
  func heardNext() -> Int {
    heardCount += 1
    return heardCount
  }

  /// Records that a connection has sent something; returns the next number of ``heardNext()``.
  func heard(_ sender: some Sender) -> Int {
    let share = sender.share
    share.heard = heardNext()
    if let index = lastHeard.firstIndex(where: { $0.share === share }) {
      if lastHeard[index].sender !== sender { lastHeard[index].sender = sender }
    } else {
      // All strangers together have one of the places.
      let stranger = share.isStranger ? lastHeard.firstIndex { $0.share.isStranger } : nil
      let first = lastHeard.indices.min { lastHeard[$0].share.heard < lastHeard[$1].share.heard }
      if let stranger {
        lastHeard.remove(at: stranger)
      } else if let first, lastHeard.count >= Self.mostHeard {
        lastHeard.remove(at: first)
      }
      lastHeard.append((share, sender))
    }
    return share.heard
  }

  /// Forgets a connection that ends.
  func forget(_ client: some Client) { lastHeard.removeAll { $0.sender === client } }

  /// Reads what recently heard users have sent meanwhile, and answers the users who have had less time than all users
  /// who wait.
  ///
  /// It runs between any two pieces of work for one user when several users make calls. Otherwise, work for one
  /// connection after another would keep everyone else waiting until the loop looks at its sockets again. A check costs
  /// one recv(2), and a round of the loop costs ten times that.
  func lookAround(beside share: UserShare?, amongEvents: Bool) {
    guard !isLooking else { return }
    isLooking = true
    for heard in lastHeard where heard.share !== share { heard.sender.lookIn(amongEvents: amongEvents) }
    isLooking = false
  }

  /// Lends the bytes that have arrived at a socket; false when there are none.
  ///
  /// All sockets share one buffer. It is lent to one at a time, and wiped before the next.
  ///
  /// - Parameter peeks: true to leave the bytes in the socket.
  func takeIncoming(from socket: ClientSocket, peeks: Bool = false, _ body: (RawSpan) -> Void) -> Bool {
    var incoming = Incoming()
    swap(&incoming, &self.incoming)
    let count = incoming.receive(from: socket, peeks: peeks)
    if count > 0 { incoming.lend(count, body) }
    swap(&incoming, &self.incoming)
    return count > 0
  }

  /// Lends the bytes that have arrived at a socket, up to ``Incoming/most``; returns their number.
  func takeRest(from socket: ClientSocket, _ body: (RawSpan) -> Void) -> Int {
    var rest = Incoming(size: Incoming.most)
    swap(&rest, &self.rest)
    let count = rest.receive(from: socket)
    if count > 0 { rest.lend(count, body) }
    swap(&rest, &self.rest)
    return count
  }

  /// Returns the process that made a connection, if it runs.
  ///
  /// - Parameters:
  ///   - pid: the pid of the process.
  ///   - place: the connection's place in the order in which clients were accepted.
  ///   - find: gets hold of the process.
  func runningProcess(_ pid: Int32, acceptedAs place: Int, _ find: () -> PeerProcess?) -> PeerProcess? {
    processes.running(pid, acceptedAs: place, most: openFiles.processes, find)
  }

  // MARK: Closed connections

  /// Returns true when a closed connection is to be freed in a later turn, and counts it until ``hasFreed()``.
  func putsOffFreeing() -> Bool {
    guard closed < Self.mostClosed else { return false }
    closed += 1
    return true
  }

  /// Records that a closed connection was freed.
  func hasFreed() { closed -= 1 }

  // MARK: Refused clients

  /// Returns true when a refused client may get time to read the reason, and counts it until ``lingered(_:)``. Returns
  /// false when many refused clients are already reading; the limit for one uid is lower.
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
}
