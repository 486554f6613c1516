import Glibc

/// Secure memory for the one plaintext in hand, used again and again: making it costs system calls.
public final class Scratch {
  /// Enough for almost every value and head.
  public static let usualCapacity = 16 << 10
  private var memory: SecureBytes
  private var used = 0

  public init() { memory = SecureBytes(count: Self.usualCapacity) }

  /// Opens `sealed`, and keeps the plaintext in place of what was there.
  public func open(
    _ sealed: RawSpan, key: borrowing SecureBytes, associatedData: AssociatedData
  ) throws(CryptoError) {
    makeRoom(for: sealed.byteCount - AEAD.overhead)
    used = try memory.withMutableBytes { (bytes: inout MutableRawSpan) throws(CryptoError) in
      try AEAD.open(sealed, key: key, associatedData: associatedData, into: &bytes)
    }
  }

  /// Opens what was sealed to `publicKey`, whose secret key this is, and keeps the plaintext in place of what was there.
  public func open(
    _ sealed: RawSpan, publicKey: [UInt8], secretKey: borrowing SecureBytes
  ) throws(CryptoError) {
    makeRoom(for: sealed.byteCount - SealedBox.overhead)
    used = try memory.withMutableBytes { (bytes: inout MutableRawSpan) throws(CryptoError) in
      try SealedBox.open(sealed, publicKey: publicKey, secretKey: secretKey, into: &bytes)
    }
  }

  /// Has `body` write `count` bytes in place of what was there.
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

  /// Wipes what was written, and gives back what it has grown by.
  public func empty() {
    wipe()
    if memory.count > Self.usualCapacity { memory = SecureBytes(count: Self.usualCapacity) }
  }

  /// Zeroes what was written, and no more than that.
  public func wipe() {
    guard used > 0 else { return }
    memory.withMutableBytes { all in
      // The buffer is larger than nothing, so it has an address, and `used` bytes of it were written.
      unsafe all.withUnsafeMutableBytes { unsafe explicit_bzero($0.baseAddress!, used) }
    }
    used = 0
  }
}
