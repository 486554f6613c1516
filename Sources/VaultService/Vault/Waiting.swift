/// The reason why a call cannot be answered now, and an event after which it may be.
package enum Wait: Hashable, CaseIterable, Sendable {
  /// For the vault to be unlocked.
  case unlock
  /// For the boot key, which is on its way: not for a person.
  case bootKey
}

/// The calls that wait for the vault, by what they wait for, in the order of their coming.
///
/// When it has come they go on one after the other, each in a turn of its own. A call waits until it goes on: where what
/// they wait for is gone again before that, as the keys are after a lock, the rest of them wait on, each until its own
/// time is up.
package final class Waiting {
  private struct Queue {
    var attempts: [Int: Attempt] = [:]
    /// The number of the one that has waited longest, or one below it.
    var first = 0
    var end = 0
    var isGoing = false
  }

  private var queues: [Wait: Queue] = [:]
  /// The turns of the loop in which they go on. Set once, by ``Rooms``.
  package var turns: Turns?

  /// True when nobody waits for that.
  func isEmpty(_ wait: Wait) -> Bool { queues[wait]?.attempts.isEmpty ?? true }

  /// Has a call wait; the number is for ``remove(_:_:)``.
  fileprivate func add(_ attempt: Attempt, for wait: Wait) -> Int {
    let number = queues[wait, default: Queue()].end
    queues[wait, default: Queue()].end += 1
    queues[wait, default: Queue()].attempts[number] = attempt
    return number
  }

  /// Has a call wait no more. One that went on is not there.
  fileprivate func remove(_ number: Int, _ wait: Wait) { queues[wait]?.attempts[number] = nil }

  /// Has all go on that wait for that, for as long as `isTime`.
  func go(_ wait: Wait, while isTime: @escaping () -> Bool) {
    guard let turns, !isEmpty(wait), queues[wait]?.isGoing == false else { return }
    queues[wait]?.isGoing = true
    turns.wait { [weak self] in
      guard let self else { return }
      queues[wait]?.isGoing = false
      guard isTime(), let next = takeFirst(wait) else { return }
      next.goOn()
      go(wait, while: isTime)
    }
  }

  private func takeFirst(_ wait: Wait) -> Attempt? {
    guard var queue = queues[wait] else { return nil }
    defer { queues[wait] = queue }
    while queue.first < queue.end {
      defer { queue.first += 1 }
      if let attempt = queue.attempts.removeValue(forKey: queue.first) { return attempt }
    }
    return nil
  }
}

/// One call that could not be answered, and is made again when what it waits for has come: the same for every door.
///
/// It ends when the call was answered or refused, at its own time limit, and when the caller goes away (``callOff()``).
package final class Attempt {
  private let waiting: Waiting
  private let attempt: () -> Wait?
  private var place: (wait: Wait, number: Int)?
  private var timeout: Timer.Cancel?
  private var isOver = false

  /// Has a call wait.
  ///
  /// - Parameters:
  ///   - limit: the nanoseconds that it may wait; nil for as long as it takes. `late` is run when they are over.
  ///   - attempt: makes the call again, and tells what it waits for then; nil once it was answered or refused.
  package init(
    for wait: Wait, in waiting: Waiting, within limit: Int64?, _ timer: Timer, late: @escaping () -> Void,
    _ attempt: @escaping () -> Wait?
  ) {
    self.waiting = waiting
    self.attempt = attempt
    self.wait(wait)
    guard let limit else { return }
    timeout = timer.after(limit) { [weak self] in
      guard let self, !isOver else { return }
      callOff()
      late()
    }
  }

  private func wait(_ wait: Wait) { place = (wait, waiting.add(self, for: wait)) }

  fileprivate func goOn() {
    place = nil
    guard !isOver else { return }
    if let wait = attempt() { self.wait(wait) } else { end() }
  }

  /// Ends it without an answer.
  package func callOff() {
    if let place { waiting.remove(place.number, place.wait) }
    end()
  }

  private func end() {
    isOver = true
    place = nil
    timeout?()
    timeout = nil
  }
}
