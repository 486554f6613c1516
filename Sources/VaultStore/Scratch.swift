import Glibc
import VaultCore

/// Secure memory for the one plaintext in hand, used again and again: making it costs system calls.
final class Scratch {
  /// Enough for almost every value and head.
  static let usualCapacity = 16 << 10
  private var memory: SecureBytes
  private var used = 0

  init() { memory = SecureBytes(count: Self.usualCapacity) }

  /// Whether it has grown, and so is not worth keeping.
  var isOversized: Bool { memory.count > Self.usualCapacity }

  /// Opens `sealed`, and keeps the plaintext in place of what was there.
  func open(
    _ sealed: RawSpan, key: borrowing SecureBytes, associatedData: AssociatedData
  ) throws(CryptoError) {
    makeRoom(for: sealed.byteCount - AEAD.overhead)
    used = try memory.withMutableBytes { (bytes: inout MutableRawSpan) throws(CryptoError) in
      try AEAD.open(sealed, key: key, associatedData: associatedData, into: &bytes)
    }
  }

  /// Puts `count` bytes in place of what was there; `body` writes that many from the beginning.
  func fill(count: Int, _ body: (inout MutableRawSpan) -> Void) {
    makeRoom(for: count)
    used = count
    memory.withMutableBytes(body)
  }

  private func makeRoom(for count: Int) {
    wipe()
    if count > memory.count { memory = SecureBytes(count: count) }
  }

  /// Lends the content.
  func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try memory.withBytes { (all: RawSpan) throws(E) in try body(all.extracting(first: used)) }
  }

  /// Zeroes what was written, and no more than that.
  func wipe() {
    guard used > 0 else { return }
    memory.withMutableBytes { all in
      // The buffer is larger than nothing, so it has an address, and `used` bytes of it were written.
      unsafe all.withUnsafeMutableBytes { unsafe explicit_bzero($0.baseAddress!, used) }
    }
    used = 0
  }
}
