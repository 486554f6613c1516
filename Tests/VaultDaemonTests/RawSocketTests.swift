import Glibc
import Testing

@testable import VaultDaemon

@Suite("A socket that is waited for") struct RawSocketTests {
  /// Two ends that are connected; the second is the client's.
  private func pair(patience: Int32) throws -> (RawSocket, Int32) {
    var ends: [Int32] = [0, 0]
    try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
    return (try RawSocket(ends[0], patience: patience), ends[1])
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
