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

  /// Counts a reply of `count` bytes that has to wait, until it is released.
  func hold(_ count: Int) {
    if count > Self.small { inHand += count }
  }

  /// The reply is sent, or never will be.
  func release(_ count: Int) {
    guard count > Self.small else { return }
    inHand -= count
    let ready = waiting
    waiting = []
    for work in ready { work() }
  }
}
