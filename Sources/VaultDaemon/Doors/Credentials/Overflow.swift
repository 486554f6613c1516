internal import NIOCore

/// The reply that keeps a unit from starting, when there is no value or its rest cannot be sent.
///
/// The service manager's protocol has no error: a unit starts with the bytes that were sent until the end, even with
/// none. The manager treats more than 1 MiB as a mistake, and does not start the unit (`CREDENTIALS_TOTAL_SIZE_MAX` in
/// systemd's exec-credential.h).
enum Overflow {
  /// The most bytes of a credential and its name together.
  static let limit = 1 << 20

  /// The bytes with which no unit starts. All replies share this buffer, because copies of a buffer share its memory.
  static let buffer = ByteBuffer(repeating: UInt8(ascii: "-"), count: limit + 1)
}
