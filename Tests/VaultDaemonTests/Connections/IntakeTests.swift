import Testing

@testable import VaultDaemon
@testable import VaultService

@Suite("The reading of what clients send") struct IntakeTests {
  private static let count = 100_000

  /// Bytes that differ from place to place.
  private static func bytes(_ seed: Int, _ count: Int = Self.count) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ ($0 >> 8) &+ seed) }
  }

  @Test("of each of a hundred clients with much to read, one piece is read before the request of another user")
  func batch() throws {
    let stand = try IntakeStand()
    defer { stand.close() }
    try stand.connect(100, of: 1000)
    try stand.connect(1, of: 1001)
    let load = Self.bytes(0)
    try stand.on { inside in
      for index in 0..<100 { inside.send(load, from: index) }
      inside.send([1, 2, 3], from: 100)
    }
    try stand.goRound { inside in inside.taken.contains { $0.client == 100 } }
    let before = try stand.on { inside in Array(inside.taken.prefix { $0.client != 100 }) }
    #expect(before.count { $0.isPiece } <= 100)
    #expect(before.reduce(0) { $0 + $1.count } <= 100 * Intake.piece + Incoming.most)
    // The rest is read later, and nothing of it is lost.
    try stand.goRound { inside in inside.clients.prefix(100).allSatisfy { $0.bytes.count == Self.count } }
    #expect(try stand.on { inside in inside.clients.prefix(100).allSatisfy { $0.bytes == load } })
  }

  @Test("all of a client that finishes sending is read in turns, and then its end comes") func finished() throws {
    let stand = try IntakeStand()
    defer { stand.close() }
    try stand.connect(20, of: 1000)
    let loads = (0..<20).map { Self.bytes($0) }
    try stand.on { inside in
      for index in 0..<20 { inside.send(loads[index], from: index, isLast: true) }
    }
    try stand.goRound { $0.clients.allSatisfy(\.hasEnded) }
    #expect(try stand.on { inside in inside.clients.map(\.bytes) } == loads)
    // The loop itself would have read it all in pieces, before any turn.
    #expect(try stand.on { inside in inside.taken.count { $0.isPiece } } == 20)
  }

  @Test("a client that finishes sending while nothing is accepted loses nothing") func heldBack() throws {
    let stand = try IntakeStand()
    defer { stand.close() }
    try stand.connect(1, of: 1000)
    let load = Self.bytes(7)
    try stand.on { inside in
      inside.clients[0].intake?.isAllowed = false
      inside.send(load, from: 0, isLast: true)
    }
    try stand.goRound { !$0.taken.isEmpty }
    #expect(try stand.on { $0.clients[0].bytes.count } == Intake.piece)
    #expect(try !stand.on { $0.clients[0].hasEnded })
    try stand.on { $0.clients[0].intake?.isAllowed = true }
    try stand.goRound { $0.clients[0].hasEnded }
    #expect(try stand.on { $0.clients[0].bytes } == load)
  }

  @Test("what is read in part while nobody waits is read on at once, and the loop goes on reading") func atOnce() throws
  {
    let stand = try IntakeStand()
    defer { stand.close() }
    try stand.connect(1, of: 1000)
    try stand.on { inside in inside.send(Self.bytes(1, 10_000), from: 0) }
    try stand.goRound { !$0.taken.isEmpty }
    let taken = try stand.on { $0.taken }
    #expect(taken.map(\.count) == [Intake.piece, 10_000 - Intake.piece])
    #expect(taken.map(\.isPiece) == [true, false])
    // As many bytes as the loop reads at once, and none behind them.
    try stand.on { inside in inside.send(Self.bytes(2, Intake.piece), from: 0) }
    try stand.goRound { $0.taken.count == 3 }
    try stand.on { inside in inside.send([3], from: 0, isLast: true) }
    try stand.goRound { $0.clients[0].hasEnded }
    #expect(try stand.on { $0.clients[0].bytes } == Self.bytes(1, 10_000) + Self.bytes(2, Intake.piece) + [3])
  }
}
