package import VaultModel

/// A subject, and the name of an item that may or may not exist.
package struct RequestTarget: Hashable, Sendable {
  package let subject: Subject
  package let name: ItemName

  package init(_ subject: Subject, _ name: ItemName) { (self.subject, self.name) = (subject, name) }
}

/// A process that asked, as the kernel described it when it connected.
package struct Asker: Hashable, Sendable {
  package let uid: UInt32
  package let pid: Int32
  /// The start time of the process, in clock ticks since boot; nil if it could not be determined.
  package let started: UInt64?
  package let unit: String?
  /// The file that the process ran; a hint only, because it may be the file of another process.
  package let executable: String?
  /// The terminal of the process, and the names of the process and its ancestors; hints only.
  package let terminal: String?
  package let chain: [String]

  /// The longest path that is kept, in bytes.
  private static let longest = 512

  init(_ caller: Caller, isSystem: Bool) {
    (uid, pid, started) = (caller.uid, caller.pid, caller.started)
    unit = caller.grantedUnit(isSystem: isSystem)
    executable = caller.memory.executable().flatMap { $0.utf8.count <= Self.longest ? $0 : nil }
    (terminal, chain) = caller.memory.ancestry
  }

  /// True when a caller is the same process. A process id alone may belong to another process by now.
  func isSame(as caller: Caller) -> Bool { started != nil && started == caller.started && pid == caller.pid }
}

/// A process as it was shown to an administrator.
package struct ShownProcess: Hashable, Sendable {
  let pid: Int32
  /// The start time of the process; nil if the administrator's program does not tell it.
  let started: UInt64?

  package init(_ pid: Int32, started: UInt64?) { (self.pid, self.started) = (pid, started) }
}

/// A change of a request.
package enum RequestChange: String, Sendable {
  case asked, approved, denied
  /// Newer requests have displaced it, or a lock hides its name.
  case dropped
}

/// A call that was refused because no grant allows it, and that waits for an administrator's answer.
package struct PendingRequest: Sendable {
  /// The number of the request.
  package let number: QuestionNumber
  package let target: RequestTarget
  /// The right that was asked for: `get` or `use`.
  package let right: Right
  /// True if the asker is a user without any right and not a service. All such users share one part of the room,
  /// because a user namespace has thousands of uids.
  let isOfStranger: Bool
  /// The words of the process that asked last: one line of at most 120 characters without control, bidi or zero-width
  /// characters.
  package fileprivate(set) var words: String
  /// The process that asked last.
  package fileprivate(set) var asker: Asker
  /// The times of the first and the last call, in Unix seconds.
  package let first: Int64
  package fileprivate(set) var last: Int64
  /// The number of calls.
  package fileprivate(set) var count = 1
  /// The ids of the processes that asked before the last; nil if they are too many to remember.
  private var earlier: Set<Int32>? = []

  /// The most ids of processes that are remembered.
  private static let mostEarlier = 64

  init(
    _ number: QuestionNumber, _ target: RequestTarget, _ right: Right, _ words: String, _ asker: Asker,
    isOfStranger: Bool, at time: Int64
  ) {
    (self.number, self.target, self.right) = (number, target, right)
    self.isOfStranger = isOfStranger
    (self.words, self.asker) = (words, asker)
    (first, last) = (time, time)
  }

  /// True if the process that asked last is the one that was shown. Without a start time, an id that another process
  /// had before says nothing.
  func isOfLast(_ shown: ShownProcess) -> Bool {
    guard shown.pid == asker.pid else { return false }
    if let started = shown.started { return started == asker.started }
    return earlier?.contains(shown.pid) == false
  }

  mutating func repeated(_ words: String, _ asker: Asker, at time: Int64) {
    if asker != self.asker {
      earlier?.insert(self.asker.pid)
      if earlier?.count ?? 0 > Self.mostEarlier { earlier = nil }
    }
    (self.words, self.asker, last) = (words, asker, time)
    if count < .max { count += 1 }
  }
}
