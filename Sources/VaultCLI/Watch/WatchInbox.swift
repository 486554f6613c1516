internal import CLinux
internal import Glibc
internal import Synchronization
internal import VaultClient
internal import VaultWire

/// Collects the changes in a vault on a thread of its own, for a program that waits for other things as well.
final class WatchInbox: Sendable {
  /// The events since the last look.
  struct News: Sendable {
    var changes = WatchQueue()
    /// The names that may have another item since the last look.
    var others = ChangedNames()
    /// The place in the stream of the last event; nil if no event came, or from an older daemon.
    var cursor: String?
    /// The present state of the vault, which is the first event.
    var first: Vault.Event?
    /// True if the vault was found unlocked, as after an unlock or a restart.
    var isUnlocked = false
    /// The state of the vault that was heard of last; nil if no event told one.
    var state: String?
    /// The reason why no more events will come.
    var end: ClientError?
  }

  /// A descriptor that is readable if there is news (eventfd(2)).
  let descriptor: Int32
  private let news = Mutex(News())
  private let hasBegun = Mutex(false)

  /// Begins to listen, and continues until the program ends.
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
              if event.event == "state" { news.state = event.state }
              if items.concerns(event) {
                news.changes.add(event)
                news.others.add(event)
              }
              news.cursor = event.cursor
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

  /// False before the first event, because the inbox may miss a change until then.
  var isListening: Bool { hasBegun.withLock { $0 } }

  private func put(_ change: (inout News) -> Void) {
    news.withLock { change(&$0) }
    eventfd_write(descriptor, 1)
  }

  /// Takes the news since the last call.
  func take() -> News {
    var count: eventfd_t = 0
    _ = unsafe eventfd_read(descriptor, &count)
    return news.withLock { news in
      defer { news = News() }
      return news
    }
  }
}
