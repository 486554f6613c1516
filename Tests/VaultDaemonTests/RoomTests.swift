import Testing

@testable import VaultDaemon
@testable import VaultService

@Suite("Room for connections") struct RoomTests {
  private func guests(_ all: (uid: UInt32, isHeld: Bool, heard: Int)...) -> [Room.Guest] {
    all.map { Room.Guest(uid: $0.uid, isHeld: $0.isHeld, heard: $0.heard) }
  }

  @Test("the longest silent one of the uid that has most makes room") func most() {
    let all = guests((1, false, 9), (1, false, 4), (1, false, 6), (2, false, 1), (2, false, 2))
    #expect(Room.leaving(all, for: 2) == 1)
    #expect(Room.leaving(all, for: 3) == 1)
    #expect(Room.leaving(all, for: 1) == 1)
  }

  @Test("who comes gives way itself where no other uid has more") func own() {
    let all = guests((1, false, 1), (1, false, 2), (2, false, 3), (2, false, 4))
    #expect(Room.leaving(all, for: 2) == 2)
    #expect(Room.leaving(all, for: 1) == 0)
  }

  @Test("a call that waits makes room after all that are silent, and then the oldest") func held() {
    #expect(Room.leaving(guests((1, true, 1), (1, false, 8), (1, true, 2)), for: 1) == 1)
    #expect(Room.leaving(guests((1, true, 3), (1, true, 2)), for: 1) == 1)
    #expect(Room.leaving([], for: 1) == nil)
  }
}
