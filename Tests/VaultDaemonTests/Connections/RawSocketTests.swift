import Glibc
import Synchronization
import Testing
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("A socket that is waited for") struct RawSocketTests {
  /// Makes two connected ends; the second is the client's.
  private func pair(patience: Int32) throws -> (RawSocket, Int32) {
    let (own, client) = try SocketPair.make()
    return (try RawSocket(own, of: nil, patience: patience), client)
  }

  private func write(_ bytes: [UInt8], to client: Int32) throws {
    let count = unsafe Glibc.write(client, bytes, bytes.count)
    try #require(count == bytes.count)
  }

  private func send(_ socket: RawSocket, _ count: Int, from start: inout Int) throws(RawSocket.Problem) {
    let bytes = [UInt8](repeating: 1, count: count)
    try socket.send(unsafe bytes.span.bytes, from: &start)
  }

  private func receive(_ socket: RawSocket, _ count: Int) throws(RawSocket.Problem) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var span = bytes.mutableSpan
    var room = unsafe span.mutableBytes
    try socket.receive(into: &room)
    return bytes
  }

  @Test("a client that neither reads nor writes is given up on") func silent() throws {
    let (socket, client) = try pair(patience: 1)
    defer { close(client) }
    var start = 0
    #expect(throws: RawSocket.Problem.silent) { try send(socket, 8 << 20, from: &start) }
    #expect(start > 0 && start < 8 << 20)
    #expect(throws: RawSocket.Problem.silent) { _ = try receive(socket, 1) }
  }

  @Test("a client that closes its side is gone, in the middle and at the end") func gone() throws {
    let (socket, client) = try pair(patience: 60_000)
    try write([1, 2, 3], to: client)
    #expect(try receive(socket, 2) == [1, 2])
    close(client)
    #expect(throws: RawSocket.Problem.gone) { _ = try receive(socket, 2) }
    #expect(try socket.isAtEnd())
    var start = 0
    #expect(throws: RawSocket.Problem.gone) { try send(socket, 1, from: &start) }
  }

  @Test("a client that has finished sending still takes answers, and one that has closed its end does not")
  func departed() throws {
    let (socket, client) = try pair(patience: 60_000)
    #expect(socket.departure == nil)
    shutdown(client, Int32(SHUT_WR))
    #expect(socket.departure == nil)
    close(client)
    #expect(socket.departure == .gone)
  }

  /// A clock that advances by a second at each reading.
  private final class Seconds: Sendable {
    private let count = Atomic<Int64>(-1)
    func next() -> Int64 { count.add(1, ordering: .relaxed).newValue * 1_000_000_000 }
  }

  @Test("a client that does not keep pace is given up on, however often it takes a little") func trickle() throws {
    let (socket, client) = try pair(patience: 60_000)
    defer { close(client) }
    let seconds = Seconds()
    // After ten readings of the clock, not one byte has been transferred.
    let limits = Pace.Limits(least: 1 << 30, grace: 10_000_000_000, total: 100_000_000_000)
    let pace = Pace(limits, now: seconds.next)
    try write([1, 2], to: client)
    var room: [UInt8] = [0, 0, 0]
    var span = room.mutableSpan
    var bytes = unsafe span.mutableBytes
    // The pace's clock runs ahead of the real one, so this wait is short.
    #expect(throws: RawSocket.Problem.tooSlow) { while true { _ = try pace.milliseconds(1) } }
    #expect(throws: RawSocket.Problem.tooSlow) { try socket.receive(into: &bytes, pace: pace) }
    var start = 0
    let much = [UInt8](repeating: 1, count: 8 << 20)
    #expect(throws: RawSocket.Problem.tooSlow) { try socket.send(unsafe much.span.bytes, from: &start, pace: pace) }
  }

  @Test("what went over buys time, up to the limit for all of it") func pace() throws {
    var now: Int64 = 0
    let pace = Pace(.init(least: 1000, grace: 10_000_000_000, total: 100_000_000_000), now: { now })
    #expect(try pace.milliseconds(60_000) == 10_001 && pace.milliseconds(5) == 5)
    now = 9_000_000_000
    #expect(try pace.milliseconds(60_000) == 1001)
    pace.move(20_000)
    now = 19_000_000_000
    #expect(try pace.milliseconds(60_000) == 1001)
    now = 20_000_000_000
    #expect(throws: RawSocket.Problem.tooSlow) { _ = try pace.milliseconds(60_000) }
    pace.move(1 << 40)
    now = 99_999_000_000
    #expect(try pace.milliseconds(60_000) == 2)
    now = 100_000_000_000
    #expect(throws: RawSocket.Problem.tooSlow) { _ = try pace.milliseconds(60_000) }
  }

  @Test("the socket is closed when nobody refers to it any more") func closed() throws {
    let client = try pair(patience: 60_000).1
    defer { close(client) }
    // A child that another test has just started may hold the other end for a moment.
    var polled = pollfd(fd: client, events: Int16(POLLIN), revents: 0)
    #expect(unsafe poll(&polled, 1, 30_000) == 1)
    var byte: UInt8 = 0
    #expect(unsafe recv(client, &byte, 1, Int32(MSG_DONTWAIT)) == 0)
  }

  @Test("bytes behind the end show") func notAtEnd() throws {
    let (socket, client) = try pair(patience: 60_000)
    defer { close(client) }
    try write([1], to: client)
    #expect(try !socket.isAtEnd())
  }

  @Test("calling it off ends all waiting, and a last word can still be sent") func calledOff() throws {
    let (socket, client) = try pair(patience: 60_000)
    defer { close(client) }
    socket.callOff()
    var start = 0
    #expect(throws: RawSocket.Problem.calledOff) { try send(socket, 1, from: &start) }
    #expect(start == 0)
    #expect(throws: RawSocket.Problem.calledOff) { _ = try receive(socket, 1) }
    let word: [UInt8] = [7]
    try socket.send(unsafe word.span.bytes, from: &start, heedsCallOff: false)
    var byte: UInt8 = 0
    #expect(unsafe read(client, &byte, 1) == 1 && byte == 7)
  }
}
