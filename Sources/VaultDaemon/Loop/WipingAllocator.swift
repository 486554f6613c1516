internal import CLinux
internal import Glibc
@_spi(CustomByteBufferAllocator) internal import NIOCore

/// An allocator that wipes memory before it goes back to malloc, because NIO's buffers carry secrets.
///
/// A plain `ByteBuffer` leaves copies behind when it grows, when its write is done and when its channel closes. With
/// this allocator on the child channels, no copy remains.
enum WipingAllocator {
  static let allocator = unsafe ByteBufferAllocator(
    allocate: { unsafe malloc($0) },
    reallocate: { old, oldSize, newSize in
      guard let old = unsafe old else { return unsafe malloc(newSize) }
      guard let new = unsafe malloc(newSize) else { return nil }
      unsafe memcpy(new, old, min(oldSize, newSize))
      unsafe WipingAllocator.wipe(old)
      return unsafe new
    },
    deallocate: { unsafe WipingAllocator.wipe($0) },
    copy: { target, source, count in unsafe memcpy(target, source, count) })

  private static func wipe(_ memory: UnsafeMutableRawPointer) {
    unsafe explicit_bzero(memory, malloc_usable_size(memory))
    unsafe free(memory)
  }

  /// Wipes the readable bytes of a buffer that was read from a socket, in their own storage.
  ///
  /// The receive pool holds the same storage and would keep the bytes. The ordinary mutable access copies shared
  /// storage first, and would wipe only the copy.
  static func wipeInPlace(_ buffer: ByteBuffer) {
    unsafe buffer.withUnsafeReadableBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      unsafe explicit_bzero(UnsafeMutableRawPointer(mutating: start), bytes.count)
    }
  }
}
