internal import CLinux
internal import Glibc
internal import Synchronization
internal import VaultClient
internal import VaultWire

/// The changes in a vault that a thread of its own hears of, for one that has other things to wait for as well.
final class WatchInbox: Sendable {
  /// What has come since the last look.
  struct News: Sendable {
    var changes = WatchQueue()
    /// The present state, the first event there is.
    var first: Vault.Event?
    /// True when the vault was found unlocked, as after an unlock or a restart.
    var isUnlocked = false
    /// The reason why no more will come.
    var end: ClientError?
  }

  /// Readable when there is something (eventfd(2)).
  let descriptor: Int32
  private let news = Mutex(News())
  private let hasBegun = Mutex(false)

  /// Begins to listen, and goes on until the program ends.
  init(_ location: SocketLocation, _ items: WatchedItems) throws(Failure) {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    guard descriptor >= 0 else { throw Failure(.io, "cannot make an eventfd: \(Output.describe(errno))") }
    do throws(ClientError) {
      try NewThread.run { [self] in
        var isFirst = true
        do {
          try Vault(at: location).monitor(patience: nil) { event in
            put { news in
              if isFirst { news.first = event }
              if event.state == "unlocked" { news.isUnlocked = true }
              if items.concerns(event) { news.changes.add(event) }
            }
            if isFirst { hasBegun.withLock { $0 = true } }
            isFirst = false
            return true
          }
          put { $0.end = .disconnected }
        } catch {
          put { $0.end = error as? ClientError ?? .disconnected }
        }
      }
    } catch {
      throw Failure(error)
    }
  }

  /// False while a change may happen that it does not hear of: before the first event.
  var isListening: Bool { hasBegun.withLock { $0 } }

  private func put(_ change: (inout News) -> Void) {
    news.withLock { change(&$0) }
    eventfd_write(descriptor, 1)
  }

  /// What has come since the last call.
  func take() -> News {
    var count: eventfd_t = 0
    _ = unsafe eventfd_read(descriptor, &count)
    return news.withLock { news in
      defer { news = News() }
      return news
    }
  }
}
