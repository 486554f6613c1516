internal import CSodium
internal import Synchronization

/// A fixed-size buffer for a key, a password or a plaintext value, which nobody else can copy and which wipes itself.
///
/// The memory comes from `sodium_malloc`: a guard page on either side, `mlock`ed and left out of core dumps. It is wiped when
/// the value ends its life, on every path; small buffers then serve again. A failed `mlock` does not fail the allocation, but
/// is counted in ``made``, for a user to be told.
///
/// Each buffer takes four pages at least, so it is for keys and for the one value in hand. The pages stay readable while it
/// lives: sealing them with `mprotect` between uses costs two system calls and a TLB flush per access, which the request path
/// cannot afford, and the guard pages already stop an overrun.
@safe public struct SecureBytes: ~Copyable, @unchecked Sendable {
  /// For this file alone; libsodium gets it through ``lend(stack:_:)``.
  @usableFromInline let base: UnsafeMutableRawPointer
  /// The size in bytes.
  public let count: Int
  private let page: SecurePage

  /// Makes `count` zero bytes.
  ///
  /// Traps only when the process is out of memory, as every Swift allocation does.
  public init(count: Int) {
    page = SecurePage.take(count: count)
    unsafe base = page.start(count: count)
    self.count = count
    if !page.isLocked { Self.unlockedCount.add(1, ordering: .relaxed) }
    Self.madeCount.add(1, ordering: .relaxed)
  }

  /// Makes `count` bytes and lets `body` fill them in place.
  public init<E: Error>(count: Int, initializingWith body: (inout MutableRawSpan) throws(E) -> Void) throws(E) {
    self.init(count: count)
    try self.withMutableBytes(body)
  }

  /// Makes a buffer with a copy of `bytes`.
  public init(copying bytes: RawSpan) {
    self.init(count: bytes.byteCount)
    unsafe bytes.withUnsafeBytes { source in
      if let start = source.baseAddress { unsafe base.copyMemory(from: start, byteCount: source.count) }
    }
    Stack.wipeRegisters()
  }

  deinit { page.giveBack(count: count) }

  /// Unmaps the memory of small buffers that have ended, which is wiped and kept for others until then.
  public static func unmapSpare() { SecurePage.unmapKept() }

  private static let madeCount = Atomic(0)
  private static let unlockedCount = Atomic(0)

  /// The number of buffers that this process has made so far, and of those which the kernel did not lock into RAM: for
  /// want of room within RLIMIT_MEMLOCK, as a rule. These may reach the swap.
  public static var made: (total: Int, unlocked: Int) {
    // In this order, so that there are never more of them than of all.
    let unlocked = unlockedCount.load(ordering: .relaxed)
    return (madeCount.load(ordering: .relaxed), unlocked)
  }

  /// Lends the bytes for reading. They must not leave the closure.
  @inlinable
  public borrowing func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    // The buffer outlives the call because `self` is borrowed for all of it.
    let bytes = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: base, count: count))
    return try body(bytes)
  }

  /// Lends the bytes for writing. They must not leave the closure.
  @inlinable
  public mutating func withMutableBytes<R: ~Copyable, E: Error>(
    _ body: (inout MutableRawSpan) throws(E) -> R
  ) throws(E) -> R {
    // Unique: `self` is held exclusively for the call.
    var bytes = unsafe MutableRawSpan(_unsafeBytes: UnsafeMutableRawBufferPointer(start: base, count: count))
    return try body(&bytes)
  }

  /// Lends the memory to libsodium, and then wipes what that has left of it: of the stack below the caller, as many bytes
  /// as are given, and the registers.
  ///
  /// There is no other way to the address, so that no call with a key can leave something of the key behind.
  @unsafe borrowing func lend<R: ~Copyable>(
    stack: Int = Stack.call, _ body: (UnsafeMutablePointer<UInt8>) -> R
  ) -> R {
    defer { Stack.wipe(stack) }
    // Bytes, and nothing else is ever stored there.
    return unsafe body(base.assumingMemoryBound(to: UInt8.self))
  }

  /// Makes all bytes zero.
  public mutating func wipe() { unsafe sodium_memzero(base, count) }

  /// True when both buffers hold the same bytes, compared in time that depends on the length alone.
  public borrowing func isEqual(to other: borrowing SecureBytes) -> Bool {
    guard count == other.count else { return false }
    return unsafe sodium_memcmp(base, other.base, count) == 0
  }
}
