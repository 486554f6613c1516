import CLinux
import Glibc
import Testing

/// A socket at which nobody answers, like that of a bus that hangs. It is closed together with this object.
final class SilentBus: Sendable {
  let address: String
  private let listener: Int32

  init(at path: String) throws {
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    (address, self.listener) = ("unix:path=\(path)", listener)
    let isBound = unsafe vault_bind_unix(listener, path) == 0
    try #require(isBound && listen(listener, 8) == 0)
  }

  deinit { close(listener) }
}
