import CLinux
import Glibc
import NIOCore
import NIOPosix
import Synchronization
import Testing
import VaultBytes
import VaultCore
import VaultModel
import VaultStore
import VaultTesting
import VaultWire

@testable import VaultDaemon
@testable import VaultService

@Suite("A resume that only the clocks tell of") struct ResumeTests {
  /// The clocks of a machine that sleeps when the test says so.
  private final class Machine: Sendable {
    private let slept = Mutex<Int64>(0)
    private let wallClock = Mutex<Int64?>(nil)
    func sleep(seconds: Int64) { slept.withLock { $0 += seconds * 1_000_000_000 } }

    var clock: Clock {
      Clock(
        boot: { [self] in Clock.system.monotonic() + slept.withLock { $0 } }, monotonic: Clock.system.monotonic,
        wall: { [self] in wallClock.withLock { $0 } ?? Clock.system.wall() })
    }

    func setClock(_ time: Int64) { wallClock.withLock { $0 = time } }
  }

  /// Unlocks a vault on a machine that never announced a sleep, and lends the parts that a test needs.
  private func withUnlocked(
    _ settings: String = "", _ body: @escaping @Sendable (Upkeep, Keychain, Machine) throws -> Void
  ) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    defer { loop.shutdownGracefully { _ in } }
    let (store, socket) = (sandbox.store, sandbox.socket)
    try loop.submit {
      let vaultKey = RandomBytes.secret(count: 32)
      let id = RandomBytes.array(count: 16)
      let slot = try SlotRecord.make(
        id: 1, kind: .recovery, label: "", created: 1000, secret: RecoveryCode.random().text(), kdf: nil,
        vaultKey: vaultKey, vaultID: id)
      try Keychain.create(
        in: store, slots: [slot], vaultID: id, vaultKey: vaultKey, bootKey: RandomBytes.secret(count: 32), now: 1000)
      let machine = Machine()
      let assembly = try Assembly.stand(
        on: loop, store: store, socket: socket, settings: settings, clock: machine.clock)
      let vault = assembly.rooms.vault
      let keychain = try vault.keychain()
      try keychain.unlock(vaultKey: vaultKey)
      vault.unlocked(keychain, by: .method("password"), for: nil)
      vault.checkDeadlines()
      #expect(vault.state.kind == .unlocked)
      try body(assembly.rooms.upkeep, keychain, machine)
      withExtendedLifetime(assembly) {}
    }.wait()
  }

  @Test(
    "a clock that is far ahead, beyond what nanoseconds can count, changes nothing",
    arguments: [9_300_000_000, 253_402_300_800, .max] as [Int64])
  func farAhead(time: Int64) throws {
    try withUnlocked("maximum-age = 1h") { upkeep, keychain, machine in
      let vault = upkeep.vault
      machine.setClock(time)
      let name = try ItemName("a")
      try keychain.set(ItemChange(name: name, kind: .blob), value: SecureBytes(count: 4), now: vault.clock.wall())
      #expect(try keychain.item(named: name).created == time)
      let status = upkeep.status()
      let locksAt = try #require(status.locksAt)
      #expect(status.state.kind == .unlocked && (locksAt.time == .max || (290...300).contains(locksAt.time - time)))
      for query in ["expires<7d", "created<7d", "modified>7d", "expires<9999-12-31"] {
        _ = try keychain.find(try Query(parsing: query), limit: 1, now: vault.clock.wall())
      }
      vault.checkDeadlines()
      #expect(vault.state.kind == .unlocked)
      vault.lock(because: .signal)
      #expect(vault.state.since == time)
      #expect(upkeep.status().state.since == time)
    }
  }

  @Test("times are read without overflow") func conversion() {
    #expect(Clock.nanoseconds(2, 5) == 2_000_000_005)
    #expect(Clock.nanoseconds(9_300_000_000, 0) == .max)
    #expect(Clock.nanoseconds(.max, 999_999_999) == .max)
    #expect(abs(Clock.system.wall() - Int64(time(nil))) < 60)
  }

  @Test("it locks, and wipes the after-first-unlock keys like any sleep") func unlocked() throws {
    try withUnlocked { upkeep, keychain, machine in
      let vault = upkeep.vault
      machine.sleep(seconds: 2)
      vault.checkDeadlines()
      #expect(vault.state.kind == .locked)
      #expect(vault.state.cause == .resume)
      #expect(!keychain.opensValues(of: .whenUnlocked))
      #expect(!keychain.opensValues(of: .afterFirstUnlock))
      #expect(!keychain.opensNames(of: .afterFirstUnlock))
      #expect(keychain.opensValues(of: .always))
    }
  }

  @Test("it wipes what an earlier lock had kept, each time the machine sleeps") func locked() throws {
    try withUnlocked { upkeep, keychain, machine in
      let vault = upkeep.vault
      vault.lock(because: .asked)
      vault.checkDeadlines()
      #expect(keychain.opensValues(of: .afterFirstUnlock))
      machine.sleep(seconds: 3600)
      vault.checkDeadlines()
      #expect(!keychain.opensValues(of: .afterFirstUnlock))
      #expect(vault.state.cause == .resume)
    }
  }

  @Test("it keeps what keep-across-sleep asks to keep") func kept() throws {
    try withUnlocked("keep-across-sleep = true") { upkeep, keychain, machine in
      let vault = upkeep.vault
      machine.sleep(seconds: 2)
      vault.checkDeadlines()
      #expect(vault.state.cause == .resume)
      #expect(!keychain.opensValues(of: .whenUnlocked))
      #expect(keychain.opensValues(of: .afterFirstUnlock))
    }
  }
}
