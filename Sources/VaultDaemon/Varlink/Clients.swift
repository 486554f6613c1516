internal import VaultService

/// Everybody who is connected to the Varlink socket, and what each uid may have there.
final class Clients {
  private var connections: [ObjectIdentifier: VarlinkConnection] = [:]
  /// The number of bytes that the connections of a uid have sent and that are not handled yet.
  private var pendingBytes: [UInt32: Int] = [:]
  private var rates: [UInt32: RequestRate] = [:]
  private var heardCount = 0
  private var lastReader: ObjectIdentifier?
  /// The process behind the connection that was looked at last: one descriptor for all, and the usual question costs one
  /// poll(2).
  private var lastProcess: (connection: ObjectIdentifier, process: PeerProcess)?
  let known = KnownProcesses()
  /// The number of refused clients that are still connected.
  var lingering = 0
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
    for rate in rates.values { rate.change(perSecond: mostRequests) }
  }

  /// The refusal of a peer that is not served at all; nil when it is.
  func refusal(of peer: Peer) -> Refusal? {
    if peer.uid == owner { return nil }
    return .denied("this vault serves uid \(owner) alone, and you are uid \(peer.uid)")
  }

  /// True when a refused client may be given the time to read why: not when there are many.
  var mayLinger: Bool { lingering < openFiles.lingering }

  func admit(_ connection: VarlinkConnection) {
    makeRoom(for: connection.peer.uid)
    connections[ObjectIdentifier(connection)] = connection
  }

  func leave(_ connection: VarlinkConnection) {
    let id = ObjectIdentifier(connection)
    connections[id] = nil
    if lastProcess?.connection == id { lastProcess = nil }
  }

  /// A number above all that it gave before, for the order in which connections were heard.
  func heardNext() -> Int {
    heardCount += 1
    return heardCount
  }

  /// The process behind a connection, which `find` takes hold of if it is not the one that was asked for last.
  func process(of connection: VarlinkConnection, _ find: () -> PeerProcess?) -> PeerProcess? {
    let id = ObjectIdentifier(connection)
    if let lastProcess, lastProcess.connection == id { return lastProcess.process }
    // Let go of first: at the limit of open files there may be no other descriptor.
    lastProcess = nil
    lastProcess = find().map { (id, $0) }
    return lastProcess?.process
  }

  /// True when this connection was the last one that sent something, too; it is from now on.
  func isLastReader(_ connection: VarlinkConnection) -> Bool {
    let id = ObjectIdentifier(connection)
    defer { lastReader = id }
    return lastReader == id
  }

  /// The rate at which the connections of this peer's uid may ask together.
  func rate(of peer: Peer) -> RequestRate {
    if let rate = rates[peer.uid] { return rate }
    let rate = RequestRate(perSecond: mostRequests, now: clock.monotonic())
    rates[peer.uid] = rate
    return rate
  }

  func close() {
    for connection in connections.values { connection.close() }
  }

  // MARK: Room

  /// Closes a connection for another one of `uid` if there are as many as there may be.
  private func makeRoom(for uid: UInt32) {
    let most = openFiles.connections(configured: mostConnections)
    while connections.count >= most {
      let all = Array(connections.values)
      let guests = all.map { Room.Guest(uid: $0.peer.uid, isHeld: $0.isHeld, heard: $0.input.heard) }
      guard let index = Room.leaving(guests, for: uid) else { return }
      // It is told of the end in a later turn of the loop, and would be counted until then.
      leave(all[index])
      all[index].giveWay()
    }
  }

  /// Counts what a connection holds of frames more than before, and ends the one that holds most where its uid has too
  /// much.
  func count(_ more: Int, of connection: VarlinkConnection) {
    let uid = connection.peer.uid
    pendingBytes[uid, default: 0] += more
    guard more > 0, pendingBytes[uid, default: 0] > Room.pendingBytes else { return }
    connections.values.filter { $0.peer.uid == uid }.max { $0.input.held < $1.input.held }?.refuseMore()
  }
}
