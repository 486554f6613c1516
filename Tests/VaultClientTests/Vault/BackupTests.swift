import Foundation
import Glibc
import Testing
import VaultBytes
import VaultWire

@testable import VaultClient

@Suite struct BackupTests {
  private static func block(_ bytes: [UInt8]) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) } + bytes
  }

  /// Makes a daemon that answers Backup with `size`, sends `bytes` and hangs up.
  private static func server(size: Int, _ bytes: [UInt8]) throws -> FakeServer {
    try FakeServer { peer, _ in
      guard try peer.read() != nil else { return }
      // One call sends both, so that the first blocks arrive together with the answer.
      peer.send(Array("{\"parameters\":{\"size\":\(size)}}".utf8) + [0] + bytes)
    }
  }

  /// Returns the bytes that a backup yields, and the error that ends it.
  private func outcome(size: Int, _ bytes: [UInt8]) throws -> (bytes: [UInt8], error: ClientError?) {
    let server = try Self.server(size: size, bytes)
    defer { server.close() }
    var all: [UInt8] = []
    let error = clientError {
      let size = try server.vault.backup(write: { part in
        let part = Span<UInt8>(_bytes: part)
        all += part.indices.map { part[$0] }
      })
      #expect(size == all.count)
    }
    return (all, error)
  }

  private static let end = block([])
  private static let done = Array(#"{"parameters":{}}"#.utf8) + [0]

  @Test("All blocks come in their order, also those that come with the answer") func whole() throws {
    let large = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
    let (bytes, error) = try outcome(
      size: 100_003, Self.block([1, 0, 2]) + Self.block(large) + Self.end + Self.done)
    #expect(error == nil)
    #expect(bytes == [1, 0, 2] + large)
  }

  @Test("Without the last word it is no backup, wherever it breaks off") func cut() throws {
    let bytes = Self.block([1, 0, 2]) + Self.end + Self.done
    for count in 0..<bytes.count {
      #expect(try outcome(size: 3, Array(bytes[..<count])).error == .disconnected, "\(count)")
    }
    #expect(try outcome(size: 3, bytes).error == nil)
  }

  @Test("An error as the last word is thrown, and fewer bytes than there should be are noticed") func wrongEnd() throws
  {
    let fault = Fault.locked(state: "locked", cause: "the machine goes to sleep")
    var writer = JSONWriter()
    writer.reply(fault)
    let word = writer.take().array
    #expect(try outcome(size: 3, Self.block([1, 0, 2]) + Self.end + word).error == .fault(fault))
    #expect(try isViolation(outcome(size: 4, Self.block([1, 0, 2]) + Self.end + Self.done).error))
    #expect(try isViolation(outcome(size: 3, [0, 0, 0, 0x7F]).error))
    #expect(try isViolation(outcome(size: 3, Self.end + Array("no JSON".utf8) + [0]).error))
  }

  @Test("A descriptor that can be read ends a backup for which the daemon lets it wait") func cancelled() throws {
    let server = try FakeServer { peer, _ in try peer.waitForEnd() }
    defer { server.close() }
    var ends: [Int32] = [0, 0]
    try #require(unsafe pipe(&ends) == 0)
    close(ends[1])
    defer { close(ends[0]) }
    let error = clientError { try server.vault.backup(cancellation: ends[0], write: { _ in }) }
    #expect(error == .fault(.cancelled))
  }

  @Test("What the writer throws ends the backup") func writerFails() throws {
    struct NoRoom: Error {}
    let server = try Self.server(size: 3, Self.block([1, 0, 2]) + Self.end + Self.done)
    defer { server.close() }
    #expect(throws: NoRoom.self) { try server.vault.backup(write: { _ in throw NoRoom() }) }
  }

  @Test("A daemon that refuses a restore in the middle is heard, though it reads no more") func refused() throws {
    let over = Gate()
    let server = try FakeServer { peer, _ in
      guard try peer.read() != nil else { return }
      peer.reply()
      peer.send(#"{"error":"io.vaultd.Vault.InvalidBackup","parameters":{"reason":"r"}}"#)
      over.wait()
    }
    defer { server.close() }
    let error = clientError {
      // The input never ends by itself, so it is longer than any socket's buffer.
      _ = try server.vault.restore(header: [1, 2, 3], read: { $0.byteCount }, answer: { _ in nil })
    }
    #expect(error == .fault(.invalidBackup(reason: "r")))
    over.open()
    #expect(server.heard == ["Restore+{header:AQID}"])
  }
}
