internal import CLinux
internal import Glibc
internal import VaultService

/// A helper of a separate unit, on which the daemon hangs up. The helper ends because of that, but the daemon cannot
/// reap it.
///
/// A process gives its memory back before it closes its files (`do_exit` of Linux), so the helper's memory is gone once
/// its end of the connection is closed. This object keeps itself alive until then.
final class HungUpHelper {
  private let connection: Int32
  private let watcher: DescriptorWatcher
  private let ends: HelperEnds

  /// Takes over the connection, which must not block and must not be watched any more.
  init(_ connection: Int32, _ watcher: DescriptorWatcher, _ ends: HelperEnds) {
    self.connection = connection
    self.watcher = watcher
    self.ends = ends
    ends.isEnding(self)
    // The daemon sends nothing more, and ignores everything that the helper still sends.
    shutdown(connection, Int32(SHUT_WR))
    do throws(SystemError) { try watcher.watch(connection) { self.drain() } } catch { end() }
  }

  private func drain() {
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe read(connection, &chunk, chunk.count)
      if count > 0 || count < 0 && errno == EINTR { continue }
      if count < 0 && errno == EAGAIN { return }
      return end()
    }
  }

  private func end() {
    watcher.forget(connection)
    close(connection)
    ends.isGone(self)
  }
}
