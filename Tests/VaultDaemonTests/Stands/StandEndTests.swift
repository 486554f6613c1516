import Testing

@testable import VaultDaemon
@testable import VaultService

/// A stand that is closed gives everything back: what it keeps would take inotify(7) from the daemons of other tests.
@Suite("A daemon of a stand that is closed") struct StandEndTests {
  /// The parts of a daemon, which a test does not keep. Work that waits for a turn of the loop, which has ended, may
  /// still have the vault itself.
  private final class Parts: @unchecked Sendable {
    weak var assembly: Assembly?
    weak var items: Items?
    weak var upkeep: Upkeep?
    weak var door: VarlinkDoor?
    weak var presence: Presence?
    weak var connection: VarlinkConnection?
    weak var triggers: LockTriggers?

    func take(_ client: ConnectionStand.Inside) {
      (assembly, door) = (client.assembly, client.door)
      let rooms = client.assembly.rooms
      (items, upkeep, presence) = (rooms.items, rooms.upkeep, rooms.presence)
      (connection, triggers) = (client.connection, client.door.triggers)
    }

    var left: [String] {
      let all: [(String, AnyObject?)] = [
        ("assembly", assembly), ("items", items), ("upkeep", upkeep), ("door", door), ("presence", presence),
        ("connection", connection), ("triggers", triggers),
      ]
      return all.filter { $0.1 != nil }.map(\.0)
    }
  }

  private func use(_ parts: Parts) throws {
    let stand = try ConnectionStand.unlocked("")
    defer { stand.close() }
    try stand.on { client in
      parts.take(client)
      client.call("Get", #"{"name":"a"}"#)
    }
    try stand.goRound("an answer") { client in !client.hasWork }
    #expect(parts.left.count == 7)
  }

  @Test("is freed, with all its parts") func freed() throws {
    let parts = Parts()
    try use(parts)
    #expect(parts.left == [])
  }
}
