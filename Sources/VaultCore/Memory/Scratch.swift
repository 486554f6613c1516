import Glibc

/// Reusable secure memory for the one plaintext in hand, because each new buffer costs system calls.
public final class Scratch {
  /// The capacity in bytes that suffices for almost every value and head.
  public static let usualCapacity = 16 << 10
  private var memory: SecureBytes
  private var used = 0

  public init() { memory = SecureBytes(count: Self.usualCapacity) }

  /// Opens `sealed` and replaces the content with the plaintext.
  public func open(
    _ sealed: RawSpan, key: borrowing SecureBytes, associatedData: AssociatedData
  ) throws(CryptoError) {
    makeRoom(for: sealed.byteCount - AEAD.overhead)
    used = try memory.withMutableBytes { (bytes: inout MutableRawSpan) throws(CryptoError) in
      try AEAD.open(sealed, key: key, associatedData: associatedData, into: &bytes)
    }
  }

  /// Opens a box sealed to `publicKey`, which belongs to `secretKey`, and replaces the content with the plaintext.
  public func open(
    _ sealed: RawSpan, publicKey: [UInt8], secretKey: borrowing SecureBytes
  ) throws(CryptoError) {
    makeRoom(for: sealed.byteCount - SealedBox.overhead)
    used = try memory.withMutableBytes { (bytes: inout MutableRawSpan) throws(CryptoError) in
      try SealedBox.open(sealed, publicKey: publicKey, secretKey: secretKey, into: &bytes)
    }
  }

  /// Replaces the content with `count` bytes that `body` writes.
  public func fill<R>(count: Int, _ body: (inout MutableRawSpan) -> R) -> R {
    makeRoom(for: count)
    used = count
    return memory.withMutableBytes { all in
      unsafe all.withUnsafeMutableBytes { bytes in
        // There is room for them, and the span is unique for the call.
        var part = unsafe MutableRawSpan(_unsafeBytes: UnsafeMutableRawBufferPointer(rebasing: bytes[..<count]))
        return body(&part)
      }
    }
  }

  private func makeRoom(for count: Int) {
    wipe()
    if count > memory.count { memory = SecureBytes(count: count) }
  }

  /// Lends the content.
  public func withBytes<R: ~Copyable, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try memory.withBytes { (all: RawSpan) throws(E) in try body(all.extracting(first: used)) }
  }

  /// Wipes the content, and frees memory beyond ``usualCapacity``.
  public func empty() {
    wipe()
    if memory.count > Self.usualCapacity { memory = SecureBytes(count: Self.usualCapacity) }
  }

  /// Zeroes the bytes of the content, and only those.
  public func wipe() {
    guard used > 0 else { return }
    memory.withMutableBytes { all in
      // The buffer is not empty, so it has an address, and `used` of its bytes were written.
      unsafe all.withUnsafeMutableBytes { unsafe explicit_bzero($0.baseAddress!, used) }
    }
    used = 0
  }
}
