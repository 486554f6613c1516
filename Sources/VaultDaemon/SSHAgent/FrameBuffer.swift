internal import Glibc
internal import VaultCore
internal import VaultModel

/// Bytes that a client has sent and nobody has handled yet: they may hold a private key, or a passphrase.
struct FrameBuffer: ~Copyable {
  /// Enough for almost every request, and as much as costs no system call; a larger one has memory of its own until it is
  /// handled.
  private static let usualCapacity = 4080

  private var memory = SecureBytes(count: usualCapacity)
  private(set) var count = 0

  mutating func append(_ bytes: RawSpan) {
    let total = count + bytes.byteCount
    if total > memory.count {
      var larger = SecureBytes(count: max(total, 2 * memory.count))
      withBytes { old in larger.withMutableBytes { $0.copy(old) } }
      memory = larger
    }
    memory.withMutableBytes { $0.copy(bytes, at: count) }
    count = total
  }

  /// Lends what is there.
  borrowing func withBytes<R>(_ body: (RawSpan) -> R) -> R { memory.withBytes { body($0.extracting(first: count)) } }

  /// Drops the first bytes, and wipes the place of as many.
  mutating func removeFirst(_ dropped: Int) {
    let rest = count - dropped
    guard rest > 0 || memory.count == Self.usualCapacity else { return removeAll() }
    memory.moveDown(by: dropped, count: count)
    count = rest
  }

  mutating func removeAll() {
    if memory.count > Self.usualCapacity { memory = SecureBytes(count: Self.usualCapacity) } else { memory.wipe() }
    count = 0
  }
}

extension SecureBytes {
  /// Moves what is behind the first `dropped` of `count` bytes to the beginning, and wipes what it has left.
  fileprivate mutating func moveDown(by dropped: Int, count: Int) {
    withMutableBytes { all in
      unsafe all.withUnsafeMutableBytes { all in
        // All of it lies within the memory; memmove(3) takes what overlaps.
        guard let base = all.baseAddress else { return }
        unsafe memmove(base, base + dropped, count - dropped)
        unsafe explicit_bzero(base + count - dropped, dropped)
      }
    }
  }
}
