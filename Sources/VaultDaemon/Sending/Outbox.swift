internal import NIOCore
internal import VaultService
internal import VaultWire

/// The replies that one client is to be sent. They are written here and go to the socket straight from here.
///
/// NIO would want a buffer of its own for each reply and a walk through its pipeline: half of what a small reply costs,
/// and a second copy of a secret, in memory that no lock can reach. So it gets one byte of what the socket does not take
/// at once, and tells when that is written: then the socket takes more. All the rest stays in ``Unread``.
final class Outbox {
  /// The number of bytes that are written together before they are sent; one reply may be longer.
  private static let batch = 64 << 10
  /// A client that has left more bytes than that unread does not keep up, until it has left less than the other; where all
  /// of its uid together have left more than ``Room/unreadBytes``, one that leaves any.
  private static let most = 256 << 10
  private static let few = 32 << 10

  private let channel: any Channel
  private let plaintext: Plaintext
  private let client: Plaintext.Client
  private let share: UserShare
  private let socket: ClientSocket
  private let unread: Unread
  private let drop: () -> Void
  private var writer = JSONWriter(capacity: 0)
  /// The content of what was written that a lock would wipe.
  private var content: ReplyContent = []
  /// True when NIO has the first byte of what is unread.
  private var isWaiting = false
  /// The number of bytes of what was unread that the socket has taken.
  private var leftCount = 0
  /// True when more is tried as soon as NIO has written its byte.
  private var isSending = false
  /// True when the client reads what it is sent.
  private(set) var isKeepingUp = true
  /// Runs when the client has read something of what was unread.
  var onProgress: () -> Void = {}

  /// Sends to the client at the other end of `channel`, and holds on to it.
  ///
  /// - Parameter drop: gives up a client that does not read; nil to close the channel.
  init(
    _ channel: any Channel, _ socket: ClientSocket, of client: Plaintext.Client, _ share: UserShare,
    plaintext: Plaintext, clock: Clock, drop: (() -> Void)? = nil
  ) {
    self.drop = drop ?? { channel.close(mode: .all, promise: nil) }
    self.channel = channel
    self.client = client
    self.share = share
    self.socket = socket
    self.plaintext = plaintext
    unread = Unread(
      now: clock.monotonic,
      after: { [channel] delay, work in
        channel.eventLoop.assumeIsolated().scheduleTask(in: .nanoseconds(delay), work)
      }, drop: self.drop)
  }

  /// True when enough was written to send it.
  var isFull: Bool { writer.byteCount >= Self.batch }

  /// Takes whole messages, which `body` writes.
  func write(_ content: ReplyContent = [], _ body: (inout JSONWriter) -> Void) {
    self.content.formUnion(content)
    body(&writer)
  }

  /// Takes bytes as they are.
  func write(_ content: ReplyContent, bytes: RawSpan) { write(content) { $0.raw(bytes) } }

  /// Sends what was written, and wipes it.
  func flush() {
    guard writer.byteCount > 0 else { return }
    let sent = writer.withBytes { send($0) }
    guard sent < writer.byteCount else {
      content = []
      return writer.removeAll()
    }
    // Before it waits: what waited for it to be sent may go on at once, and write.
    var written = JSONWriter(capacity: 0)
    swap(&written, &writer)
    let content = content
    self.content = []
    wait(written.take(), from: sent, content)
  }

  /// Sends whole messages that were written elsewhere, after what was written here.
  func pass(_ messages: RawSpan) {
    flush()
    let sent = send(messages)
    if sent < messages.byteCount { wait(SecretBuffer(copying: messages.extracting(droppingFirst: sent)), from: 0, []) }
  }

  /// The bytes that the socket takes at once. What comes later must not overtake what is unread.
  private func send(_ bytes: RawSpan) -> Int { unread.isEmpty ? socket.send(bytes) : 0 }

  /// True when the socket has taken everything.
  var isEmpty: Bool { unread.isEmpty && writer.byteCount == 0 }

  /// True when something is unread that is to be wiped: one of these contents, or, with `names`, anything at all.
  func hasUnread(_ content: ReplyContent, names: Bool) -> Bool {
    !unread.isEmpty && (names || !unread.content.isDisjoint(with: content))
  }

  /// Wipes what was written and what is unread. Nothing can be sent after that.
  func clear() {
    writer.removeAll()
    let count = unread.count
    unread.removeAll()
    share.unreadBytes -= count
  }

  // MARK: What the client does not read

  private func wait(_ reply: consuming SecretBuffer, from sent: Int, _ content: ReplyContent) {
    let before = takenCount
    let more = reply.count - sent
    let held = plaintext.hold(
      more, for: client, taken: { [weak self] in (self?.takenCount ?? before) - before }, drop: drop)
    unread.add(reply, from: sent, content) { [plaintext] in
      if let held { plaintext.release(held) }
    }
    share.unreadBytes += more
    if unread.count > Self.most || share.unreadBytes > Room.unreadBytes { isKeepingUp = false }
    if !isWaiting { sendOn(trying: false) }
  }

  /// Sends as much as the socket takes, and has NIO wait until it takes more.
  private func sendOn(trying: Bool) {
    isSending = true
    if trying { sendUnread() }
    while !unread.isEmpty {
      awaitSocket()
      if isWaiting { break }
      sendUnread()
    }
    isSending = false
  }

  private func sendUnread() {
    if !unread.isEmpty { take(unread.withBytes { socket.send($0) }) }
  }

  private func awaitSocket() {
    isWaiting = true
    var buffer = WipingAllocator.allocator.buffer(capacity: 1)
    unread.withBytes { bytes in
      // There is one, and a byte has no padding.
      _ = buffer.writeInteger(unsafe bytes.unsafeLoad(as: UInt8.self))
    }
    let promise = channel.eventLoop.makePromise(of: Void.self)
    promise.futureResult.assumeIsolated().whenComplete { [weak self] result in
      // Where it fails the channel closes, and what is unread is wiped then.
      guard case .success = result else { return }
      self?.socketTookByte()
    }
    channel.writeAndFlush(buffer, promise: promise)
  }

  private func socketTookByte() {
    isWaiting = false
    guard !unread.isEmpty else { return }
    take(1)
    // Else it was taken at once, and whoever sends goes on by itself.
    guard !isSending else { return }
    sendOn(trying: true)
    onProgress()
  }

  /// The number of bytes that the client has taken of what was unread: those that left here, but for what the socket still has.
  private var takenCount: Int { leftCount - socket.queuedCount() }

  private func take(_ count: Int) {
    leftCount += count
    unread.take(count)
    share.unreadBytes -= count
    if unread.count < Self.few { isKeepingUp = true }
  }
}
