import Foundation

/// An event for which one thread waits until another thread signals it.
final class Gate: @unchecked Sendable {
  // The condition's lock guards all use of `opened`.
  private let condition = NSCondition()
  private var opened = false

  func open() {
    condition.lock()
    opened = true
    condition.broadcast()
    condition.unlock()
  }

  func wait() {
    condition.lock()
    while !opened { condition.wait() }
    condition.unlock()
  }

  var isOpen: Bool {
    condition.lock()
    defer { condition.unlock() }
    return opened
  }
}
