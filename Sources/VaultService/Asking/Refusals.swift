internal import VaultModel

/// The calls that have stopped waiting without an answer, by line, until each of them is refused.
///
/// Many calls may stop waiting at once: at the same time limit, at a dismissal, and when the last agent leaves. They
/// are refused in turns, some at a time. The entries of the calls of a turn are recorded before the first of these
/// calls is refused. If the audit log is required, they are therefore on the disk after a single write.
final class Refusals {
  /// The most calls whose entries are recorded in one turn.
  static let most = 32

  /// A call, as long as its door keeps it. A call that ended otherwise has nothing left in memory.
  private struct Place {
    weak var call: AskedCall?
  }

  private final class Queue {
    let line: Line
    /// The calls whose entries are not recorded, in the order in which they stopped waiting.
    var places: [Place] = []
    /// The calls whose entries are recorded, the next one last.
    var recorded: [Place] = []

    init(_ line: Line) { self.line = line }
  }

  private let waiting: Waiting
  private let clock: Clock
  private var queues: [ObjectIdentifier: Queue] = [:]

  init(_ waiting: Waiting, _ clock: Clock) { (self.waiting, self.clock) = (waiting, clock) }

  /// Has a call refused in a later turn of its line.
  func add(_ call: AskedCall, _ line: Line) {
    if let queue = queues[ObjectIdentifier(line)] { return queue.places.append(Place(call: call)) }
    let queue = Queue(line)
    queues[ObjectIdentifier(line)] = queue
    queue.places.append(Place(call: call))
    goOn(queue)
  }

  private func goOn(_ queue: Queue) {
    guard let turns = waiting.turns else { return refuse(queue) }
    turns.wait(queue.line) { [weak self] in self?.refuse(queue) }
  }

  private func refuse(_ queue: Queue) {
    if queue.recorded.isEmpty {
      let next = queue.places.prefix(Self.most)
      queue.places.removeFirst(next.count)
      for place in next { place.call?.recordRefusal() }
      queue.recorded = next.reversed()
    }
    let end = clock.monotonic() + Turns.length
    repeat { queue.recorded.popLast()?.call?.refuseNow() } while !queue.recorded.isEmpty && clock.monotonic() < end
    if queue.recorded.isEmpty && queue.places.isEmpty {
      queues[ObjectIdentifier(queue.line)] = nil
    } else {
      goOn(queue)
    }
  }
}
