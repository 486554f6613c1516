internal import VaultService

/// The large replies that wait for their clients to read them. Each is a plaintext value, and there should be little
/// plaintext in memory at any time.
///
/// When the cap is reached, further large values wait. Small ones never wait, so a client that does not read delays
/// nobody's tokens. One process gets at most half of the cap. Waiting calls are admitted one per turn: first the calls
/// of the uid that holds least, among these the calls of the process that holds least, and among these the call that
/// came first. A client that does not read is dropped after ``Timeouts/slowReader``, see ``Unread``. If other calls
/// wait for room, it must read at a pace: see ``deadline(count:taken:waiting:)``.
final class Plaintext {
  /// The cap in bytes. 4 MiB leave room for keys under the usual 8 MiB of `RLIMIT_MEMLOCK`.
  static let cap = 4 << 20
  /// The share of the cap for the replies to one process, in bytes.
  static let share = cap / 2
  /// The size up to which a reply is not counted, in bytes.
  static let small = 64 << 10
  /// The time that a client has to read a reply whose room others wait for, in nanoseconds.
  static let patience: Int64 = 1_000_000_000
  /// The time that a client has in any case to begin reading, however many calls wait, in nanoseconds. A process that
  /// is woken on a busy machine is slow to begin.
  static let grace: Int64 = 100_000_000

  /// Returns how long a reply of `count` bytes may block `waiting` calls, in nanoseconds from the time when the reply
  /// began to wait. Its client has taken `taken` bytes.
  ///
  /// The bytes that the client has taken pay for a part of ``patience``, so a client that reads is not dropped. A
  /// client that does not read gets only a share of ``patience``, which is smaller when more calls wait. Otherwise
  /// calls would wait for hours behind thousands of such clients.
  static func deadline(count: Int, taken: Int, waiting: Int) -> Int64 {
    let paid = Int64(min(max(0, taken), count)) * patience / Int64(max(1, count))
    return min(patience, max(grace, patience / Int64(max(1, waiting))) + paid)
  }

  /// The client that a reply is for.
  struct Client {
    let process: Int32
    /// The line of the client's uid, in which its calls continue.
    let line: Line
  }

  private struct Reply {
    let client: Client
    let count: Int
    /// The multiple of the usual time for which the reply may block others.
    let times: Int64
    /// The time at which the reply began to wait, in nanoseconds of `CLOCK_MONOTONIC`.
    let since: Int64
    /// Returns the number of bytes that the client has taken since the reply began to wait.
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
  // The waiting replies and calls, both keyed by increasing numbers.
  private var replies: [Int: Reply] = [:]
  private var calls: [Int: Call] = [:]
  private var last = 0
  private var isLettingIn = false
  /// The time of the next check, in nanoseconds of `CLOCK_MONOTONIC`.
  private var watching: Int64?

  /// - Parameters:
  ///   - turns: the turns in which waiting calls continue.
  ///   - now: nanoseconds of `CLOCK_MONOTONIC`.
  ///   - after: runs a closure after this many nanoseconds.
  init(in turns: Turns, now: @escaping () -> Int64, after: @escaping (Int64, @escaping () -> Void) -> Void) {
    self.turns = turns
    self.now = now
    self.after = after
  }

  /// The bytes of the replies that wait.
  var inHand: Int { replies.values.reduce(0) { $0 + $1.count } }

  /// Returns true when a large value for this process must wait.
  func mustWait(_ client: Client) -> Bool { !calls.isEmpty || !hasRoom(for: client.process) }

  /// Continues a call once there is room for a large value; the returned number is for ``remove(_:)``.
  func wait(_ client: Client, _ goOn: @escaping () -> Void) -> Int {
    last += 1
    calls[last] = Call(client: client, goOn: goOn)
    letIn()
    watch()
    return last
  }

  /// Removes a waiting call.
  func remove(_ number: Int) { calls[number] = nil }

  /// Counts a reply of `count` bytes that must wait, until it is released by the returned number; nil when it is too
  /// small to be counted.
  ///
  /// - Parameter times: the multiple of the usual time for which the reply may block others.
  func hold(
    _ count: Int, for client: Client, times: Int64 = 1, taken: @escaping () -> Int, drop: @escaping () -> Void
  ) -> Int? {
    guard count > Self.small else { return nil }
    last += 1
    replies[last] = Reply(client: client, count: count, times: times, since: now(), taken: taken, drop: drop)
    watch()
    return last
  }

  /// Stops counting a reply, which was sent or never will be.
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

  /// Lets the next call continue, and later the calls after it.
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

  /// The first call in the order of admission for which there is room.
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
    // A call whose process already has its share does not block others.
    return calls.filter { held[$0.value.client.process, default: 0] < Self.share }.min { rank($0) < rank($1) }?.key
  }

  /// The replies whose end would let a call continue, when no call can continue.
  private var obstacles: [(number: Int, reply: Reply)] {
    guard !calls.isEmpty, next == nil else { return [] }
    let all = replies.map { (number: $0.key, reply: $0.value) }
    if inHand >= Self.cap { return all }
    // The process of each waiting call has its share.
    let waiting = Set(calls.values.map(\.client.process))
    return all.filter { waiting.contains($0.reply.client.process) }
  }

  /// The blocking reply that must go first, and the time at which it must go.
  private var obstacle: (number: Int, at: Int64)? {
    let waiting = calls.count
    return obstacles.map { number, reply in
      let deadline = Self.deadline(count: reply.count, taken: reply.taken(), waiting: waiting)
      return (number: number, at: reply.since + reply.times * deadline)
    }.min { ($0.at, $0.number) < ($1.at, $1.number) }
  }

  /// Schedules a check for the time when the blocking reply must go, which comes sooner when more calls wait.
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
