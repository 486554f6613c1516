internal import VaultService

/// The large replies that wait for their clients to read them: each is a plaintext value in memory, of which there is to be
/// little at any time.
///
/// Past the cap further large values wait; small ones never do, so a client that does not read delays nobody's tokens. One
/// process has half of it at most. Who waits is let in, each in a turn of its own, by how little its uid has, then by how
/// little its process has, and then in the order of coming. A client that does not read is dropped after ``Timeouts/slowReader``, see ``Unread``. Where
/// others wait for room it has to read at a pace: see ``deadline(count:taken:waiting:)``.
final class Plaintext {
  /// Bytes. 4 MiB leave room for keys under the usual 8 MiB of `RLIMIT_MEMLOCK`.
  static let cap = 4 << 20
  /// The share that the replies to one process may have of it, in bytes.
  static let share = cap / 2
  /// A reply up to this many bytes is not counted.
  static let small = 64 << 10
  /// For how long a client may take to read a reply for whose room others wait, in nanoseconds.
  static let patience: Int64 = 1_000_000_000
  /// The time that it has to begin in any case, however many wait, in nanoseconds: a process that is woken on a busy
  /// machine is slow to begin.
  static let grace: Int64 = 100_000_000

  /// Until when after it began to wait a reply of `count` bytes may stand in the way of `waiting` calls, in nanoseconds,
  /// when its client has taken `taken` bytes.
  ///
  /// The bytes it has taken pay for a part of ``patience``, so one that reads is not dropped. One that does not read costs each
  /// of those behind it a share of it alone: they would wait for hours behind thousands that do not read.
  static func deadline(count: Int, taken: Int, waiting: Int) -> Int64 {
    let paid = Int64(min(max(0, taken), count)) * patience / Int64(max(1, count))
    return min(patience, max(grace, patience / Int64(max(1, waiting))) + paid)
  }

  /// Whose a reply is.
  struct Client {
    let process: Int32
    /// The line of its uid, in which its calls go on.
    let line: Line
  }

  private struct Reply {
    let client: Client
    let count: Int
    /// The time at which it began to wait, `CLOCK_MONOTONIC` nanoseconds.
    let since: Int64
    /// The number of bytes that the client has taken since then.
    let taken: () -> Int
    /// Ends the connection.
    let drop: () -> Void
  }

  private struct Call {
    let client: Client
    let goOn: () -> Void
  }

  private let turns: Turns
  private let now: () -> Int64
  private let after: (Int64, @escaping () -> Void) -> Void
  // Both by numbers that grow.
  private var replies: [Int: Reply] = [:]
  private var calls: [Int: Call] = [:]
  private var last = 0
  private var isLettingIn = false
  /// The time at which it looks again, `CLOCK_MONOTONIC` nanoseconds.
  private var watching: Int64?

  /// - Parameters:
  ///   - turns: when calls go on that waited.
  ///   - now: `CLOCK_MONOTONIC`, nanoseconds.
  ///   - after: runs something when so many nanoseconds have passed.
  init(in turns: Turns, now: @escaping () -> Int64, after: @escaping (Int64, @escaping () -> Void) -> Void) {
    self.turns = turns
    self.now = now
    self.after = after
  }

  /// Bytes of the replies that wait.
  var inHand: Int { replies.values.reduce(0) { $0 + $1.count } }

  /// True when a large value for this process has to wait.
  func mustWait(_ client: Client) -> Bool { !calls.isEmpty || !hasRoom(for: client.process) }

  /// Has a call go on once there is room for a large value; the number is for ``remove(_:)``.
  func wait(_ client: Client, _ goOn: @escaping () -> Void) -> Int {
    last += 1
    calls[last] = Call(client: client, goOn: goOn)
    letIn()
    watch()
    return last
  }

  /// Has a call wait no more.
  func remove(_ number: Int) { calls[number] = nil }

  /// Counts a reply of `count` bytes that has to wait, until it is released by the number; nil where it is not counted.
  func hold(_ count: Int, for client: Client, taken: @escaping () -> Int, drop: @escaping () -> Void) -> Int? {
    guard count > Self.small else { return nil }
    last += 1
    replies[last] = Reply(client: client, count: count, since: now(), taken: taken, drop: drop)
    watch()
    return last
  }

  /// The reply is sent, or never will be.
  func release(_ number: Int) {
    guard replies.removeValue(forKey: number) != nil else { return }
    letIn()
  }

  private func hasRoom(for process: Int32) -> Bool {
    guard !replies.isEmpty else { return true }
    return inHand < Self.cap && held(by: process) < Self.share
  }

  private func held(by process: Int32) -> Int {
    replies.values.reduce(0) { $0 + ($1.client.process == process ? $1.count : 0) }
  }

  /// Lets the next call go on, and later those after it.
  private func letIn() {
    guard !isLettingIn, let first = next, let line = calls[first]?.client.line else { return }
    isLettingIn = true
    turns.wait(line) { [weak self] in
      guard let self else { return }
      isLettingIn = false
      if let next, let call = calls.removeValue(forKey: next) {
        call.goOn()
        letIn()
      }
      watch()
    }
  }

  /// The call that has room and is the first to have it.
  private var next: Int? {
    guard !calls.isEmpty, inHand < Self.cap else { return nil }
    var (held, heldByUser): ([Int32: Int], [ObjectIdentifier: Int]) = ([:], [:])
    for reply in replies.values {
      held[reply.client.process, default: 0] += reply.count
      heldByUser[ObjectIdentifier(reply.client.line), default: 0] += reply.count
    }
    func rank(_ call: (key: Int, value: Call)) -> (Int, Int, Int) {
      let client = call.value.client
      return (heldByUser[ObjectIdentifier(client.line), default: 0], held[client.process, default: 0], call.key)
    }
    // One whose process has its share is in nobody's way.
    return calls.filter { held[$0.value.client.process, default: 0] < Self.share }.min { rank($0) < rank($1) }?.key
  }

  /// The replies in whose room a call could go on, where none can.
  private var obstacles: [(number: Int, reply: Reply)] {
    guard !calls.isEmpty, next == nil else { return [] }
    let all = replies.map { (number: $0.key, reply: $0.value) }
    if inHand >= Self.cap { return all }
    // Each of these processes has its share.
    let waiting = Set(calls.values.map(\.client.process))
    return all.filter { waiting.contains($0.reply.client.process) }
  }

  /// The one of them that has to go first, and when.
  private var obstacle: (number: Int, at: Int64)? {
    let waiting = calls.count
    return obstacles.map { number, reply in
      let deadline = Self.deadline(count: reply.count, taken: reply.taken(), waiting: waiting)
      return (number: number, at: reply.since + deadline)
    }.min { ($0.at, $0.number) < ($1.at, $1.number) }
  }

  /// Looks again when the reply that is in the way has been so for long enough: sooner, when more calls come.
  private func watch() {
    guard let at = obstacle?.at, watching.map({ at < $0 }) ?? true else { return }
    watching = at
    after(max(0, at - now())) { [weak self] in
      guard let self, watching == at else { return }
      watching = nil
      dropObstacles()
      watch()
    }
  }

  private func dropObstacles() {
    while let obstacle, obstacle.at <= now(), let reply = replies.removeValue(forKey: obstacle.number) { reply.drop() }
    letIn()
  }
}
