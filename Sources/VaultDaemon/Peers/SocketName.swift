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
}
