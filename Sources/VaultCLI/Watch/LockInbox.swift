internal import CLinux
internal import Glibc
internal import Synchronization
internal import VaultClient
internal import VaultWire

/// Listens for locks of a vault on a thread of its own, for a program that waits for other things as well.
final class LockInbox: Sendable {
  /// A descriptor that is readable after a lock, after the end of the daemon, and at the beginning if the vault is not
  /// unlocked (eventfd(2)).
  let descriptor: Int32
  private let isOver = Mutex(false)

  /// True once no further lock will be reported, as after the end of the daemon.
  var hasEnded: Bool { isOver.withLock { $0 } }

  /// Begins to listen, and continues until the program or the daemon ends. If the daemon refuses to report locks to
  /// this caller, the inbox stays silent.
  init(_ location: SocketLocation) throws(Failure) {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    guard descriptor >= 0 else { throw Failure(.io, "cannot make an eventfd: \(Output.describe(errno))") }
    do throws(ClientError) {
      try NewThread.run { [self] in
        var hasBegun = false
        do {
          try Vault(at: location).monitor(patience: .zero) { event in
            hasBegun = true
            if event.event == "state", event.state != "unlocked" { eventfd_write(descriptor, 1) }
            return true
          }
        } catch ClientError.fault where !hasBegun {
          return
        } catch {
          // The daemon has ended. If it hangs up at once, it must not be called in a tight loop.
          if !hasBegun { sleep(1) }
        }
        isOver.withLock { $0 = true }
        eventfd_write(descriptor, 1)
      }
    } catch {
      throw Failure(error)
    }
  }

  deinit { close(descriptor) }

  /// Forgets the locks up to now.
  func take() {
    var count: eventfd_t = 0
    _ = unsafe eventfd_read(descriptor, &count)
  }
}
