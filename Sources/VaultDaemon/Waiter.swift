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
