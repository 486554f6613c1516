internal import Glibc

/// Temporary memory into which a private key is decoded for a check, wiped at the end of its life.
///
/// The memory has its own pages, locked into RAM if RLIMIT_MEMLOCK leaves room for them, and left out of core dumps.
@safe package struct ScratchBytes: ~Copyable {
  private let base: UnsafeMutableRawPointer
  private let capacity: Int
  /// The number of bytes added so far.
  package private(set) var count = 0

  /// Makes room for `capacity` bytes.
  package init(capacity: Int) {
    // At least one byte, because an empty mapping is not possible.
    let mapped = unsafe mmap(nil, max(1, capacity), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let base = unsafe mapped, unsafe base != MAP_FAILED else { preconditionFailure("out of memory") }
    unsafe mlock(base, max(1, capacity))
    unsafe madvise(base, max(1, capacity), MADV_DONTDUMP)
    unsafe self.base = base
    self.capacity = capacity
  }

  deinit {
    // The mapping belongs to this value alone, and has at least `capacity` bytes.
    unsafe explicit_bzero(base, capacity)
    unsafe munmap(base, max(1, capacity))
  }

  /// Adds a byte; traps if there is no room left.
  package mutating func append(_ byte: UInt8) {
    precondition(count < capacity)
    unsafe base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  /// Lends the bytes. The bytes must not leave the closure.
  package borrowing func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    // `self` is borrowed for the whole call, and the first `count` bytes were written.
    let bytes = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: base, count: count))
    return try body(bytes)
  }
}
