internal import NIOCore
internal import VaultBytes
internal import VaultModel
internal import VaultService
internal import VaultWire

/// The content of a reply, besides names, that a lock wipes.
struct ReplyContent: OptionSet {
  let rawValue: UInt8
  /// Content that every lock wipes: a value of a `when-unlocked` item, or a code that is shown.
  static let whenUnlocked = ReplyContent(rawValue: 1)
  /// A value of an `after-first-unlock` item.
  static let afterFirstUnlock = ReplyContent(rawValue: 2)

  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The content of a value of this class.
  init(_ accessible: AccessClass) {
    switch accessible {
    case .whenUnlocked: self = .whenUnlocked
    case .afterFirstUnlock: self = .afterFirstUnlock
    case .always: self = []
    }
  }

  /// The content that a lock wipes.
  init(wipedBy lock: Lock) {
    self = []
    if lock.reach.contains(.whenUnlocked) { insert(.whenUnlocked) }
    if lock.reach.contains(.afterFirstUnlock) { insert(.afterFirstUnlock) }
  }
}

/// The replies to one client that its socket has not taken, because the client does not read. They are kept only here,
/// wiped as the socket takes them, and kept no longer than ``Timeouts/slowReader`` each.
final class Unread {
  private struct Reply {
    /// The number of bytes of the reply that are left.
    var count: Int
    /// The time at which the reply began to wait, in nanoseconds of `CLOCK_MONOTONIC`.
    let since: Int64
    let content: ReplyContent
    /// Runs when the reply is sent, or never will be.
    let release: () -> Void
  }

  private let now: () -> Int64
  private let after: (Int64, @escaping () -> Void) -> Void
  private let drop: () -> Void
  private var buffer = SecretBuffer()
  /// The number of bytes at the front of the buffer that were taken, and wiped.
  private var taken = 0
  private var replies: [Reply] = []
  private var isWatching = false

  /// - Parameters:
  ///   - now: nanoseconds of `CLOCK_MONOTONIC`.
  ///   - after: runs a closure after this many nanoseconds.
  ///   - drop: ends the connection, because a reply has waited for too long.
  init(now: @escaping () -> Int64, after: @escaping (Int64, @escaping () -> Void) -> Void, drop: @escaping () -> Void) {
    self.now = now
    self.after = after
    self.drop = drop
  }

  var isEmpty: Bool { replies.isEmpty }
  /// The number of unread bytes.
  var count: Int { buffer.count - taken }
  /// The content, among the unread replies, that a lock would wipe.
  var content: ReplyContent { replies.reduce(into: []) { $0.formUnion($1.content) } }

  /// Adds the bytes after the first `sent` bytes of `reply`. They are not copied if nothing waits yet.
  func add(_ reply: consuming SecretBuffer, from sent: Int, _ content: ReplyContent, release: @escaping () -> Void) {
    let count = reply.count - sent
    if replies.isEmpty {
      reply.wipe(0..<sent)
      taken = sent
      buffer = reply
    } else {
      if taken > buffer.count - taken {
        buffer.removeFirst(taken)
        taken = 0
      }
      reply.withBytes { buffer.append($0.extracting(droppingFirst: sent)) }
    }
    replies.append(Reply(count: count, since: now(), content: content, release: release))
    watch()
  }

  /// Lends all unread bytes.
  func withBytes<R>(_ body: (RawSpan) -> R) -> R { buffer.withBytes { body($0.extracting(droppingFirst: taken)) } }

  /// Wipes the first `count` bytes, which the socket has taken.
  func take(_ count: Int) {
    buffer.wipe(taken..<taken + count)
    taken += count
    var left = count
    var done = 0
    while done < replies.count, replies[done].count <= left {
      left -= replies[done].count
      done += 1
    }
    let sent = replies[..<done]
    replies.removeFirst(done)
    if replies.isEmpty { forget() } else { replies[0].count -= left }
    for reply in sent { reply.release() }
  }

  /// Wipes all unread bytes.
  func removeAll() {
    let unsent = replies
    replies = []
    forget()
    for reply in unsent { reply.release() }
  }

  private func forget() {
    buffer = SecretBuffer()
    taken = 0
  }

  /// Schedules a check for the time when the first reply has waited for too long. There is only one timer, however many
  /// replies come and go.
  private func watch() {
    guard !isWatching, let first = replies.first else { return }
    isWatching = true
    after(max(0, first.since + Timeouts.slowReader.nanoseconds - now())) { [weak self] in
      guard let self else { return }
      isWatching = false
      guard let first = replies.first else { return }
      if first.since + Timeouts.slowReader.nanoseconds <= now() { drop() } else { watch() }
    }
  }
}
