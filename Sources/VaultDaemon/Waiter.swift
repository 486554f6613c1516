internal import NIOCore

/// A call that waits for something and then goes on once, unless its client went away or its time was up.
final class Waiter {
  var timeout: Scheduled<Void>?
  private var work: (() -> Void)?

  init(_ work: @escaping () -> Void) { self.work = work }

  func go() {
    timeout?.cancel()
    let work = work
    self.work = nil
    work?()
  }

  func cancel() {
    timeout?.cancel()
    work = nil
  }
}

/// Calls that wait for the same, in the order of their coming.
///
/// When it has come they go on one after the other, each in a turn of its own. A call waits until it goes on: where what
/// they wait for is gone again before that, as the keys are after a lock, the rest of them wait on, each until its own
/// time is up.
final class WaitingCalls {
  private var calls: [Int: Waiter] = [:]
  /// The number of the one that has waited longest, or one below it.
  private var first = 0
  private var end = 0
  private var isGoing = false

  /// True when nobody waits.
  var isEmpty: Bool { calls.isEmpty }

  /// Has a call wait; the number is for ``remove(_:)``.
  func add(_ call: Waiter) -> Int {
    defer { end += 1 }
    calls[end] = call
    return end
  }

  /// Has a call wait no more. One that went on is not there.
  func remove(_ number: Int) { calls.removeValue(forKey: number)?.cancel() }

  /// Has all go on that wait, for as long as `isTime`.
  func go(in turns: Turns, while isTime: @escaping () -> Bool) {
    guard !isGoing, !isEmpty else { return }
    isGoing = true
    turns.wait { [weak self] in
      guard let self else { return }
      isGoing = false
      guard isTime(), let next = takeFirst() else { return }
      next.go()
      go(in: turns, while: isTime)
    }
  }

  private func takeFirst() -> Waiter? {
    while first < end {
      defer { first += 1 }
      if let call = calls.removeValue(forKey: first) { return call }
    }
    return nil
  }
}
