internal import NIOCore
internal import VaultCore
internal import VaultService

/// The connections of a bus that call this daemon.
///
/// A bus tells only the unique name of a caller. Its process is asked of the bus at the first call, and the calls of
/// that name wait until the answer is there, in their order. Each name is watched by a match rule of its own, so that
/// nothing wakes the daemon up when other programs come and go. A bus that goes away takes all its names with it: the
/// next one gives the same names to others.
final class BusPeers {
  /// Answers a call, whose caller is known now.
  typealias Work = (BusRequest, BusPeer) throws(BusError) -> Void

  struct Limits {
    /// The most connections that are known at a time. A connection for which nothing is kept gives way to another.
    var clients = 1024
    /// The most calls that wait. A program that shows 10,000 objects asks for all of them in one go.
    var calls = (ofOne: 16_384, ofAll: 65_536)
    /// The most bytes of calls that wait.
    var bytes = (ofOne: Room.pendingBytes, ofAll: 4 * Room.pendingBytes)
  }

  private let clients: Clients
  private let turns: Turns
  private let clock: Clock
  private let door: Caller.Door
  private let limits: Limits
  private weak var bus: Bus?
  private var known: [String: BusClient] = [:]
  /// The calls that wait, of all connections.
  private var waiting = BusClient.Waiting()
  /// Called before each call is answered, one call of a connection after the other; it may throw the answer. Set once.
  var begin: (BusRequest, BusPeer) throws(BusError) -> Void = { _, _ in }
  /// Returns false if nothing can be decided about a peer now, and then runs the closure once that is possible. Set
  /// once.
  var canDecide: (BusPeer, @escaping () -> Void) -> Bool = { _, _ in true }

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

  /// Finds a connection and its process; `then` gets nil if it has ended, or if it cannot be known.
  func find(_ name: String, then: @escaping (BusPeer?) -> Void) {
    do throws(BusError) {
      let client = if let client = known[name] { client } else { try admit(name) }
      if let peer = client.peer { then(peer) } else { client.awaiting.append(then) }
    } catch {
      then(nil)
    }
  }

  /// Has a call answered now, in a later turn, or when its caller is known.
  func take(_ request: BusRequest, _ work: @escaping Work) {
    do throws(BusError) {
      let client = if let client = known[request.sender] { client } else { try admit(request.sender) }
      client.heard = clients.heardNext()
      if let peer = client.peer, client.calls.isEmpty, mayAnswer(client, peer),
        turns.mayGo(peer.line, isShort: true)
      {
        return answer(request, of: client, for: peer, work)
      }
      try wait(request, of: client, work)
    } catch {
      request.fail(error)
    }
  }

  // MARK: Calls

  private func wait(_ request: BusRequest, of client: BusClient, _ work: @escaping Work) throws(BusError) {
    let (one, all) = (client.waiting.adding(request), waiting.adding(request))
    guard one.calls <= limits.calls.ofOne, all.calls <= limits.calls.ofAll, one.bytes <= limits.bytes.ofOne,
      all.bytes <= limits.bytes.ofAll
    else { throw .tooMuch("too many calls wait") }
    (client.waiting, waiting) = (one, all)
    client.calls.append((request: request, work: work))
    if let peer = client.peer { schedule(client, peer) }
  }

  /// Has the next call of a connection answered in its line's next turn.
  private func schedule(_ client: BusClient, _ peer: BusPeer) {
    guard !client.isScheduled, !client.calls.isEmpty, mayAnswer(client, peer) else { return }
    client.isScheduled = true
    turns.wait(peer.line) { [weak self] in
      client.isScheduled = false
      guard let self, !client.calls.isEmpty, mayAnswer(client, peer) else { return }
      let (request, work) = client.calls.removeFirst()
      client.waiting = client.waiting.removing(request)
      waiting = waiting.removing(request)
      answer(request, of: client, for: peer, work)
    }
  }

  /// True if the next call of a connection can be answered now; otherwise it is answered later.
  private func mayAnswer(_ client: BusClient, _ peer: BusPeer) -> Bool {
    guard !client.isAnswering, !client.isUndecided else { return false }
    client.isUndecided = !canDecide(peer) { [weak self, weak client] in
      guard let self, let client else { return }
      client.isUndecided = false
      schedule(client, peer)
    }
    return !client.isUndecided
  }

  private func answer(_ request: BusRequest, of client: BusClient, for peer: BusPeer, _ work: Work) {
    let began = clock.monotonic()
    defer { turns.charge(peer.line, since: began) }
    guard peer.isRunning else { return request.fail(.denied("the process that asks has ended")) }
    client.isAnswering = true
    request.answered = { [weak self, weak client] in
      guard let self, let client else { return }
      client.isAnswering = false
      schedule(client, peer)
    }
    do throws(BusError) {
      try begin(request, peer)
      try work(request, peer)
    } catch {
      request.fail(error)
    }
    Stack.wipeRegisters()
  }

  // MARK: Connections

  /// Begins to ask for the process of a connection.
  private func admit(_ name: String) throws(BusError) -> BusClient {
    if known.count >= limits.clients {
      let idle = known.values.filter { $0.calls.isEmpty && $0.peer?.isKept == false }
      guard let idle = idle.min(by: { $0.heard < $1.heard }) else { throw .tooMuch("too many programs are connected") }
      end(idle)
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
    // The rule stands before the question: whoever ends after the answer is seen to end.
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
      return end(client, error.isNoService ? nil : .denied("the bus does not tell who asks: \(error)"))
    }
    guard let found = credentials.caller(by: door, acceptedAs: client.place, among: clients) else {
      return end(client, .denied("nothing is known about the process that asks"))
    }
    let process = (found.caller.pid, found.caller.started)
    let same = known.values.first { $0.peer.map { ($0.caller.pid, $0.caller.started) == process } ?? false }
    let peer = BusPeer(client.name, found.caller, same?.peer?.line ?? Line(of: found.caller.uid), runs: found.runs)
    client.peer = peer
    client.tell()
    schedule(client, peer)
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
    for (request, _) in calls {
      waiting = waiting.removing(request)
      if let error { request.fail(error) } else { request.giveUp() }
    }
    if client.peer == nil { client.tell() }
    client.peer?.end()
  }

  private func busChanged() { if bus?.isConnected != true { for client in Array(known.values) { end(client) } } }
}
