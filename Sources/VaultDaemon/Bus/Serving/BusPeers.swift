internal import NIOCore
internal import VaultCore
internal import VaultService

/// The connections of a bus that call this daemon.
///
/// A bus tells only the unique name of a caller. At the first call of a name, the bus is asked for the caller's
/// process, and the calls of that name wait for the answer, in their order. Each name is watched by a match rule of its
/// own, so that nothing wakes the daemon up when other programs come and go. A bus that goes away takes all its names
/// with it: the next one gives the same names to others.
final class BusPeers {
  /// Answers a call, whose caller is known now.
  typealias Work = (BusRequest, BusPeer) throws(BusError) -> Void

  struct Limits {
    /// The most connections that are known at a time. A connection for which nothing is kept gives way to another.
    var clients = 1024
    /// The most calls that are not answered yet. A program that shows 10,000 objects asks for all of them in one go.
    var calls = (ofOne: 16_384, ofAll: 65_536)
    /// The most bytes of calls that are not answered yet.
    var bytes = (ofOne: Room.pendingBytes, ofAll: 4 * Room.pendingBytes)
    /// The most bytes of long calls that are begun and not answered yet, of one holder and of all. Such a call takes
    /// several times its bytes while it is answered. Other long calls wait meanwhile, and may give way while they wait.
    var begun = (ofOne: Room.pendingBytes / 2, ofAll: Room.pendingBytes)
    /// The number of bytes from which a call is long.
    var long = 64 << 10
    /// The most calls that keep descriptors open and are not answered yet.
    var withDescriptors = 16
  }

  private let clients: Clients
  private let turns: Turns
  let clock: Clock
  private let door: Caller.Door
  let limits: Limits
  private weak var bus: Bus?
  private(set) var known: [String: BusClient] = [:]
  /// The calls that are not answered yet, of all connections.
  var load = BusClient.Load()
  /// The connections whose long calls are begun, and those whose next call is long and waits until others are answered.
  var (begun, held): ([BusClient], [BusClient]) = ([], [])
  /// Called before each call is answered, one call of a connection after the other; it may throw the answer. Set once.
  var begin: (BusRequest, BusPeer) throws(BusError) -> Void = { _, _ in }
  /// Called with each call of a known caller that is refused before it is begun. Set once.
  var refuses: (BusRequest, BusPeer, BusError) -> Void = { _, _, _ in }
  /// Returns the cost of a call. A call that costs no more than an answer may be answered at once although the turn is
  /// over. A long call always has a turn of its own. Set once.
  var cost: (BusRequest) -> CallCost = { _ in .answer }
  /// Returns false if nothing can be decided about a peer now, and then runs the closure once that is possible. Set
  /// once.
  var canDecide: (BusPeer, @escaping () -> Void) -> Bool = { _, _ in true }

  /// Returns the subject to which a caller is confined; nil for a caller that is not confined. All processes of a
  /// subject have one share of the room. Set once.
  var confinement: (Caller) -> String? = { _ in nil }

  /// - Parameters:
  ///   - bus: the bus to which the connections belong.
  ///   - turns: the turns in which calls are answered, on `clock`.
  ///   - door: the door by which the callers come.
  init(
    on bus: Bus, _ clients: Clients, _ turns: Turns, _ clock: Clock, by door: Caller.Door, limits: Limits = Limits()
  ) {
    (self.bus, self.clients, self.turns, self.clock) = (bus, clients, turns, clock)
    (self.door, self.limits) = (door, limits)
    bus.onChange { [weak self] in self?.busChanged() }
  }

  /// All connections that are known and have not ended.
  var peers: [BusPeer] { known.values.compactMap(\.peer) }

  /// Finds a connection and its process.
  ///
  /// - Parameter then: gets nil if the connection has ended, or an error if nothing is known about it.
  func find(_ name: String, then: @escaping (Result<BusPeer?, BusError>) -> Void) {
    do throws(BusError) {
      let client = if let client = known[name] { client } else { try admit(name) }
      if let peer = client.peer { then(.success(peer)) } else { client.awaiting.append(then) }
    } catch {
      then(.failure(error))
    }
  }

  /// Charges the time since `began` to the line of a connection that is known.
  func charge(_ name: String, since began: Int64) {
    if let peer = known[name]?.peer { turns.charge(peer.line, since: began) }
  }

  /// Releases the waiting calls that `isMeant` picks, and answers them with an error.
  ///
  /// - Parameter later: runs the closure that sends the answers.
  func refuse(
    _ error: BusError, later: (@escaping () -> Void) -> Void = { $0() }, _ isMeant: (BusRequest) -> Bool
  ) {
    var refused: [BusRequest] = []
    for client in known.values where client.calls.contains(where: { isMeant($0.request) }) {
      let calls = client.calls
      client.calls = []
      for call in calls where !isMeant(call.request) { client.calls.append(call) }
      for (request, _) in calls where isMeant(request) {
        note(request, of: client, error)
        if let rest = request.emptied(for: error) { refused.append(rest) }
      }
    }
    guard !refused.isEmpty else { return }
    later { for request in refused { request.fail(error) } }
  }

  /// True for a call with so many bytes that each step of the work for the call takes long.
  func isLong(_ request: BusRequest) -> Bool { request.size >= limits.long }

  /// Has a call answered now, in a later turn, or when its caller is known.
  func take(_ request: BusRequest, _ work: @escaping Work) {
    do throws(BusError) {
      let client = if let client = known[request.sender] { client } else { try admit(request.sender) }
      client.heard = clients.heardNext()
      try count(request, of: client)
      let isAnswer = cost(request) == .answer
      if !isLong(request), let peer = client.peer, client.calls.isEmpty, mayAnswer(client, peer, request),
        turns.mayGo(peer.line, isShort: isAnswer)
      {
        return answer(request, of: client, for: peer, work)
      }
      client.calls.append((request: request, work: work))
      if let peer = client.peer { schedule(client, peer) }
    } catch {
      if let client = known[request.sender] { note(request, of: client, error) }
      request.fail(error)
    }
  }

