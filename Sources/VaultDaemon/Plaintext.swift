internal import NIOCore

/// Counts the large replies that wait for their clients to read them, because each is a plaintext value in memory.
///
/// Past the cap further large values wait; small ones never do, so a client that does not read delays nobody's tokens.
/// It is dropped itself after ``Timeouts/slowReader``.
final class Plaintext {
  /// Bytes. 4 MiB leave room for keys under the usual 8 MiB of `RLIMIT_MEMLOCK`.
  static let cap = 4 << 20
  /// A reply up to this many bytes is not counted.
  static let small = 64 << 10

  private(set) var inHand = 0
  private var waiting: [() -> Void] = []

  var isFull: Bool { inHand >= Self.cap }

  /// Runs `work` once there is room again.
  func whenRoom(_ work: @escaping () -> Void) { waiting.append(work) }

  /// A promise for the write of `count` bytes, or nil where it is not counted.
  func promise(for count: Int, on context: ChannelHandlerContext) -> EventLoopPromise<Void>? {
    guard count > Self.small else { return nil }
    inHand += count
    let promise = context.eventLoop.makePromise(of: Void.self)
    promise.futureResult.assumeIsolated().whenComplete { [weak self] _ in self?.release(count) }
    return promise
  }

  private func release(_ count: Int) {
    inHand -= count
    let ready = waiting
    waiting = []
    for work in ready { work() }
  }
}
