internal import NIOCore

/// What stands in a reply where there is no value, or no more of one.
///
/// The service manager's protocol has no error: it starts a unit with whatever was sent until the end, and be it nothing. More
/// than 1 MiB it takes for a mistake, and does not start the unit (`CREDENTIALS_TOTAL_SIZE_MAX` in systemd's exec-credential.h).
enum Overflow {
  /// The most bytes of a credential and its name together.
  static let limit = 1 << 20

  /// The reply that no unit is started with: one for all, because the memory of a buffer is shared by its copies.
  static let buffer = ByteBuffer(repeating: UInt8(ascii: "-"), count: limit + 1)
}
