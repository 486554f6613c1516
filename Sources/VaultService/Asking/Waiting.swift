/// The calls that wait for the vault, by event and line, in the order in which they came.
///
/// After the event, the calls of each line continue one after the other, each once and in a turn of its own. A call
/// that must wait for the same event again waits for its next occurrence. A call waits until it continues: if the
/// condition ends before that, as when a lock wipes the keys, the remaining calls wait on, each until its own time
/// limit.
package final class Waiting {
  /// An event for which calls wait.
  package enum Event: Hashable, Sendable {
    /// The unlock of the vault.
    case unlock
    /// The arrival of the boot key.
    case bootKey
    /// A person's answer to the question with this number, or another change of it; see ``Questions``.
    case question(QuestionNumber)
    /// Progress of the ``RSAOrder`` with this number.
    case signature(Int)
  }

  private final class Queue {
    let line: Line
    var attempts: [Int: Attempt] = [:]
    /// The number of the call that has waited longest, or a lower one.
    private var first = 0
    private var end = 0
    /// The number after the last call that is to continue.
    private var called = 0
    var isGoing = false

    init(_ line: Line) { self.line = line }

    /// Adds a call at the end, and returns its number.
    func add(_ attempt: Attempt) -> Int {
      defer { end += 1 }
      attempts[end] = attempt
      return end
    }

    /// Marks all calls that wait now to continue.
    func call() { called = end }

    func takeFirst() -> Attempt? {
      while first < called {
        defer { first += 1 }
        if let attempt = attempts.removeValue(forKey: first) { return attempt }
      }
      return nil
    }
  }

  private struct Key: Hashable {
    let event: Event
    let line: ObjectIdentifier
  }

  private var queues: [Key: Queue] = [:]
  /// The turns of the loop in which the calls continue. Set once, by ``Rooms``.
  package var turns: Turns?

  /// True when no call waits for that event.
  func isEmpty(_ event: Event) -> Bool { !queues.contains { $0.key.event == event } }

  /// Adds a waiting call, and returns its number for ``remove(_:_:_:)``.
  fileprivate func add(_ attempt: Attempt, for event: Event, _ line: Line) -> Int {
    let key = Key(event: event, line: ObjectIdentifier(line))
    let queue = queues[key] ?? Queue(line)
    queues[key] = queue
    return queue.add(attempt)
  }

  /// Removes a waiting call. A call that has continued is not found.
  fileprivate func remove(_ number: Int, _ event: Event, _ line: Line) {
    let key = Key(event: event, line: ObjectIdentifier(line))
    queues[key]?.attempts[number] = nil
    forget(key)
  }

  /// Lets all calls that wait for an event continue, for as long as `isTime` returns true.
  func go(_ event: Event, while isTime: @escaping () -> Bool) {
    for (key, queue) in queues where key.event == event {
      queue.call()
      go(key, while: isTime)
    }
  }

  private func go(_ key: Key, while isTime: @escaping () -> Bool) {
    guard let turns, let queue = queues[key], !queue.isGoing else { return }
    queue.isGoing = true
    turns.wait(queue.line) { [weak self] in
      guard let self else { return }
      queue.isGoing = false
      if isTime(), let next = queue.takeFirst() {
        next.goOn()
        go(key, while: isTime)
      }
      forget(key)
    }
  }

  /// Forgets a queue in which no call waits.
  private func forget(_ key: Key) {
    if let queue = queues[key], queue.attempts.isEmpty, !queue.isGoing { queues[key] = nil }
  }
}

/// One wait of a call that could not be answered, for one event.
///
/// It ends when the event has come, at its own time limit, and when the caller goes away (``callOff()``).
package final class Attempt {
  private let waiting: Waiting
  private let line: Line
  private let proceed: () -> Void
  private var place: (event: Waiting.Event, number: Int)?
  private var timeout: Timer.Cancel?
  private var isOver = false

  /// Lets a call wait.
  ///
  /// - Parameters:
  ///   - line: the line of the caller.
  ///   - limit: the nanoseconds for which the call may wait, after which `late` runs; nil for no limit.
  ///   - proceed: makes the call again, once, after the event.
  package init(
    for event: Waiting.Event, in waiting: Waiting, _ line: Line, within limit: Int64?, _ timer: Timer,
    late: @escaping () -> Void, goOn proceed: @escaping () -> Void
  ) {
    (self.waiting, self.line, self.proceed) = (waiting, line, proceed)
    place = (event, waiting.add(self, for: event, line))
    guard let limit else { return }
    timeout = timer.after(limit) { [weak self] in
      guard let self, !isOver else { return }
      callOff()
      late()
    }
  }

  fileprivate func goOn() {
    guard !isOver else { return }
    end()
    proceed()
  }

  /// Ends the wait without an answer.
  package func callOff() {
    if let place { waiting.remove(place.number, place.event, line) }
    end()
  }

  private func end() {
    isOver = true
    place = nil
    timeout?()
    timeout = nil
  }
}
