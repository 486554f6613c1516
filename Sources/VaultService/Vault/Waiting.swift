/// The reason why a call cannot be answered now, and an event after which it may be.
package enum Wait: Hashable, Sendable {
  /// For the vault to be unlocked.
  case unlock
  /// For the boot key, which is on its way: not for a person.
  case bootKey
  /// For the answer's turn, and for room for it: it is a long one.
  case room
  /// For an administrator's answer to the request of that number.
  case approval(Int)
  /// For a person to show presence, or to say yes, asked for by the inquiry of that number.
  case presence(Int)
  /// For a signature by a large RSA key, or for its turn: the number of the call's ``RSAOrder``.
  case signature(Int)
}

/// The calls that wait for the vault, by what they wait for and whose they are, in the order of their coming.
///
/// When it has come those of each line go on one after the other, each in a turn of its own, and once: one that has to wait for the
/// same again waits for the next time. A call waits until it goes on: where what
/// they wait for is gone again before that, as the keys are after a lock, the rest of them wait on, each until its own
/// time is up.
package final class Waiting {
  private final class Queue {
    let line: Line
    var attempts: [Int: Attempt] = [:]
    /// The number of the one that has waited longest, or one below it.
    private var first = 0
    private var end = 0
    /// The end of those that are to go on.
    private var called = 0
    var isGoing = false

    init(_ line: Line) { self.line = line }

    /// Adds one at the end; its number.
    func add(_ attempt: Attempt) -> Int {
      defer { end += 1 }
      attempts[end] = attempt
      return end
    }

    /// Has all go on that wait now.
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
    let wait: Wait
    let line: ObjectIdentifier
  }

  private var queues: [Key: Queue] = [:]
  /// The turns of the loop in which they go on. Set once, by ``Rooms``.
  package var turns: Turns?

  /// True when nobody waits for that.
  func isEmpty(_ wait: Wait) -> Bool { !queues.contains { $0.key.wait == wait } }

  /// Has a call wait; the number is for ``remove(_:_:_:)``.
  fileprivate func add(_ attempt: Attempt, for wait: Wait, _ line: Line) -> Int {
    let key = Key(wait: wait, line: ObjectIdentifier(line))
    let queue = queues[key] ?? Queue(line)
    queues[key] = queue
    return queue.add(attempt)
  }

  /// Has a call wait no more. One that went on is not there.
  fileprivate func remove(_ number: Int, _ wait: Wait, _ line: Line) {
    let key = Key(wait: wait, line: ObjectIdentifier(line))
    queues[key]?.attempts[number] = nil
    forget(key)
  }

  /// Has all go on that wait for that, for as long as `isTime`.
  func go(_ wait: Wait, while isTime: @escaping () -> Bool) {
    for (key, queue) in queues where key.wait == wait {
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

  /// Forgets a line in which nobody waits any more.
  private func forget(_ key: Key) {
    if let queue = queues[key], queue.attempts.isEmpty, !queue.isGoing { queues[key] = nil }
  }
}

/// One call that could not be answered, and is made again when what it waits for has come: the same for every door.
///
/// It ends when the call was answered or refused, at its own time limit, and when the caller goes away (``callOff()``).
package final class Attempt {
  private let waiting: Waiting
  private let line: Line
  private let attempt: () -> Wait?
  private var place: (wait: Wait, number: Int)?
  private var timeout: Timer.Cancel?
  private var isOver = false

  /// Has a call wait.
  ///
  /// - Parameters:
  ///   - line: whose call it is.
  ///   - limit: the nanoseconds that it may wait; nil for as long as it takes. `late` is run when they are over.
  ///   - attempt: makes the call again, and tells what it waits for then; nil once it was answered or refused.
  package init(
    for wait: Wait, in waiting: Waiting, _ line: Line, within limit: Int64?, _ timer: Timer, late: @escaping () -> Void,
    _ attempt: @escaping () -> Wait?
  ) {
    self.waiting = waiting
    self.line = line
    self.attempt = attempt
    self.wait(wait)
    guard let limit else { return }
    timeout = timer.after(limit) { [weak self] in
      guard let self, !isOver else { return }
      callOff()
      late()
    }
  }

  private func wait(_ wait: Wait) { place = (wait, waiting.add(self, for: wait, line)) }

  fileprivate func goOn() {
    place = nil
    guard !isOver else { return }
    if let wait = attempt() { self.wait(wait) } else { end() }
  }

  /// Ends it without an answer.
  package func callOff() {
    if let place { waiting.remove(place.number, place.wait, line) }
    end()
  }

  private func end() {
    isOver = true
    place = nil
    timeout?()
    timeout = nil
  }
}
