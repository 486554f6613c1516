import CLinux
import Glibc

/// Two sockets that are connected to each other.
public enum SocketPair {
  /// Makes two connected sockets, which the caller must close.
  ///
  /// - Throws: ``SandboxError`` with errno.
  public static func make() throws -> (Int32, Int32) { try make(SOCK_STREAM) }

  /// Makes two connected sockets of a type of socket(2).
  static func make(_ type: __socket_type) throws -> (Int32, Int32) {
    var ends: [Int32] = [0, 0]
    guard unsafe socketpair(AF_UNIX, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw SandboxError("socketpair: \(errno)")
    }
    return (ends[0], ends[1])
  }
}
