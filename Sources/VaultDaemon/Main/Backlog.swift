internal import CLinux
internal import Glibc
internal import VaultService

/// The clients that have connected and are not accepted yet.
///
/// The loop accepts one client in each of its rounds, and does a work in each, too. Behind many clients of one user,
/// each of whom asks for such a work, another user's client would wait for all of these works before anybody knew whose
/// it is. So those who wait are accepted between works as well, and each then waits in its own user's line.
final class Backlog {
  /// The time for which clients are accepted at a time, in nanoseconds.
  private static let length: Int64 = 2_000_000

  private let now: () -> Int64
  private var sockets: [(descriptor: Int32, accept: (Int32) -> Void)] = []

  /// - Parameter now: `CLOCK_MONOTONIC`, nanoseconds.
  init(now: @escaping () -> Int64) { self.now = now }

  /// Adds a listening socket, which the loop accepts on as well.
  ///
  /// - Parameter accept: takes over a connection.
  func add(_ descriptor: Int32, _ accept: @escaping (Int32) -> Void) { sockets.append((descriptor, accept)) }

  /// Forgets all of them, before their sockets are closed.
  func close() { sockets = [] }

  /// Accepts who waits, until the time is up. Call in turns alone: there the loop has looked at all that it has met,
  /// and a client that is gone is not one of these.
  func letIn() {
    let end = now() + Self.length
    for socket in sockets {
      while let connection = Self.next(at: socket.descriptor) {
        socket.accept(connection)
        if now() >= end { return }
      }
    }
  }

  /// The connection that has waited longest; nil where there is none, and where it cannot be taken: the loop meets the
  /// same error, and pauses (``AcceptPause``).
  private static func next(at socket: Int32) -> Int32? {
    let flags = Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let connection = accept4(socket, nil, nil, flags)
    return connection < 0 ? nil : connection
  }
}
