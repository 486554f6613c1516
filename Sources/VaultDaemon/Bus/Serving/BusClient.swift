internal import NIOCore

/// A connection of a bus and its calls that are not answered yet, for ``BusPeers``.
final class BusClient {
  /// Calls that are not answered yet, whether they wait or were begun: their number, their bytes, and the number of
  /// those that keep descriptors open.
  struct Load {
    var calls = 0
    var bytes = 0
    var withDescriptors = 0

    static func + (left: Load, right: Load) -> Load {
      Load(
        calls: left.calls + right.calls, bytes: left.bytes + right.bytes,
        withDescriptors: left.withDescriptors + right.withDescriptors)
    }

    static func - (left: Load, right: Load) -> Load {
      Load(
        calls: left.calls - right.calls, bytes: left.bytes - right.bytes,
        withDescriptors: left.withDescriptors - right.withDescriptors)
    }
  }

  let name: String
  /// The place in the order in which clients were accepted.
  let place: Int
  /// The time of the last call, as ``Clients/heardNext()`` counts.
  var heard: Int
  /// The rule that tells of the connection's end.
  var match: BusMatch?
  /// The connection with its process; nil while the bus is being asked for it.
  var peer: BusPeer?
  /// The closures that get the peer once it is known, nil if the connection has ended, or the reason why the peer stays
  /// unknown.
  var awaiting: [(Result<BusPeer?, BusError>) -> Void] = []
  /// The calls that wait.
  var calls: CircularBuffer<(request: BusRequest, work: BusPeers.Work)> = []
  var load = Load()
  /// The bytes of the long call that is begun; see ``BusPeers/Limits/begun``.
  var begun = 0
  /// True while a turn is awaited.
  var isScheduled = false
  /// True while a call is not answered yet; the next one waits.
  var isAnswering = false
  /// True while nothing can be decided about the peer.
  var isUndecided = false

  /// True if the connection is known and no call of it waits.
  var isAtRest: Bool { calls.isEmpty && !isAnswering && peer != nil }

  init(_ name: String, at place: Int) { (self.name, self.place, heard) = (name, place, place) }

  /// Passes the result to the closures that wait for the peer.
  func tell(_ result: Result<BusPeer?, BusError>) {
    let awaiting = self.awaiting
    self.awaiting = []
    for then in awaiting { then(result) }
  }
}

extension BusRequest {
  var load: BusClient.Load { BusClient.Load(calls: 1, bytes: size, withDescriptors: hasDescriptors ? 1 : 0) }
}