  // MARK: Calls

  /// Records the refusal of a call that is not begun.
  func note(_ request: BusRequest, of client: BusClient, _ error: BusError) {
    if let peer = client.peer { refuses(request, peer, error) }
  }

  /// Has the next call of a connection answered in its line's next turn.
  func schedule(_ client: BusClient, _ peer: BusPeer) {
    guard !client.isScheduled, let next = client.calls.first, mayAnswer(client, peer, next.request) else { return }
    client.isScheduled = true
    turns.wait(peer.line) { [weak self] in
      client.isScheduled = false
      guard let self, let next = client.calls.first, mayAnswer(client, peer, next.request) else { return }
      client.calls.removeFirst()
      answer(next.request, of: client, for: peer, next.work)
    }
  }

  /// True if the next call of a connection can be answered now; otherwise it is answered later.
  private func mayAnswer(_ client: BusClient, _ peer: BusPeer, _ request: BusRequest) -> Bool {
    guard !client.isAnswering, !client.isUndecided, mayBegin(request, of: client, for: peer) else { return false }
    // The closure may run at once, so the flag is set before.
    client.isUndecided = true
    let isDecidable = canDecide(peer) { [weak self, weak client] in
      guard let self, let client else { return }
      client.isUndecided = false
      schedule(client, peer)
    }
    if isDecidable { client.isUndecided = false }
    return isDecidable
  }

  private func answer(_ request: BusRequest, of client: BusClient, for peer: BusPeer, _ work: Work) {
    let began = clock.monotonic()
    defer { turns.charge(peer.line, since: began) }
    guard peer.isRunning else {
      let error = BusError.denied("the process that asks has ended")
      note(request, of: client, error)
      request.fail(error)
      return schedule(client, peer)
    }
    client.isAnswering = true
    if isLong(request) {
      client.begun = request.size
      begun.append(client)
    }
    let answered = request.answered
    request.answered = { [weak self] in
      answered()
      client.isAnswering = false
      guard let self else { return }
      if client.begun > 0 { endLong(client) }
      schedule(client, peer)
    }
    request.begin(for: peer)
    do throws(BusError) {
      try request.part { () throws(BusError) in
        try begin(request, peer)
        try work(request, peer)
      }
    } catch {
      request.fail(error)
    }
    Stack.wipeRegisters()
  }

  // MARK: Connections

  /// Begins to ask for the process of a connection.
  private func admit(_ name: String) throws(BusError) -> BusClient {
    if known.count >= limits.clients {
      guard let leaving else { throw .tooMuch("too many programs are connected") }
      end(leaving, .tooMuch("too many programs are connected"))
    }
    guard let bus else { throw .disconnected }
    let client = BusClient(name, at: clients.heardNext())
    known[name] = client
    let match = BusMatch(ownerOf: name) { [weak self, weak client] in
      if let client { self?.end(client, .tooMuch("the bus watches no more programs")) }
    } changed: { [weak self, weak client] owner in
      if owner == nil, let client { self?.end(client) }
    }
    client.match = match
    // The rule is added before the bus is asked, so that the end of a connection after the answer is noticed.
    bus.add(match)
    let ask = BusMethod.Object.driver.method("GetConnectionCredentials")
    bus.call(ask, [.string(name)], starts: false) { [weak self, weak client] result in
      if let self, let client, known[name] === client { take(result, of: client) }
    }
    return client
  }

  private func take(_ result: Result<BusMessage, BusError>, of client: BusClient) {
    let credentials: BusCredentials
    do throws(BusError) { credentials = try BusCredentials(result.get()) } catch {
      if error.isNoService { return end(client) }
      return refuse(client, .unknown, .denied("the bus does not say who asks: \(error)"))
    }
    guard let found = credentials.caller(by: door, acceptedAs: client.place, among: clients) else {
      return refuse(client, credentials.peer, .denied("nothing is known about the process that asks"))
    }
    let process = (found.caller.pid, found.caller.started)
    let same = known.values.first { $0.peer.map { ($0.caller.pid, $0.caller.started) == process } ?? false }
    let peer = BusPeer(client.name, found.caller, same?.peer?.line ?? Line(of: found.caller.uid), runs: found.runs)
    client.peer = peer
    client.tell(.success(peer))
    schedule(client, peer)
  }

  /// Refuses the calls of a connection about whose process no more is known, and forgets the connection.
  private func refuse(_ client: BusClient, _ peer: Peer, _ error: BusError) {
    // The entries of the calls say what is known.
    client.peer = BusPeer(client.name, Caller(unknown: peer, by: door), Line(of: peer.uid)) { false }
    end(client, error)
  }

  /// Forgets a connection.
  ///
  /// - Parameter error: the answer to the calls that wait; nil if the connection has ended.
  private func end(_ client: BusClient, _ error: BusError? = nil) {
    guard known[client.name] === client else { return }
    known[client.name] = nil
    if let match = client.match { bus?.remove(match) }
    client.match = nil
    let calls = client.calls
    client.calls = []
    if let error { for (request, _) in calls { note(request, of: client, error) } }
    for (request, _) in calls { if let error { request.fail(error) } else { request.giveUp() } }
    // Nobody waits for a peer that was found.
    client.tell(error.map { .failure($0) } ?? .success(nil))
    client.peer?.end()
  }

  private func busChanged() { if bus?.isConnected != true { for client in Array(known.values) { end(client) } } }
}
