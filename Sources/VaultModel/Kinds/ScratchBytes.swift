internal import Glibc

/// A piece of memory for decoding a value in order to check it, wiped when it ends.
///
/// It is not locked in memory: the value it is decoded from is checked before it reaches the store, within one call.
@safe package struct ScratchBytes: ~Copyable {
  private let base: UnsafeMutableRawPointer
  private let capacity: Int
  /// The number of bytes that were put in.
  package private(set) var count = 0

  /// Makes room for `capacity` bytes.
  package init(capacity: Int) {
    // One byte at least: malloc(0) may answer NULL.
    guard let base = unsafe malloc(max(1, capacity)) else { preconditionFailure("out of memory") }
    unsafe self.base = base
    self.capacity = capacity
  }

  deinit {
    // Ours alone, allocated with at least `capacity` bytes.
    unsafe explicit_bzero(base, capacity)
    unsafe free(base)
  }

  /// Adds a byte; traps when there is no room left.
  package mutating func append(_ byte: UInt8) {
    precondition(count < capacity)
    unsafe base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  /// Lends the bytes; they must not leave the closure.
  package borrowing func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    // `self` is borrowed for the whole call, and the first `count` bytes were written.
    let bytes = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: base, count: count))
    return try body(bytes)
  }
}
