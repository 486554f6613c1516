internal import Glibc

/// A file descriptor that closes itself.
struct Descriptor: ~Copyable {
  let number: Int32

  /// Takes over the result of a system call.
  ///
  /// - Throws: ``ClientError/system(_:errno:)`` when the call failed.
  init(_ call: String, _ result: Int32) throws(ClientError) {
    guard result >= 0 else { throw .system(call, errno: errno) }
    number = result
  }

  deinit { close(number) }
}
