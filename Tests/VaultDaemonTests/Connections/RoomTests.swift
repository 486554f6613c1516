import Testing

@testable import VaultDaemon
@testable import VaultService

@Suite("Room for connections") struct RoomTests {
  private func holdings(_ all: (uid: UInt32, count: Int, weight: Int)...) -> [Room.Holding] {
    all.map { Room.Holding(uid: $0.uid, count: $0.count, weight: $0.weight) }
  }

  @Test("the uid that has most makes room") func most() {
    for uid: UInt32 in 1...3 { #expect(Room.loser(holdings((1, 3, 1), (2, 2, 1)), for: uid) == 1) }
    for uid: UInt32 in 1...3 { #expect(Room.loser(holdings((2, 2, 1), (1, 3, 1)), for: uid) == 1) }
  }

  @Test("who comes gives way itself where no other uid has more") func own() {
    let all = holdings((1, 2, 1), (2, 2, 1), (3, 2, 1))
    for uid: UInt32 in 1...3 { #expect(Room.loser(all, for: uid) == uid) }
    #expect(Room.loser([], for: 1) == nil)
    #expect(Room.loser(holdings((1, 0, 1)), for: 1) == nil)
  }

  @Test("an administrator has most only with as many times more as it weighs") func weights() {
    #expect(Room.loser(holdings((0, 4, 4), (1, 2, 1)), for: 0) == 1)
    #expect(Room.loser(holdings((0, 8, 4), (1, 2, 1)), for: 0) == 0)
    #expect(Room.loser(holdings((0, 8, 4), (1, 2, 1)), for: 1) == 1)
    #expect(Room.loser(holdings((0, 9, 4), (1, 2, 1)), for: 1) == 0)
  }

  private final class Thing {}

  @Test("those that have been silent longest come first, and those with a call that waits last") func silent() {
    let things = (0..<200).map { _ in Thing() }
    // Every third guest has a waiting call; the list begins with the guest heard from last.
    let guests = things.indices.map { index in
      Room.Guest(id: ObjectIdentifier(things[index]), isHeld: index % 3 == 0, heard: 1000 - index)
    }
    let first = Room.silent(guests)
    #expect(first.count == Room.chosen && !first.contains(where: \.isHeld))
    #expect(first.map(\.heard) == guests.filter { !$0.isHeld }.map(\.heard).sorted().prefix(Room.chosen).map { $0 })
    let few = Room.silent(guests.prefix(10))
    #expect(few.map(\.isHeld) == Array(repeating: false, count: 6) + Array(repeating: true, count: 4))
    #expect(few.last?.heard == 1000 && Room.silent([]).isEmpty)
  }
}
