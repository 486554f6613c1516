import Foundation

/// An event that one thread waits for and another one lets happen.
final class Gate: @unchecked Sendable {
  // All use of `opened` is under the condition's lock.
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
