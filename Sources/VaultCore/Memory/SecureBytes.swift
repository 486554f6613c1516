internal import CSodium
internal import Synchronization

/// A fixed-size buffer for a key, a password or a plaintext value. The buffer is not copied implicitly, and it wipes
/// itself.
///
/// The memory comes from `sodium_malloc`: it has a guard page on either side, and is `mlock`ed and left out of core
/// dumps. It is wiped when the value's life ends, on every path; the memory of small buffers is then used again. A
/// failed `mlock` does not fail the allocation, but is counted in ``made``, so that the user can be told.
///
/// Each buffer takes at least four pages, so it is for keys and for the one value in hand. The pages stay readable
/// while the buffer lives: to seal them with `mprotect` between uses would cost two system calls and a TLB flush per
/// access, which the request path cannot afford, and the guard pages already stop an overrun.
@safe public struct SecureBytes: ~Copyable, @unchecked Sendable {
  /// The address of the first byte, for this file alone; libsodium gets it through ``lend(stack:_:)``.
  @usableFromInline let base: UnsafeMutableRawPointer
  /// The size in bytes.
  public let count: Int
  private let page: SecurePage

  /// Makes a buffer of `count` zero bytes.
  ///
  /// Traps only when the process is out of memory, as every Swift allocation does.
  public init(count: Int) {
    page = SecurePage.take(count: count)
    unsafe base = page.start(count: count)
    self.count = count
    if !page.isLocked { Self.unlockedCount.add(1, ordering: .relaxed) }
    Self.madeCount.add(1, ordering: .relaxed)
  }

  /// Makes a buffer of `count` bytes, which `body` fills in place.
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

  /// Unmaps the spare memory of small buffers that have ended. Until then that memory is kept, wiped, for new buffers.
  public static func unmapSpare() { SecurePage.unmapKept() }

  private static let madeCount = Atomic(0)
  private static let unlockedCount = Atomic(0)

  /// The number of buffers that this process has made so far, and the number of these that the kernel did not lock into
  /// RAM, usually for lack of room within RLIMIT_MEMLOCK. Unlocked buffers may reach the swap.
  public static var made: (total: Int, unlocked: Int) {
    // Loaded in this order so that `unlocked` never exceeds `total`.
    let unlocked = unlockedCount.load(ordering: .relaxed)
    return (madeCount.load(ordering: .relaxed), unlocked)
  }

  /// Lends the bytes for reading. The bytes must not leave the closure.
  @inlinable
  public borrowing func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    // The buffer outlives the call because `self` is borrowed for the whole call.
    let bytes = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: base, count: count))
    return try body(bytes)
  }

  /// Lends the bytes for writing. The bytes must not leave the closure.
  @inlinable
  public mutating func withMutableBytes<R: ~Copyable, E: Error>(
    _ body: (inout MutableRawSpan) throws(E) -> R
  ) throws(E) -> R {
    // The access is unique: `self` is held exclusively for the call.
    var bytes = unsafe MutableRawSpan(_unsafeBytes: UnsafeMutableRawBufferPointer(start: base, count: count))
    return try body(&bytes)
  }

  /// Lends the memory to libsodium, and then wipes the traces that libsodium has left: `stack` bytes of the stack below
  /// the caller, and the registers.
  ///
  /// There is no other way to the address, so no call with a key can leave part of the key behind.
  @unsafe borrowing func lend<R: ~Copyable>(
    stack: Int = Stack.call, _ body: (UnsafeMutablePointer<UInt8>) -> R
  ) -> R {
    defer { Stack.wipe(stack) }
    // The memory holds bytes and nothing else.
    return unsafe body(base.assumingMemoryBound(to: UInt8.self))
  }

  /// Sets all bytes to zero.
  public mutating func wipe() { unsafe sodium_memzero(base, count) }

  /// True if both buffers hold the same bytes; the time of the comparison depends only on the length.
  public borrowing func isEqual(to other: borrowing SecureBytes) -> Bool {
    guard count == other.count else { return false }
    return unsafe sodium_memcmp(base, other.base, count) == 0
  }
}
