internal import VaultService

/// The room for the connections of a bus and for their calls, and the order in which they give way. The holder that has
/// the most gives way first, as in ``Room``. A holder is a process, or a confined subject with all its processes.
extension BusPeers {
  // MARK: Holders

  /// Returns the holder to which a peer belongs, and which has one share of the room: the confined subject of the peer,
  /// or else its process.
  func holder(of peer: BusPeer) -> AnyHashable {
    // All connections of a process have the same line.
    confinement(peer.caller).map { AnyHashable($0) } ?? AnyHashable(ObjectIdentifier(peer.line))
  }

  /// Returns the holder to which a connection belongs; a connection whose process is not known yet is a holder by
  /// itself.
  private func holder(of client: BusClient) -> AnyHashable {
    client.peer.map { holder(of: $0) } ?? AnyHashable(ObjectIdentifier(client))
  }

  // MARK: Connections

  /// The connection that gives way to a new one. Of the connections for which nothing is kept, it is the one that has
  /// been silent longest, because the bus can be asked about it again at its next call. If there is none, it is the
  /// first connection of the holder that has the most, as in ``Room``. Nil if no holder has more than one connection;
  /// the newcomer is then refused.
  var leaving: BusClient? {
    let idle = known.values.filter { $0.isAtRest && $0.peer?.isKept == false }
    if let first = idle.min(by: { $0.heard < $1.heard }) { return first }
    let guests = known.values.map { client in
      // All connections that are not known yet are one holder. The latest of them gives way, because the first calls of
      // the others have waited longer.
      Room.Guest(
        id: ObjectIdentifier(client), process: client.peer.map { holder(of: $0) },
        standing: client.isAtRest ? .idle : .waiting, heard: client.peer == nil ? -client.heard : client.heard)
    }
    guard let first = Room.leaving(guests).first, guests.count(where: { $0.process == first.process }) > 1 else {
      return nil
    }
    return known.values.first { ObjectIdentifier($0) == first.id }
  }

  // MARK: Calls

  /// Counts a call until it is answered, or given up.
  func count(_ request: BusRequest, of client: BusClient) throws(BusError) {
    let load = request.load
    let own = client.load + load
    guard own.calls <= limits.calls.ofOne, own.bytes <= limits.bytes.ofOne,
      load.withDescriptors == 0 || self.load.withDescriptors < limits.withDescriptors,
      makeRoom(for: load, of: client)
    else { throw .tooMuch("too many calls wait") }
    (client.load, self.load) = (own, self.load + load)
    request.answered = { [weak self, weak client] in
      if let client { client.load = client.load - load }
      if let self { self.load = self.load - load }
    }
  }

  /// Makes room for a new call among the calls that are not answered yet: the holder that has the most loses its latest
  /// waiting calls. False if no call waits, or if no other holder has more than the caller.
  private func makeRoom(for new: BusClient.Load, of client: BusClient) -> Bool {
    while true {
      let all = load + new
      guard all.calls > limits.calls.ofAll || all.bytes > limits.bytes.ofAll else { return true }
      let isLong = all.bytes > limits.bytes.ofAll
      func weight(_ client: BusClient) -> Int { isLong ? client.load.bytes : client.load.calls }
      func weight(_ clients: [BusClient]) -> Int { clients.reduce(0) { $0 + weight($1) } }
      // A holder whose calls are all begun has none to lose.
      let most = known.values.ofHolderWithMost(holder(of:)) { clients in
        clients.contains { !$0.calls.isEmpty } ? weight(clients) : 0
      }
      let own = holder(of: client)
      guard most.contains(where: { !$0.calls.isEmpty }),
        weight(most) > weight(known.values.filter { holder(of: $0) == own })
      else { return false }
      // The holder loses half of its load at once, so that this is not done for each new call.
      let enough = max(1, weight(most) / 2)
      var (given, leaving): (Int, [(BusRequest, BusClient)]) = (0, [])
      for client in most.sorted(by: { weight($0) > weight($1) }) {
        while given < enough, let (last, _) = client.calls.popLast() {
          given += isLong ? last.size : 1
          leaving.append((last, client))
        }
      }
      let error = BusError.tooMuch("too many calls wait")
      // The log entries of all lost calls are written together.
      for (request, client) in leaving { note(request, of: client, error) }
      for (request, _) in leaving { request.fail(error) }
    }
  }

  /// True if a call may be begun now. A long call waits while the long calls that are begun leave no room for it.
  func mayBegin(_ request: BusRequest, of client: BusClient, for peer: BusPeer) -> Bool {
    guard isLong(request) else { return true }
    let holder = holder(of: peer)
    let own = begun.filter { $0.peer.map { self.holder(of: $0) == holder } ?? false }
    func fits(_ clients: [BusClient], _ most: Int) -> Bool {
      clients.isEmpty || clients.reduce(request.size) { $0 + $1.begun } <= most
    }
    if fits(begun, limits.begun.ofAll), fits(own, limits.begun.ofOne) { return true }
    if !held.contains(where: { $0 === client }) { held.append(client) }
    return false
  }

  /// Notes that the long call of a connection is answered, and lets the connections that wait for its end go on.
  func endLong(_ client: BusClient) {
    client.begun = 0
    begun.removeAll { $0 === client }
    let held = self.held
    self.held = []
    for client in held { if let peer = client.peer { schedule(client, peer) } }
  }
}
