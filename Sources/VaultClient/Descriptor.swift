internal import Glibc

/// A file descriptor that closes itself.
struct Descriptor: ~Copyable {
  let number: Int32

  /// Takes over what a system call returned; throws ``ClientError/system(_:errno:)`` when that was a failure.
  init(_ call: String, _ result: Int32) throws(ClientError) {
    guard result >= 0 else { throw .system(call, errno: errno) }
    number = result
  }

  deinit { close(number) }
}
