internal import NIOCore
internal import VaultBytes
internal import VaultService
internal import VaultWire

/// The replies to one client. They are written here and go straight to the socket.
///
/// NIO would need a buffer for each reply and a walk through its pipeline. That is half the cost of a small reply, and
/// a second copy of a secret in memory that no lock can reach. So NIO gets only one byte of what the socket does not
/// take at once, and reports when that byte is written: then the socket takes more. The rest stays in ``Unread``.
final class Outbox {
  /// The number of bytes that are collected before they are sent; one reply may be longer.
  private static let batch = 64 << 10
  /// A client that has left more than `most` bytes unread does not keep up, until it has left fewer than `few`. If all
  /// clients of its uid together have left more than ``Room/unreadBytes``, each one that leaves any byte unread does
  /// not keep up.
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
  /// The content, among the written replies, that a lock would wipe.
  private var content: ReplyContent = []
  /// True when NIO has the first unread byte.
  private var isWaiting = false
  /// The number of unread bytes that the socket has taken.
  private var leftCount = 0
  /// True while `sendOn` runs, which continues by itself when NIO has written its byte.
  private var isSending = false
  /// True when the client reads its replies fast enough.
  private(set) var isKeepingUp = true
  /// Runs when the client has read some of its unread bytes.
  var onProgress: () -> Void = {}

  /// Sends to the client at the other end of `channel`, and keeps the channel alive.
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

  /// True when enough bytes are written to be sent.
  var isFull: Bool { writer.byteCount >= Self.batch }

  /// Appends whole messages, which `body` writes.
  func write(_ content: ReplyContent = [], _ body: (inout JSONWriter) -> Void) {
    self.content.formUnion(content)
    body(&writer)
  }

  /// Appends raw bytes.
  func write(_ content: ReplyContent, bytes: RawSpan) { write(content) { $0.raw(bytes) } }

  /// Sends the written bytes, and wipes them.
  func flush() {
    guard writer.byteCount > 0 else { return }
    let sent = writer.withBytes { send($0) }
    guard sent < writer.byteCount else {
      content = []
      return writer.removeAll()
    }
    // The writer is emptied before the reply waits, because code that waits for the client may continue at once and
    // write.
    var written = JSONWriter(capacity: 0)
    swap(&written, &writer)
    let content = content
    self.content = []
    wait(written.take(), from: sent, content)
  }

  /// Sends whole messages that were written elsewhere, after those written here.
  func pass(_ messages: RawSpan) {
    flush()
    let sent = send(messages)
    if sent < messages.byteCount { wait(SecretBuffer(copying: messages.extracting(droppingFirst: sent)), from: 0, []) }
  }

  /// Sends bytes; returns the number that the socket takes at once. Later bytes must not overtake unread ones.
  private func send(_ bytes: RawSpan) -> Int { unread.isEmpty ? socket.send(bytes) : 0 }

  /// True when the socket has taken everything.
  var isEmpty: Bool { unread.isEmpty && writer.byteCount == 0 }

  /// Returns true when unread bytes must be wiped: bytes of a kind that `content` names or, with `names`, any unread
  /// bytes.
  func hasUnread(_ content: ReplyContent, names: Bool) -> Bool {
    !unread.isEmpty && (names || !unread.content.isDisjoint(with: content))
  }

  /// Wipes the written and the unread bytes. Nothing can be sent after that.
  func clear() {
    writer.removeAll()
    let count = unread.count
    unread.removeAll()
    share.countUnread(-count)
  }

  // MARK: Unread replies

  private func wait(_ reply: consuming SecretBuffer, from sent: Int, _ content: ReplyContent) {
    let before = takenCount
    let more = reply.count - sent
    let held = plaintext.hold(
      more, for: client, taken: { [weak self] in (self?.takenCount ?? before) - before }, drop: drop)
    unread.add(reply, from: sent, content) { [plaintext] in
      if let held { plaintext.release(held) }
    }
    share.countUnread(more)
    if unread.count > Self.most || share.unreadTogether > Room.unreadBytes { isKeepingUp = false }
    if !isWaiting { sendOn(trying: false) }
  }

  /// Sends as much as the socket takes, and lets NIO wait until it takes more.
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
      // There is a first byte, and a byte has no padding.
      _ = buffer.writeInteger(unsafe bytes.unsafeLoad(as: UInt8.self))
    }
    let promise = channel.eventLoop.makePromise(of: Void.self)
    promise.futureResult.assumeIsolated().whenComplete { [weak self] result in
      // If the write fails, the channel closes, and the unread bytes are wiped then.
      guard case .success = result else { return }
      self?.socketTookByte()
    }
    channel.writeAndFlush(buffer, promise: promise)
  }

  private func socketTookByte() {
    isWaiting = false
    guard !unread.isEmpty else { return }
    take(1)
    // If the byte was taken at once, `sendOn` is still running and continues by itself.
    guard !isSending else { return }
    sendOn(trying: true)
    onProgress()
  }

  /// The number of unread bytes that the client has taken: those that left this process, minus those still in the
  /// socket.
  private var takenCount: Int { leftCount - socket.queuedCount() }

  private func take(_ count: Int) {
    leftCount += count
    unread.take(count)
    share.countUnread(-count)
    if unread.count < Self.few { isKeepingUp = true }
  }
}
