import CLinux
import Testing
import VaultTesting

@Suite("Locking") struct LockingTests {
  private let password = "correct horse battery"

  @Test("a new vault is unlocked, locks, unlocks, and says why and since when") func states() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon()
    let client = try sandbox.client()
    #expect(try client.call("Status").string("state") == "new")
    let made = try sandbox.converse("Init", ["kdf_memory": 19 << 20, "kdf_passes": 2]) { _ in password }
    #expect(made?.error == nil)
    #expect(try client.call("Status").string("state") == "unlocked")
    #expect(try client.call("Status").string("cause") == "the vault was created")
    #expect(try client.call("Status").string("locks_because") == "idle")
    #expect(try client.call("Lock").error == nil)
    #expect(try sandbox.unlock(password)?.error == nil)
    let status = try client.call("Status")
    #expect(status.string("state") == "unlocked")
    #expect(status.string("cause") == "by password")
    #expect(status.string("locks_because") == "idle")
    #expect((status.integer("since") ?? 0) > 1_700_000_000)
    #expect(try client.call("Lock").error == nil)
    #expect(try client.call("Status").string("state") == "locked")
    #expect(try client.call("Status").string("cause") == "by `vault lock`")
  }

  @Test("nobody asking for anything locks the vault after the idle time") func idle() throws {
    try expectLock(config: "idle = 1s", unlock: [:], cause: "no person used it for the idle time")
  }

  @Test("the maximum age locks the vault") func age() throws {
    try expectLock(config: "idle = off\nmaximum-age = 1s", unlock: [:], cause: "the maximum age was reached")
  }

  @Test("the time asked for at the unlock locks the vault") func askedFor() throws {
    try expectLock(config: "idle = off", unlock: ["for": 1], cause: "the time requested at the unlock is up")
  }

  @Test("SIGUSR1 locks the vault") func signal() throws {
    try expectLock(config: "idle = off", unlock: [:], cause: "by signal SIGUSR1") { try $0.signalDaemon(SIGUSR1) }
  }

  @Test("new settings take effect on SIGHUP, also for a running unlock") func reload() throws {
    try expectLock(
      config: "idle = off\nmaximum-age = off", unlock: [:], cause: "no person used it for the idle time"
    ) { sandbox in
      #expect(try sandbox.client().call("Status").integer("locks_at") == nil)
      try sandbox.configure("idle = 1s")
      try sandbox.signalDaemon(SIGHUP)
    }
  }

  /// Unlocks the vault, runs `trigger`, and waits for the event that reports the lock, so that the test needs no clock
  /// of its own.
  private func expectLock(
    config: String, unlock: WireClient.Message, cause: String, trigger: (Sandbox) throws -> Void = { _ in }
  ) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault(config: config)
    let watcher = try sandbox.client()
    #expect(try watcher.call("Monitor", more: true).string("state") == "cold")
    #expect(try sandbox.unlock(password, unlock)?.error == nil)
    #expect(try watcher.reply().string("state") == "unlocked")
    try trigger(sandbox)
    let locked = try watcher.reply()
    #expect(locked.string("state") == "locked")
    #expect(locked.string("cause") == cause)
  }

  @Test("a wrong settings file on SIGHUP changes nothing") func badReload() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault(config: "idle = 7m")
    try sandbox.unlock(password)
    try sandbox.configure("idle = nonsense")
    try sandbox.signalDaemon(SIGHUP)
    // SIGUSR1 arrives after the daemon has handled SIGHUP.
    let watcher = try sandbox.client()
    _ = try watcher.call("Monitor", more: true)
    try sandbox.signalDaemon(SIGUSR1)
    #expect(try watcher.reply().string("state") == "locked")
    #expect(sandbox.daemonLog.contains("settings unchanged: \(sandbox.configuration), line 1"))
  }

  @Test("SIGTERM ends the daemon with 0 and takes the socket away") func terminate() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault()
    #expect(try sandbox.stopDaemon() == 0)
    #expect(unsafe access(sandbox.socket, F_OK) != 0)
  }

  @Test("a get that waits is answered by the unlock") func waiting() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault()
    try sandbox.unlock(password)
    let client = try sandbox.client()
    #expect(try client.call("Set", ["name": "a/b", "value": "x"]).error == nil)
    #expect(try client.call("Lock").error == nil)
    #expect(try client.call("Get", ["name": "a/b"]).error == "Locked")
    #expect(try client.call("Get", ["name": "a/b", "wait_ms": 1]).error == "TimedOut")
    client.send(frame: #"{"method":"io.vaultd.Vault.Get","parameters":{"name":"a/b","wait_ms":60000}}"#)
    try sandbox.unlock(password)
    #expect(try client.reply().string("value") == "x")
  }

  @Test("what a class is for: cold, locked, unlocked") func classes() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault()
    try sandbox.unlock(password)
    var client = try sandbox.client()
    for name in ["when-unlocked", "after-first-unlock", "always"] {
      #expect(try client.call("Set", ["name": name, "value": name, "accessible": name]).error == nil)
    }
    _ = try client.call("Lock")
    func served() throws -> [String] {
      try ["when-unlocked", "after-first-unlock", "always"].filter { try client.call("Get", ["name": $0]).error == nil }
    }
    #expect(try served() == ["after-first-unlock", "always"])
    try sandbox.stopDaemon()
    try sandbox.startDaemon()
    client = try sandbox.client()
    #expect(try served() == ["always"])
    #expect(try client.call("Get", ["name": "nothing"]).error == "Locked")
    try sandbox.unlock(password)
    #expect(try served().count == 3)
    #expect(try client.call("Get", ["name": "nothing"]).error == "NoSuchItem")
  }
}
