import Foundation
import Testing
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("No user starves another", .enabled(if: Root.isAtHand, "needs root to be several users"))
struct SeveralUsersTests {
  private let one: UInt32 = 65533
  private let other: UInt32 = 65534

  private static let info = "org.varlink.service.GetInfo"

  /// The frames of 64 calls.
  private static func calls(_ call: String) -> [UInt8] { (0..<64).flatMap { _ in Array(call.utf8) + [0] } }

  /// Makes calls over a connection, one after another, and returns the number of those that were answered.
  private func answers(to client: WireClient, _ times: Int = 1) throws -> Int {
    try (0..<times).count { _ in try client.call(Self.info).string("product") == "vault" }
  }

  @Test("one that asks without pause over a hundred connections leaves another its turns, and nothing of it is lost")
  func turns() throws {
    let stand = try SeveralUsersStand()
    defer { stand.close() }
    let busy = try Flood(of: stand.process(of: one), connections: 100) { _ in
      Self.calls(#"{"method":"org.varlink.service.GetInfo"}"#)
    }
    let served = try? answers(to: stand.process(of: other).connect(), 300)
    let answered = busy.end()
    #expect(served == 300)
    // If all calls were answered in the order of arrival, each answer to the other user would wait behind thousands.
    #expect(answered > 0 && answered < 300 * 300, "\(answered)")
  }

  @Test("one that never reads costs no more than it may leave unread, and another is served")
  func unread() throws {
    let stand = try SeveralUsersStand()
    defer { stand.close() }
    let deaf = try Flood(of: stand.process(of: one), connections: 200, reads: false) { _ in
      Self.calls(
        #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"io.vaultd.Vault"}}"#)
    }
    defer { deaf.end() }
    let calm = try stand.sandbox.client()
    let uid = one
    var most = 0
    // This client is served as often as it asks; the others are cut off once they have not read for half a minute.
    func goOn() throws -> Bool {
      #expect(try calm.call("Status").error == nil)
      let left = try stand.on { $0.clients.share(of: uid).unreadBytes }
      most = max(most, left)
      return left > 0 || most == 0
    }
    while most < 15 << 20, try goOn() {}
    for _ in 0..<300 where try goOn() {}
    // Each connection may exceed the limit by one batch of replies; each alone could leave four batches unread.
    #expect(most < 2 * Room.unreadBytes)
    #expect(try answers(to: stand.process(of: other).connect()) == 1)
  }

  @Test("the user that has most connections makes room, and its calls that wait are told whose they are")
  func connections() throws {
    let stand = try SeveralUsersStand("max-connections = 8")
    defer { stand.close() }
    let (calm, greedy) = (try stand.process(of: other), try stand.process(of: one))
    let theirs = try (0..<3).map { _ in try calm.connect() }
    for client in theirs { #expect(try answers(to: client) == 1) }
    let waiting = try (0..<40).map { _ in
      let client = try greedy.connect()
      _ = try client.call("Monitor", more: true)
      return client
    }
    for client in waiting.prefix(35) {
      let end = try client.reply()
      #expect(end.error == "TooManyConnections" && end.integer("uid") == Int(one) && end.integer("limit") == 8)
      #expect(end.parameters.count == 2, "\(end)")
    }
    #expect(try greedy.connect().call(Self.info).error == nil)
    for client in theirs { #expect(try answers(to: client) == 1) }
  }

  @Test("one that sends too much is told so, and another's half of a frame is not lost") func pending() throws {
    let stand = try SeveralUsersStand()
    defer { stand.close() }
    let half = try stand.process(of: other).connect()
    half.send(Array(#"{"method":"org.varlink.service"#.utf8))
    let greedy = try stand.process(of: one)
    let clients = try (0..<20).map { _ in try greedy.connect() }
    let load = [UInt8](repeating: 32, count: 1_900_000)
    // The daemon may close the connection in the middle.
    for client in clients { client.send(load) }
    var told = 0
    for client in clients {
      client.finishSending()
      guard let end = try? client.reply() else { continue }
      told += 1
      #expect(end.error == "TooManyRequests" && end.integer("uid") == Int(one) && end.parameters.count == 1, "\(end)")
    }
    #expect(told > 0)
    half.send(frame: #".GetInfo"}"#)
    #expect(try half.reply().string("product") == "vault")
  }

  @Test("a thousand that connect and vanish leave another's connection alone, and nothing behind") func vanishing()
    throws
  {
    let stand = try SeveralUsersStand()
    defer { stand.close() }
    let (calm, fleeting) = (try stand.process(of: other), try stand.process(of: one))
    let client = try calm.connect()
    for number in 0..<1000 {
      try fleeting.connect().send(frame: #"{"method":"org.varlink.service.GetInfo"}"#)
      if number.isMultiple(of: 10) { #expect(try answers(to: client) == 1) }
    }
    #expect(try answers(to: fleeting.connect()) == 1)
    #expect(try answers(to: client) == 1 && answers(to: calm.connect()) == 1)
    let uid = one
    // The loop notices the end of the last connections as it runs.
    var left = 1
    for _ in 0..<100_000 where left > 0 {
      left = try stand.on { $0.door.entrance.connections(of: uid).count }
    }
    #expect(left == 0)
  }
}
