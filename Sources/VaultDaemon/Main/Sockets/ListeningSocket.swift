internal import CLinux
internal import Glibc
internal import VaultService

/// A socket that accepts connections.
struct ListeningSocket {
  let descriptor: Int32

  /// Binds all of these paths, or none.
  static func bound(to paths: [String]) throws(SystemError) -> [ListeningSocket] {
    var sockets: [ListeningSocket] = []
    do throws(SystemError) {
      for path in paths { sockets.append(try bound(to: path)) }
      return sockets
    } catch {
      for socket in sockets { close(socket.descriptor) }
      throw error
    }
  }

  /// Binds `path` with mode 0700 and listens.
  static func bound(to path: String) throws(SystemError) -> ListeningSocket {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let room = MemoryLayout.size(ofValue: address.sun_path)
    // The terminating NUL must fit, too.
    guard path.utf8.count < room else { throw SystemError(call: "socket path \(path)", code: ENAMETOOLONG) }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    let descriptor = try SystemError.check(
      "socket", socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0))
    // The umask is 0077, so the socket never exists with a wider mode.
    let bound = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    do {
      try SystemError.check("bind \(path)", bound)
      try SystemError.check("listen \(path)", listen(descriptor, 128))
    } catch {
      close(descriptor)
      throw error
    }
    return ListeningSocket(descriptor: descriptor)
  }
}
