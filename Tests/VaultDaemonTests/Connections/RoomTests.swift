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

  @Test("all uids without any right count as one, and the one of them that has most makes room") func strangers() {
    let crowd = (10..<110).map { Room.Holding(uid: $0, count: $0 == 50 ? 2 : 1, weight: 1, isStranger: true) }
    let service = Room.Holding(uid: 1, count: 20, weight: 1)
    for uid: UInt32 in [1, 10, 109] {
      #expect(Room.loser(crowd + [service], for: uid) == 50)
      #expect(Room.loser([service] + crowd, for: uid) == 50)
      #expect(Room.loser(crowd.prefix(19) + [service], for: uid) == 1)
    }
  }

  private final class Thing {}
  /// The objects behind the guests' identities.
  private let things = (0..<400).map { _ in Thing() }

  /// Makes guests of processes with these standings, each heard later than the one before it.
  private func guests(_ all: (process: Int32, standing: Room.Standing)...) -> [Room.Guest<Int32>] { guests(all) }

  private func guests(_ all: [(process: Int32, standing: Room.Standing)]) -> [Room.Guest<Int32>] {
    all.indices.map { index in
      Room.Guest(
        id: ObjectIdentifier(things[index]), process: all[index].process, standing: all[index].standing, heard: index)
    }
  }

  /// The order in which guests go, as the numbers of when they were heard.
  private func order(_ guests: [Room.Guest<Int32>]) -> [Int] {
    let order = Room.leaving(guests)
    // The order is the same however the guests are handed over.
    #expect(order == Room.leaving(guests.reversed()) && order == Room.leaving(guests.shuffled()))
    return order.map(\.heard)
  }

  @Test("of one process, the connection that has been silent longest goes first, and a waiting call goes later")
  func silent() {
    #expect(order(guests((1, .idle), (1, .idle), (1, .idle))) == [0, 1, 2])
    #expect(order(guests((1, .waiting), (1, .idle), (1, .waiting), (1, .idle))) == [1, 3, 0, 2])
    #expect(order([]).isEmpty)
  }

  @Test("the process that has most gives way first, whatever waits on its connections and however late it was heard")
  func processes() {
    let all = guests((1, .idle), (1, .idle), (2, .waiting), (2, .waiting), (2, .waiting), (3, .idle), (2, .waiting))
    // Process 2 gives way down to what process 1 has; then both give way, and all have one in the end.
    #expect(order(all) == [2, 3, 0, 4, 1, 5, 6])
  }

  @Test("an agent and a lock go last, whatever else there is") func last() {
    let crowd = Array(repeating: (process: Int32(1), standing: Room.Standing.waiting), count: 254)
    #expect(Array(order(guests([(2, .attending), (3, .urgent)] + crowd)).suffix(2)) == [1, 0])
    // The same with a crowd of processes.
    let forked = (0..<254).map { (process: Int32(100 + $0), standing: Room.Standing.waiting) }
    #expect(Array(order(guests([(2, .attending), (3, .urgent)] + forked)).suffix(2)) == [1, 0])
    // The other connections of an agent's process are no more than the one of any other process.
    let own = guests([(2, .attending)] + forked + [(2, .waiting)])
    #expect(Array(order(own).suffix(2)) == [255, 0])
  }

  @Test("several agents of one process count as its connections") func agents() {
    let all = guests(
      (1, .attending), (1, .attending), (1, .attending), (2, .attending), (3, .idle), (1, .urgent), (1, .idle))
    // Process 1 keeps the agent that was heard last, and its others are four connections.
    #expect(order(all) == [6, 5, 0, 4, 1, 2, 3])
  }

  @Test("however many come, each loser is of a process that has most, unless it is an agent's or a lock's")
  func always() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      let all = guests(
        (0..<Int.random(in: 1...60, using: &random)).map { _ in
          (Int32.random(in: 1...9, using: &random), Room.Standing(rawValue: Int.random(in: 0...3, using: &random))!)
        })
      var left = all
      // Each process keeps one connection for an agent or a lock.
      func counted(_ process: Int32) -> Int {
        let own = left.filter { $0.process == process }
        return own.count - (own.contains { $0.standing >= .urgent } ? 1 : 0)
      }
      for guest in Room.leaving(all) {
        let most = Set(left.map(\.process)).map(counted).max() ?? 0
        #expect(counted(guest.process) == most)
        if most > 0 {
          let others = left.filter { $0.process == guest.process }
          #expect(!others.contains { $0.standing < guest.standing })
        }
        left.removeAll { $0 == guest }
      }
      #expect(left.isEmpty)
    }
  }
}
