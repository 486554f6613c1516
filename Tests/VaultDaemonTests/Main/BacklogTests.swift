import CLinux
import Glibc
import Testing
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("Clients that are not accepted yet") struct BacklogTests {
  private static func connected(to path: String) throws -> Int32 {
    let client = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    try #require(unsafe vault_connect_unix(client, path) == 0)
    return client
  }

  @Test("all of them are let in at once, in their order, for as long as there is time") func letIn() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let path = sandbox.root + "/door"
    let listening = try ListeningSocket.bound(to: path)
    defer { close(listening.descriptor) }
    var now: Int64 = 0
    var accepted: [Int32] = []
    let backlog = Backlog { now }
    backlog.add(listening.descriptor) {
      accepted.append($0)
      now += 100_000
    }
    backlog.letIn()
    #expect(accepted.isEmpty)
    let clients = try (0..<50).map { _ in try Self.connected(to: path) }
    defer { for descriptor in clients + accepted { close(descriptor) } }
    backlog.letIn()
    #expect(accepted.count == 20)
    for _ in 0..<2 { backlog.letIn() }
    #expect(accepted.count == 50)
    for (client, connection) in zip(clients, accepted) {
      var byte: UInt8 = 1
      #expect(unsafe write(client, &byte, 1) == 1 && read(connection, &byte, 1) == 1)
    }
    backlog.close()
  }

  @Test("a turn lets them in first, and after each work that is no answer") func turns() {
    var now: Int64 = 0
    var done: [String] = []
    let turns = Turns(now: { now }, ask: {})
    turns.letIn = { done.append("in") }
    let line = Line(of: 1)
    for length in [100_000, 2_000_000, 100_000, 2_000_000] as [Int64] {
      turns.wait(line) {
        now += length
        done.append("\(length / 1000)")
      }
    }
    turns.turn()
    #expect(done == ["in", "100", "2000", "in", "100", "2000", "in"])
  }
}
