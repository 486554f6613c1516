internal import Glibc

/// Growing memory for a frame, a typed password or a fetched value. The buffer cannot be copied, and wipes itself.
///
/// The memory comes from `malloc` and is overwritten by `explicit_bzero` before it is freed: when the buffer grows (the
/// old, smaller memory), when it is shortened (the part cut off), and at the end of its life, on every path. The buffer
/// grows by doubling, so appending `n` bytes one by one moves fewer than `2n`.
///
/// Unlike the daemon's memory for keys, it is neither locked into RAM nor surrounded by guard pages. It costs one
/// allocation, so it can carry every message.
@safe public struct SecretBuffer: ~Copyable, @unchecked Sendable {
  /// The most bytes that ``removeAll()`` keeps allocated.
  private static let retainedCapacity = 64 << 10

  private var base: UnsafeMutableRawPointer?
  private var capacity: Int
  /// The number of bytes held.
  public private(set) var count = 0
  /// The number of bytes moved so far by growth and ``removeFirst(_:)``; tests use it to check that the work is linear.
  package private(set) var movedCount = 0

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

  /// Appends one byte.
  public mutating func append(_ byte: UInt8) {
    reserve(1)
    // `reserve` left at least one free byte after `count`.
    unsafe base.unsafelyUnwrapped.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  /// Appends a copy of `bytes`.
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

  /// Appends the UTF-8 of `text`. Not for secrets, because the `String` itself cannot be wiped.
  public mutating func append(utf8 text: String) {
    append(unsafe text.utf8.span.bytes)
  }

  /// Appends the bytes of a literal.
  public mutating func append(_ literal: StaticString) {
    // The literal lives as long as the program.
    append(
      unsafe RawSpan(
        _unsafeBytes: UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount)))
  }

  /// Appends `added` zero bytes and lets `body` fill them in place.
  public mutating func append<R: ~Copyable, E: Error>(
    count added: Int, initializingWith body: (inout MutableRawSpan) throws(E) -> R
  ) throws(E) -> R {
    reserve(added)
    // The free part after `count` is held exclusively for the call.
    let free = unsafe UnsafeMutableRawBufferPointer(
      start: base.map { unsafe $0.advanced(by: count) }, count: added)
    for index in free.indices { unsafe free[index] = 0 }
    count += added
    var bytes = unsafe MutableRawSpan(_unsafeBytes: free)
    return try body(&bytes)
  }

  /// Wipes and forgets everything. The memory is kept for reuse, unless it is larger than a usual message needs.
  public mutating func removeAll() {
    if capacity > Self.retainedCapacity { self = SecretBuffer() } else { truncate(to: 0) }
  }

  /// Keeps the first `newCount` bytes and wipes the rest. Nothing changes if `newCount` is not below the count.
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

  /// The first place of `byte` at or after `start`.
  package borrowing func firstIndex(of byte: UInt8, from start: Int) -> Int? {
    guard start < count, let base = unsafe base else { return nil }
    guard let found = unsafe memchr(base.advanced(by: start), Int32(byte), count - start) else { return nil }
    return unsafe found - base
  }

  /// Removes the first `dropped` bytes, moves the rest to the front, and wipes the bytes that are left behind.
  public mutating func removeFirst(_ dropped: Int) {
    precondition(dropped >= 0 && dropped <= count)
    guard dropped > 0, let base = unsafe base else { return }
    let kept = count - dropped
    unsafe memmove(base, base.advanced(by: dropped), kept)
    movedCount += kept
    truncate(to: kept)
  }

  /// Lends the bytes for reading. The bytes must not leave the closure.
  public borrowing func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    // The buffer outlives the call because `self` is borrowed for the whole call.
    let bytes = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: base, count: count))
    return try body(bytes)
  }

  /// Lends the bytes for writing. The bytes must not leave the closure.
  public mutating func withMutableBytes<R: ~Copyable, E: Error>(
    _ body: (inout MutableRawSpan) throws(E) -> R
  ) throws(E) -> R {
    // The access is unique: `self` is held exclusively for the call.
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
