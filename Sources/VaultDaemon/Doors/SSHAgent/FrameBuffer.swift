internal import Glibc
internal import VaultBytes
internal import VaultCore
internal import VaultModel

/// Bytes that a client has sent and nobody has handled yet. They may contain a private key or a passphrase.
struct FrameBuffer: ~Copyable {
  /// The usual capacity: enough for almost every request, and small enough to need no system call. A larger request has
  /// separate memory until it is handled.
  private static let usualCapacity = 4080

  /// Empty until the first bytes come.
  private var memory = SecureBytes(count: 0)
  /// The offset of the first byte. Handled bytes are dropped without moving the rest, because many small requests may
  /// come at once.
  private var start = 0
  private(set) var count = 0

  mutating func append(_ bytes: RawSpan) {
    let total = count + bytes.byteCount
    if total > memory.count {
      var larger = SecureBytes(count: max(total, 2 * memory.count, Self.usualCapacity))
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

  /// Lends the bytes.
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
  /// Wipes the bytes of `range`.
  fileprivate mutating func wipe(_ range: Range<Int>) {
    withMutableBytes { all in
      unsafe all.withUnsafeMutableBytes { all in
        // The part lies within the memory.
        guard let base = all.baseAddress else { return }
        unsafe explicit_bzero(base + range.lowerBound, range.count)
      }
    }
  }

  /// Moves the bytes after the first `dropped` of `count` bytes to the beginning, and wipes the place that they leave.
  fileprivate mutating func moveDown(by dropped: Int, count: Int) {
    withMutableBytes { all in
      unsafe all.withUnsafeMutableBytes { all in
        // Everything lies within the memory; memmove(3) allows overlap.
        guard let base = all.baseAddress else { return }
        unsafe memmove(base, base + dropped, count - dropped)
        unsafe explicit_bzero(base + count - dropped, dropped)
      }
    }
  }
}
