internal import CLinux
internal import Glibc

/// The name of a Unix socket, as getsockname(2) or getpeername(2) returns it.
enum SocketName {
  /// The path that a socket is bound to; nil for a socket without a name or with an abstract one.
  static func path(of descriptor: Int32) -> String? {
    guard let name = unsafe bytes({ unsafe getsockname(descriptor, $0, $1) }), name.first != 0 else { return nil }
    return String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// The bytes after the address's family, which begin with a NUL for an abstract name; nil when there are none.
  static func bytes(
    _ ask: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
  ) -> [UInt8]? {
    var address = sockaddr_un()
    var count = socklen_t(MemoryLayout<sockaddr_un>.size)
    // The variable is valid for the call, which writes no more than its size.
    let status = unsafe withUnsafeMutablePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe ask($0, &count) }
    }
    let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
    guard status == 0, Int(count) > start, Int(count) <= MemoryLayout<sockaddr_un>.size else { return nil }
    return unsafe withUnsafeBytes(of: &address) { unsafe Array($0[start..<Int(count)]) }
  }

  /// The most bytes of a name: a path needs one more for its NUL.
  static let longest = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

  /// Connects to the socket with a name, an abstract one if it begins with a NUL; nil when nobody listens there. The
  /// caller must close the descriptor. This never waits.
  static func connected(to name: [UInt8]) -> Int32? {
    guard name.count <= longest else { return nil }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
    let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
    // A path ends with its NUL; an abstract name has no terminator.
    let count = start + name.count + (name.first == 0 ? 0 : 1)
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    let status = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(count))
      }
    }
    if status == 0 { return descriptor }
    close(descriptor)
    return nil
  }
}
