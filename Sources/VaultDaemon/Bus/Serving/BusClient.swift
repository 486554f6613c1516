internal import NIOCore

/// A connection of a bus and its calls that wait, for ``BusPeers``.
final class BusClient {
  /// The calls that wait, and their bytes.
  struct Waiting {
    private(set) var calls = 0
    private(set) var bytes = 0

    func adding(_ request: BusRequest) -> Waiting { Waiting(calls: calls + 1, bytes: bytes + request.size) }
    func removing(_ request: BusRequest) -> Waiting { Waiting(calls: calls - 1, bytes: bytes - request.size) }
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
  /// Run with the peer once it is known, with nil if the connection has ended, or with the error if it is not known.
  var awaiting: [(Result<BusPeer?, BusError>) -> Void] = []
  var calls: CircularBuffer<(request: BusRequest, work: BusPeers.Work)> = []
  var waiting = Waiting()
  /// True while a turn is awaited.
  var isScheduled = false
  /// True while a call is not answered yet; the next one waits.
  var isAnswering = false
  /// True while nothing can be decided about the peer.
  var isUndecided = false

  init(_ name: String, at place: Int) { (self.name, self.place, heard) = (name, place, place) }

  /// Tells those who wait for the peer.
  func tell(_ result: Result<BusPeer?, BusError>) {
    let awaiting = self.awaiting
    self.awaiting = []
    for then in awaiting { then(result) }
  }
}
