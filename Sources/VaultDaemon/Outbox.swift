internal import NIOCore
internal import VaultAPI

/// What one client is to be sent. Replies are written here and go to the socket straight from here.
///
/// NIO would want a buffer of its own for each reply and a walk through its pipeline: half of what a small reply costs,
/// and a second copy of a secret. So it gets only what the socket does not take at once, which waits in its queue, with
/// everything that comes after, until the client has read.
final class Outbox {
  /// What is written together before it is sent, in bytes; one reply may be longer.
  private static let batch = 64 << 10

  private let channel: any Channel
  private let plaintext: Plaintext
  private let process: Int32
  private let socket: ClientSocket
  private var writer = JSONWriter(capacity: 0)
  /// Writes that wait in NIO's queue. What comes later must not overtake them.
  private var queued = 0

  /// Sends to the client at the other end of `channel`, which is of this process, and holds on to it.
  init(_ channel: any Channel, _ socket: ClientSocket, process: Int32, plaintext: Plaintext) {
    self.channel = channel
    self.process = process
    self.socket = socket
    self.plaintext = plaintext
  }

  /// Whether enough was written to send it.
  var isFull: Bool { writer.byteCount >= Self.batch }

  /// Takes whole messages, which `body` writes.
  func write(_ body: (inout JSONWriter) -> Void) { body(&writer) }

  /// Sends what was written, and wipes it.
  func flush() {
    guard writer.byteCount > 0 else { return }
    let rest = writer.withBytes { send($0) }
    // Before NIO gets the rest: what waited for it to be sent may go on at once, and write.
    writer.removeAll()
    if let rest { queue(rest) }
  }

  /// Sends whole messages that were written elsewhere, after what was written here.
  func pass(_ messages: RawSpan) {
    flush()
    if let rest = send(messages) { queue(rest) }
  }

  /// Sends what the socket takes at once, and gives a copy of the rest.
  private func send(_ bytes: RawSpan) -> ByteBuffer? {
    let sent = queued == 0 ? socket.send(bytes) : 0
    return sent < bytes.byteCount ? copy(bytes.extracting(droppingFirst: sent)) : nil
  }

  /// Whether the socket has taken everything.
  var isEmpty: Bool { queued == 0 && writer.byteCount == 0 }

  /// Forgets what was written.
  func clear() { writer.removeAll() }

  private func copy(_ bytes: RawSpan) -> ByteBuffer {
    var buffer = WipingAllocator.allocator.buffer(capacity: bytes.byteCount)
    // Copied before the span ends.
    _ = unsafe bytes.withUnsafeBytes { unsafe buffer.writeBytes($0) }
    return buffer
  }

  private func queue(_ rest: ByteBuffer) {
    queued += 1
    let held = plaintext.hold(rest.readableBytes, for: process) { [channel] in channel.close(mode: .all, promise: nil) }
    let promise = channel.eventLoop.makePromise(of: Void.self)
    promise.futureResult.assumeIsolated().whenComplete { [self] _ in
      queued -= 1
      if let held { plaintext.release(held) }
    }
    channel.writeAndFlush(rest, promise: promise)
  }
}
