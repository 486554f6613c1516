internal import Glibc
internal import VaultCore
internal import VaultModel

/// Bytes that a client has sent and nobody has handled yet: they may hold a private key, or a passphrase.
struct FrameBuffer: ~Copyable {
  /// Enough for almost every request, and as much as costs no system call; a larger one has memory of its own until it is
  /// handled.
  private static let usualCapacity = 4080

  private var memory = SecureBytes(count: usualCapacity)
  /// The place of the first byte. What is handled is dropped without moving the rest: many small requests may come at
  /// once.
  private var start = 0
  private(set) var count = 0

  mutating func append(_ bytes: RawSpan) {
    let total = count + bytes.byteCount
    if total > memory.count {
      var larger = SecureBytes(count: max(total, 2 * memory.count))
      withBytes { old in larger.withMutableBytes { $0.copy(old) } }
      memory = larger
      start = 0
    } else if start + total > memory.count {
      memory.moveDown(by: start, count: start + count)
      start = 0
    }
    let end = start + count
    memory.withMutableBytes { $0.copy(bytes, at: end) }
    count = total
  }

  /// Lends what is there.
  borrowing func withBytes<R>(_ body: (RawSpan) -> R) -> R {
    memory.withBytes { body($0.extracting(start..<start + count)) }
  }

  /// Drops the first bytes, and wipes their place.
  mutating func removeFirst(_ dropped: Int) {
    guard dropped < count else { return removeAll() }
    memory.wipe(start..<start + dropped)
    (start, count) = (start + dropped, count - dropped)
  }

  mutating func removeAll() {
    if memory.count > Self.usualCapacity {
      memory = SecureBytes(count: Self.usualCapacity)
    } else {
      memory.wipe(start..<start + count)
    }
    (start, count) = (0, 0)
  }
}

extension SecureBytes {
  /// Wipes a part.
  fileprivate mutating func wipe(_ range: Range<Int>) {
    withMutableBytes { all in
      unsafe all.withUnsafeMutableBytes { all in
        // The part lies within the memory.
        guard let base = all.baseAddress else { return }
        unsafe explicit_bzero(base + range.lowerBound, range.count)
      }
    }
  }

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
