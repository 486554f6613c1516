internal import CLinux
internal import Glibc
internal import VaultService

/// The clients that have connected and are not accepted yet.
///
/// In each round the loop accepts one client and does one piece of work. Many clients of one user may each ask for such
/// work. Another user's client behind them would wait for all of it before anybody knew which user it belongs to. So
/// waiting clients are also accepted between two pieces of work, and each then waits in its own user's line.
final class Backlog {
  /// The longest time for accepting clients in one go, in nanoseconds.
  private static let length: Int64 = 2_000_000

  private let now: () -> Int64
  private var sockets: [(descriptor: Int32, accept: (Int32) -> Void)] = []

  /// - Parameter now: nanoseconds of `CLOCK_MONOTONIC`.
  init(now: @escaping () -> Int64) { self.now = now }

  /// Adds a listening socket, on which the loop accepts as well.
  ///
  /// - Parameter accept: takes over a connection.
  func add(_ descriptor: Int32, _ accept: @escaping (Int32) -> Void) { sockets.append((descriptor, accept)) }

  /// Forgets all listening sockets, before they are closed.
  func close() { sockets = [] }

  /// Accepts waiting clients until the time is up. Call this only in turns: by then the loop has handled every event
  /// that it found, so no event is left of a client that is gone and whose descriptor's number a new client may get.
  func letIn() {
    let end = now() + Self.length
    for socket in sockets {
      while let connection = Self.next(at: socket.descriptor) {
        socket.accept(connection)
        if now() >= end { return }
      }
    }
  }

  /// The connection that has waited longest. Nil when there is none, and when it cannot be accepted: the loop gets the
  /// same error, and pauses (``AcceptPause``).
  private static func next(at socket: Int32) -> Int32? {
    let flags = Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let connection = accept4(socket, nil, nil, flags)
    return connection < 0 ? nil : connection
  }
}
