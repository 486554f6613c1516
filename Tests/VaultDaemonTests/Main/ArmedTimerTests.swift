import NIOCore
import Testing
import VaultCore

@testable import VaultDaemon
@testable import VaultService

@Suite("The time for which the timer is armed") struct ArmedTimerTests {
  private static let minute: Int64 = 60_000_000_000

  @Test("new settings hold for a vault that is open already: the idle time, the maximum age, and neither")
  func settings() throws {
    let stand = try ConnectionStand.unlocked("idle = off\nmaximum-age = off")
    defer { stand.close() }
    let minutes = try stand.on { client in
      var armed: [Int64?] = []
      client.vault.hooks.arm = { armed.append($0) }
      for settings in ["idle = off\nmaximum-age = 1h", "idle = 5m\nmaximum-age = 2h", "idle = off\nmaximum-age = off"] {
        client.assembly.reconfigure(try Configuration(parsing: settings))
      }
      return armed.map { at in at.map { ($0 - client.now) / Self.minute } }
    }
    #expect(minutes == [60, 5, nil])
  }

  @Test("the end of a key that outlives a lock, also when nothing else is to come") func memoryKey() throws {
    let stand = try ConnectionStand.unlocked("idle = off\nmaximum-age = 1h")
    defer { stand.close() }
    let (minutes, has) = try stand.on { client in
      let (vault, retained) = (client.vault, client.assembly.rooms.waysIn.retained)
      var armed: [Int64?] = []
      vault.hooks.arm = { armed.append($0) }
      client.pass(.minutes(10))
      retained.keep(SecureBytes(count: 32), of: 2, now: client.now)
      vault.armNext()
      vault.lock(because: .asked)
      let minutes = armed.map { at in at.map { ($0 - client.now) / Self.minute } }
      var has = [retained.has(2)]
      for time in [TimeAmount.minutes(59), .minutes(1)] {
        client.pass(time)
        vault.timerFired()
        has.append(retained.has(2))
      }
      return (minutes + [armed.last ?? 0], has)
    }
    // The timer is first armed for the vault's own deadline, then for the key's, then not at all.
    #expect(minutes == [50, 60, nil])
    #expect(has == [true, true, false])
  }
}
