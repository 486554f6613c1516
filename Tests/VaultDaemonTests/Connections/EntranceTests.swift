import Testing

@testable import VaultDaemon
@testable import VaultService

@Suite("The entrance of a door") struct EntranceTests {
  private final class Connection: Client {
    let share: UserShare
    let standing: Room.Standing
    let heard: Int
    var isRefused = false
    private(set) var hasGivenWay = false

    init(_ share: UserShare, _ standing: Room.Standing = .waiting, heard: Int = 0) {
      (self.share, self.standing, self.heard) = (share, standing, heard)
    }

    var pid: Int32 { 1 }
    func giveWay(most: Int) { hasGivenWay = true }
    func close() {}
  }

  private let share: UserShare
  private let entrance: Entrance<Connection>

  private init(_ rule: Entrance<Connection>.Rule, most: Int) {
    let clients = Clients(owner: 0, clock: .system, openFiles: OpenFiles(limit: 1024), Configuration())
    share = clients.share(of: 1000)
    entrance = Entrance(clients, rule) { most }
  }

  init() { self.init(.newcomerIsRefused, most: 2) }

  @Test("has the place of a client that was refused again once it has gone, however many were refused before")
  func refused() {
    let first = [Connection(share), Connection(share)]
    for connection in first { #expect(entrance.admit(connection) == .admitted) }
    for round in 1...10 {
      let late = (0..<3).map { _ in Connection(share) }
      for (connection, admission) in zip(late, [.refused, .refused, .turnedAway] as [Entrance<Connection>.Admission]) {
        #expect(entrance.admit(connection) == admission, "\(round)")
        connection.isRefused = true
      }
      #expect(entrance.count == 4 && share.clientCount == 4)
      // A client may be told twice that it has gone, and one that was turned away goes as well.
      for connection in late + late { entrance.leave(connection) }
      #expect(entrance.count == 2 && share.clientCount == 2)
    }
    // One that was admitted may be refused later, and counts until it goes.
    first[0].isRefused = true
    #expect(entrance.admit(Connection(share)) == .admitted)
    #expect(entrance.count == 3)
    for connection in entrance.connections { entrance.leave(connection) }
    #expect(entrance.count == 0 && share.clientCount == 0 && entrance.connections.isEmpty)
  }

  @Test("has an idle client give way, counts it no more at once, and turns away who comes where none is idle")
  func idle() {
    let door = EntranceTests(.idleGivesWay, most: 3)
    let (waiting, idle) = (Connection(door.share), Connection(door.share, .idle, heard: 1))
    let later = Connection(door.share, .idle, heard: 2)
    for connection in [waiting, idle, later] { #expect(door.entrance.admit(connection) == .admitted) }
    #expect(door.entrance.admit(Connection(door.share)) == .admitted)
    #expect(idle.hasGivenWay && !later.hasGivenWay && door.entrance.count == 3)
    #expect(door.entrance.admit(Connection(door.share)) == .admitted)
    #expect(later.hasGivenWay && !waiting.hasGivenWay)
    #expect(door.entrance.admit(Connection(door.share)) == .turnedAway)
    // The end of those that gave way is told later, and frees no place of another.
    for connection in [idle, later] { door.entrance.leave(connection) }
    #expect(door.entrance.count == 3 && door.share.clientCount == 3)
  }
}
