internal import CSodium

// A long message in pieces. Each piece is sealed on its own, and none can be left out, moved or added: libsodium's
// `crypto_secretstream_xchacha20poly1305` (ChaCha20-Poly1305 with a nonce that advances from piece to piece; a tag
// within each piece marks the last one). The state at both ends contains a key, so it lives in ``SecureBytes``.

/// Seals the pieces of a stream.
public struct StreamSealer: ~Copyable, Sendable {
  /// The size of a key in bytes.
  public static let keyCount = 32
  /// The size of a stream's header in bytes.
  public static let headerCount = 24
  /// The number of bytes by which a sealed piece is longer than its plaintext.
  public static let overhead = 17

  private var state = SecureBytes(count: crypto_secretstream_xchacha20poly1305_statebytes())
  /// The header, which the opening side needs besides the key. Not secret.
  public let header: [UInt8]

  /// Begins a stream. `key` has 32 bytes and must serve this stream alone.
  public init(key: borrowing SecureBytes) {
    precondition(key.count == Self.keyCount, "a stream key has 32 bytes")
    var header = [UInt8](repeating: 0, count: Self.headerCount)
    unsafe state.lendState { state in
      // The call cannot fail.
      unsafe key.lend { key in _ = unsafe crypto_secretstream_xchacha20poly1305_init_push(state, &header, key) }
    }
    self.header = header
  }

  /// Seals the next piece into the beginning of `destination`, which must have room for the sealed piece, and returns
  /// the size of the sealed piece in bytes.
  public mutating func seal(
    _ plaintext: RawSpan, isLast: Bool, associatedData: RawSpan, into destination: inout MutableRawSpan
  ) -> Int {
    let count = plaintext.byteCount + Self.overhead
    precondition(destination.byteCount >= count, "no room for the sealed piece")
    let tag = isLast ? crypto_secretstream_xchacha20poly1305_tag_final() : 0
    unsafe destination.withUnsafeMutableBytes { out in
      unsafe plaintext.withUnsafeBytes { message in
        unsafe associatedData.withUnsafeBytes { extra in
          unsafe state.lendState { state in
            // The call cannot fail: a piece is far below the construction's limit of 256 GiB.
            _ = unsafe crypto_secretstream_xchacha20poly1305_push(
              state, out.baseAddress!.assumingMemoryBound(to: UInt8.self), nil,
              message.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(message.count),
              extra.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(extra.count), tag)
          }
        }
      }
    }
    return count
  }
}

/// Opens the pieces of a stream.
public struct StreamOpener: ~Copyable, Sendable {
  private var state = SecureBytes(count: crypto_secretstream_xchacha20poly1305_statebytes())

  /// Begins to open the stream that has this ``StreamSealer/header``.
  ///
  /// - Throws: ``CryptoError/malformed(_:)`` if the header has another size.
  public init(key: borrowing SecureBytes, header: [UInt8]) throws(CryptoError) {
    precondition(key.count == StreamSealer.keyCount, "a stream key has 32 bytes")
    guard header.count == StreamSealer.headerCount else { throw .malformed("stream header size") }
    unsafe state.lendState { state in
      // The call cannot fail; any 24 bytes are a header, of some stream.
      unsafe key.lend { key in _ = unsafe crypto_secretstream_xchacha20poly1305_init_pull(state, header, key) }
    }
  }

  /// Opens the next piece into the beginning of `destination`, and returns the size of the plaintext in bytes.
  ///
  /// - Parameter isLast: True if the piece must be the last of its stream; false if it must not be.
  /// - Throws: ``CryptoError/malformed(_:)`` for a size that does not fit; ``CryptoError/authenticationFailed`` if the
  ///   piece is not the one that was sealed at this place of the stream.
  public mutating func open(
    _ sealed: RawSpan, isLast: Bool, associatedData: RawSpan, into destination: inout MutableRawSpan
  ) throws(CryptoError) -> Int {
    let count = sealed.byteCount - StreamSealer.overhead
    guard count >= 0 else { throw .malformed("sealed piece is too short") }
    guard destination.byteCount >= count else { throw .malformed("sealed piece is too long") }
    var tag: UInt8 = 0
    let status = unsafe destination.withUnsafeMutableBytes { out in
      unsafe sealed.withUnsafeBytes { message in
        unsafe associatedData.withUnsafeBytes { extra in
          // `sealed` has at least `overhead` bytes, and `destination` has room for the plaintext.
          unsafe state.lendState { state in
            unsafe crypto_secretstream_xchacha20poly1305_pull(
              state, out.baseAddress?.assumingMemoryBound(to: UInt8.self), nil, &tag,
              message.baseAddress!.assumingMemoryBound(to: UInt8.self), UInt64(message.count),
              extra.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(extra.count))
          }
        }
      }
    }
    let expected = isLast ? crypto_secretstream_xchacha20poly1305_tag_final() : 0
    guard status == 0, tag == expected else { throw .authenticationFailed }
    return count
  }
}

extension SecureBytes {
  /// Lends the memory as the state of a stream. The state consists of bytes, so any memory is aligned for it.
  @unsafe fileprivate borrowing func lendState<R>(
    _ body: (UnsafeMutablePointer<crypto_secretstream_xchacha20poly1305_state>) -> R
  ) -> R {
    unsafe lend { memory in
      unsafe body(
        UnsafeMutableRawPointer(memory).assumingMemoryBound(to: crypto_secretstream_xchacha20poly1305_state.self))
    }
  }
}
