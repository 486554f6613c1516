internal import Glibc

/// Growable bytes for a frame, a typed password or a fetched value, which nobody else can copy and which wipe
/// themselves.
///
/// The memory comes from `malloc` and is overwritten by `explicit_bzero` before it goes back: when the buffer grows
/// (the old, smaller memory), when it is shortened (the part cut off), and at the end of its life, on every path.
/// Growth is by doubling, so appending `n` bytes one by one moves fewer than `2n`.
///
/// Unlike the daemon's key memory it is neither locked into RAM nor fenced by guard pages: it costs one allocation,
/// so it can carry every message.
@safe public struct SecretBuffer: ~Copyable, @unchecked Sendable {
  /// The most that ``removeAll()`` keeps allocated, in bytes.
  private static let retainedCapacity = 64 << 10

  private var base: UnsafeMutableRawPointer?
  private var capacity: Int
  /// The number of bytes held.
  public private(set) var count = 0
  /// The number of bytes that growth and ``removeFirst(_:)`` have moved so far; tests hold the work linear with it.
  internal private(set) var movedCount = 0

  /// Makes an empty buffer with room for `capacity` bytes.
  public init(capacity: Int = 0) {
    self.capacity = max(0, capacity)
    unsafe self.base = capacity > 0 ? SecretBuffer.allocate(capacity) : nil
  }

  /// Makes a buffer with a copy of `bytes`.
  public init(copying bytes: RawSpan) {
    self.init(capacity: bytes.byteCount)
    append(bytes)
  }

  deinit { unsafe SecretBuffer.release(base, wiping: capacity) }

  /// Makes room for `additional` more bytes, so that appending them moves nothing.
  @inline(__always) public mutating func reserve(_ additional: Int) {
    if additional > capacity - count { grow(by: additional) }
  }

  private mutating func grow(by additional: Int) {
    let larger = max(count + additional, 2 * capacity, 64)
    let memory = unsafe SecretBuffer.allocate(larger)
    if let base = unsafe base { unsafe memory.copyMemory(from: base, byteCount: count) }
    movedCount += count
    unsafe SecretBuffer.release(base, wiping: capacity)
    unsafe base = memory
    capacity = larger
  }

  /// Adds one byte.
  public mutating func append(_ byte: UInt8) {
    reserve(1)
    // `reserve` left at least one free byte behind `count`.
    unsafe base.unsafelyUnwrapped.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  /// Adds a copy of `bytes`.
  public mutating func append(_ bytes: RawSpan) {
    guard bytes.byteCount > 0 else { return }
    reserve(bytes.byteCount)
    // `reserve` left room for all of them, and nobody else can hold this memory.
    unsafe bytes.withUnsafeBytes { source in
      unsafe base.unsafelyUnwrapped.advanced(by: count)
        .copyMemory(from: source.baseAddress.unsafelyUnwrapped, byteCount: source.count)
    }
    count += bytes.byteCount
  }

  /// Adds the UTF-8 of `text`. The `String` itself cannot be wiped: not for secrets.
  public mutating func append(utf8 text: String) {
    append(unsafe text.utf8.span.bytes)
  }

  /// Adds the bytes of a literal.
  public mutating func append(_ literal: StaticString) {
    // The literal lives as long as the program.
    append(
      unsafe RawSpan(
        _unsafeBytes: UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount)))
  }

  /// Adds `added` zero bytes and lets `body` fill them in place.
  public mutating func append<R: ~Copyable, E: Error>(
    count added: Int, initializingWith body: (inout MutableRawSpan) throws(E) -> R
  ) throws(E) -> R {
    reserve(added)
    // The free part behind `count`, held exclusively for the call.
    let free = unsafe UnsafeMutableRawBufferPointer(
      start: base.map { unsafe $0.advanced(by: count) }, count: added)
    for index in free.indices { unsafe free[index] = 0 }
    count += added
    var bytes = unsafe MutableRawSpan(_unsafeBytes: free)
    return try body(&bytes)
  }

  /// Wipes and forgets everything. The memory stays for reuse, unless there is more of it than a usual message needs.
  public mutating func removeAll() {
    if capacity > Self.retainedCapacity { self = SecretBuffer() } else { truncate(to: 0) }
  }

  /// Keeps the first `newCount` bytes and wipes the rest. A longer `newCount` changes nothing.
  public mutating func truncate(to newCount: Int) {
    precondition(newCount >= 0)
    guard newCount < count, let base = unsafe base else { return }
    unsafe explicit_bzero(base.advanced(by: newCount), count - newCount)
    count = newCount
  }

  /// Overwrites `range` with zeros.
  public mutating func wipe(_ range: Range<Int>) {
    precondition(range.lowerBound >= 0 && range.upperBound <= count)
    if let base = unsafe base { unsafe explicit_bzero(base.advanced(by: range.lowerBound), range.count) }
  }

  /// The place where `byte` stands first at or after `start`.
  internal borrowing func firstIndex(of byte: UInt8, from start: Int) -> Int? {
    guard start < count, let base = unsafe base else { return nil }
    guard let found = unsafe memchr(base.advanced(by: start), Int32(byte), count - start) else { return nil }
    return unsafe found - base
  }

  /// Drops the first `dropped` bytes, moves the rest to the front and wipes what they leave behind.
  public mutating func removeFirst(_ dropped: Int) {
    precondition(dropped >= 0 && dropped <= count)
    guard dropped > 0, let base = unsafe base else { return }
    let kept = count - dropped
    unsafe memmove(base, base.advanced(by: dropped), kept)
    movedCount += kept
    truncate(to: kept)
  }

  /// Lends the bytes for reading. They must not leave the closure.
  public borrowing func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    // The buffer outlives the call because `self` is borrowed for all of it.
    let bytes = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: base, count: count))
    return try body(bytes)
  }

  /// Lends the bytes for writing. They must not leave the closure.
  public mutating func withMutableBytes<R: ~Copyable, E: Error>(
    _ body: (inout MutableRawSpan) throws(E) -> R
  ) throws(E) -> R {
    // Unique: `self` is held exclusively for the call.
    var bytes = unsafe MutableRawSpan(_unsafeBytes: UnsafeMutableRawBufferPointer(start: base, count: count))
    return try body(&bytes)
  }

  private static func allocate(_ size: Int) -> UnsafeMutableRawPointer {
    guard let memory = unsafe malloc(size) else { preconditionFailure("out of memory") }
    return unsafe memory
  }

  private static func release(_ memory: UnsafeMutableRawPointer?, wiping size: Int) {
    guard let memory = unsafe memory else { return }
    unsafe explicit_bzero(memory, size)
    unsafe free(memory)
  }
}
