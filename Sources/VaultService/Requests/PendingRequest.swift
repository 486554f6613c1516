package import VaultModel

/// A subject, and the name of an item, whether there is one or not.
package struct RequestTarget: Hashable, Sendable {
  package let subject: Subject
  package let name: ItemName

  package init(_ subject: Subject, _ name: ItemName) { (self.subject, self.name) = (subject, name) }
}

/// A process that asked, as the kernel saw it when it connected.
package struct Asker: Hashable, Sendable {
  package let uid: UInt32
  package let pid: Int32
  /// The time at which it started, in clock ticks since boot; nil where that could not be told.
  package let started: UInt64?
  package let unit: String?
  /// The file that it ran: advice, since it may be another's.
  package let executable: String?
  /// The terminal that it belongs to, and the names of it and of the processes that it comes from: advice as well.
  package let terminal: String?
  package let chain: [String]

  /// The longest text in bytes.
  private static let longest = 512

  init(_ caller: Caller, isSystem: Bool) {
    (uid, pid, started) = (caller.uid, caller.pid, caller.started)
    unit = caller.grantedUnit(isSystem: isSystem)
    executable = caller.memory.executable().flatMap { $0.utf8.count <= Self.longest ? $0 : nil }
    (terminal, chain) = caller.memory.ancestry()
  }

  /// True for the same process: a number alone may be another's by now.
  func isSame(as caller: Caller) -> Bool { started != nil && started == caller.started && pid == caller.pid }
}

/// What becomes of a request.
package enum RequestChange: String, Sendable {
  case asked, approved, denied
  /// Newer ones of the same subject pushed it out, or a lock hides its name.
  case dropped
}

/// A call that was refused for want of a grant, and waits for an administrator's answer.
package struct PendingRequest: Sendable {
  /// Six random digits.
  package let number: Int
  package let target: RequestTarget
  /// `get` or `use`.
  package let right: Right
  /// The words of who asked last: one line of at most 120 characters without control, bidi or zero-width ones.
  package fileprivate(set) var words: String
  /// The process that asked last.
  package fileprivate(set) var asker: Asker
  /// The times of the first and the last call, Unix seconds.
  package let first: Int64
  package fileprivate(set) var last: Int64
  /// How often it was asked.
  package fileprivate(set) var count = 1

  init(_ number: Int, _ target: RequestTarget, _ right: Right, _ words: String, _ asker: Asker, at time: Int64) {
    (self.number, self.target, self.right) = (number, target, right)
    (self.words, self.asker) = (words, asker)
    (first, last) = (time, time)
  }

  mutating func repeated(_ words: String, _ asker: Asker, at time: Int64) {
    (self.words, self.asker, last) = (words, asker, time)
    if count < .max { count += 1 }
  }
}
