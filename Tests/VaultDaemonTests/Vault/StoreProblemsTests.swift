import CLinux
import Foundation
import Testing
import VaultTesting

@Suite("A store that cannot be served") struct StoreProblemsTests {
  private let password = "correct horse battery"

  /// Makes a vault with one item, stops the daemon, damages the store with `spoil`, starts the daemon again, and
  /// expects that neither `body` nor the check after an unlock changes the file. The audit log is off, because it is
  /// written even then.
  private func withSpoilt(
    by spoil: (Sandbox) throws -> Void, then body: (Sandbox, WireClient) throws -> Void
  ) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    _ = try sandbox.makeVault(password: password, config: "audit = off")
    try sandbox.unlock(password)
    #expect(try sandbox.client().call("Set", ["name": "a", "value": "kept"]).error == nil)
    try sandbox.stopDaemon()
    try spoil(sandbox)
    let before = FileManager.default.contents(atPath: sandbox.store + "/vault.db")
    try sandbox.startDaemon(config: "audit = off")
    try body(sandbox, try sandbox.client())
    #expect(FileManager.default.contents(atPath: sandbox.store + "/vault.db") == before)
  }

  private func database(_ sandbox: Sandbox) -> String { sandbox.store + "/vault.db" }

  private func expectUnreadable(_ error: String, _ sandbox: Sandbox, _ client: WireClient) throws {
    let status = try client.call("Status")
    #expect(status.string("state") == "unreadable")
    #expect(status.string("problem")?.isEmpty == false)
    #expect(try client.call("Get", ["name": "a"]).error == error)
    #expect(try client.call("Set", ["name": "a", "value": "b"]).error == error)
    #expect(try sandbox.unlock(password)?.error == error)
    #expect(try sandbox.converse("Init") { _ in "another password" }?.error == error)
  }

  @Test("a truncated database is reported and never replaced", arguments: [0, 50, 100, 4096, 8000])
  func truncated(_ size: Int) throws {
    try withSpoilt {
      unsafe truncate(database($0), size)
    } then: { (sandbox, client) throws in
      try expectUnreadable("Corrupt", sandbox, client)
    }
  }

  @Test("a daemon that is stopped leaves its store as one file") func stopped() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault()
    try sandbox.unlock(password)
    #expect(try sandbox.client().call("Set", ["name": "a", "value": "kept"]).error == nil)
    #expect(FileManager.default.fileExists(atPath: sandbox.store + "/vault.db-wal"))
    try sandbox.stopDaemon()
    #expect(!FileManager.default.fileExists(atPath: sandbox.store + "/vault.db-wal"))
  }

  @Test("of a store that failed, and had no log, it leaves no log behind either") func stoppedAfterFailure() throws {
    try withSpoilt { sandbox in
      try sandbox.editStore("UPDATE heads SET sealed = zeroblob(length(sealed))")
    } then: { (sandbox, client) throws in
      #expect(try sandbox.unlock(password)?.error == nil)
      try sandbox.awaitCheck()
      #expect(try client.call("Set", ["name": "b", "value": "b"]).error == "Corrupt")
      try sandbox.stopDaemon()
      #expect(!FileManager.default.fileExists(atPath: sandbox.store + "/vault.db-wal"))
    }
  }

  @Test("another program's database is left alone") func foreign() throws {
    try withSpoilt {
      try Data("SQLite format 3\0 but not ours".utf8).write(to: URL(fileURLWithPath: database($0)))
    } then: {
      try expectUnreadable("Corrupt", $0, $1)
    }
  }

  @Test("a store of a later program is refused as such") func newer() throws {
    try withSpoilt { sandbox in
      let file = try #require(FileHandle(forUpdatingAtPath: database(sandbox)))
      // SQLite's user_version stands at byte 60 of the header, big-endian.
      try file.seek(toOffset: 60)
      try file.write(contentsOf: Data([0, 0, 0x7F, 0xFF]))
      try file.close()
    } then: { (sandbox, client) throws in
      #expect(try client.call("Get", ["name": "a"]).parameters["newer"] as? Bool == true)
      try expectUnreadable("Corrupt", sandbox, client)
    }
  }

  @Test("modes that let others in are to be put right first, and then it goes on without a restart") func modes() throws
  {
    try withSpoilt {
      unsafe chmod(database($0), 0o644)
    } then: { (sandbox, client) throws in
      #expect(try client.call("Get", ["name": "a"]).error == "Misconfigured")
      unsafe chmod(database(sandbox), 0o600)
      #expect(try client.call("Status").string("state") == "cold")
      #expect(try sandbox.unlock(password)?.error == nil)
      #expect(try client.call("Get", ["name": "a"]).string("value") == "kept")
    }
  }

  @Test("a second daemon on one store is refused with a clear error") func secondDaemon() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault()
    let sameSocket = try sandbox.run(program: "vaultd")
    #expect(sameSocket.status == 73)
    #expect(sameSocket.errors.hasPrefix("vaultd: another vaultd serves \(sandbox.socket)"), "\(sameSocket)")
    let sameStore = try sandbox.run("--socket", sandbox.root + "/other/socket", program: "vaultd")
    #expect(sameStore.status == 73)
    let pid = try #require(sandbox.daemonPid)
    #expect(sameStore.errors.contains("another vaultd (pid \(pid)) serves this vault"), "\(sameStore)")
    #expect(!sameStore.errors.contains("unreadable"), "\(sameStore)")
    #expect(try sandbox.client().call("Status").string("state") == "cold")
  }

  @Test("without a boot key `always` items wait for the unlock, and the status says so") func noBootKey() throws {
    try withSpoilt {
      unsafe unlink($0.store + "/boot.key")
    } then: { (sandbox, client) throws in
      let warnings = try sandbox.warnings()
      #expect(warnings.contains { $0.contains("there is no boot key") })
      #expect(try sandbox.unlock(password)?.error == nil)
    }
  }

  @Test(
    "a boot key open to others, of another size or of another vault is not used", arguments: ["mode", "size", "other"])
  func badBootKey(_ what: String) throws {
    try withSpoilt { sandbox in
      let path = sandbox.store + "/boot.key"
      switch what {
      case "mode": unsafe chmod(path, 0o640)
      case "size": unsafe truncate(path, 31)
      default:
        try Data(repeating: 7, count: 32).write(to: URL(fileURLWithPath: path))
        unsafe chmod(path, 0o600)
      }
    } then: { (sandbox, client) throws in
      let warnings = try sandbox.warnings()
      #expect(warnings.contains { $0.contains("boot") }, "\(warnings)")
      #expect(try client.call("Status").string("state") == "cold")
    }
  }

  @Test("a socket left by a daemon that was killed is replaced, anything else at its place is not") func staleSocket()
    throws
  {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon()
    #expect(try sandbox.stopDaemon(signal: SIGKILL) != 0)
    #expect(unsafe access(sandbox.socket, F_OK) == 0)
    try sandbox.startDaemon()
    #expect(try sandbox.client().call("Status").error == nil)
    try sandbox.stopDaemon()
    try Data("mine".utf8).write(to: URL(fileURLWithPath: sandbox.socket))
    let refused = try sandbox.run(program: "vaultd")
    #expect(refused.status == 78)
    #expect(FileManager.default.contents(atPath: sandbox.socket) == Data("mine".utf8))
  }

  @Test("the daemon does not start in a directory it cannot trust") func unsafeDirectory() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let folder = sandbox.runtime + "/vault"
    unsafe mkdir(folder, 0o700)
    for mode in [0o777, 0o770, 0o702] as [mode_t] {
      unsafe chmod(folder, mode)
      #expect(try sandbox.run(program: "vaultd").status == 78, "\(mode)")
    }
    unsafe rmdir(folder)
    unsafe symlink(sandbox.home, folder)
    #expect(try sandbox.run(program: "vaultd").status == 78)
  }

  @Test("what is missing or wrong at the start has its exit code") func startErrors() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let noRuntime = try sandbox.run([], program: "vaultd", environment: ["XDG_RUNTIME_DIR": nil])
    #expect(noRuntime.status == 78)
    #expect(noRuntime.errors.contains("XDG_RUNTIME_DIR is not set"))
    #expect(try sandbox.run("--nonsense", program: "vaultd").status == 64)
    #expect(try sandbox.run("--config", "/nonexistent", program: "vaultd").status == 78)
    try sandbox.configure("idle = 5m\nidel = 5m\n")
    let badConfig = try sandbox.run(program: "vaultd")
    #expect(badConfig.status == 78)
    #expect(
      badConfig.errors == "vaultd: \(sandbox.configuration), line 2: unknown setting `idel`; did you mean `idle`?\n")
    let long = "/" + String(repeating: "x", count: 120)
    try sandbox.configure("")
    #expect(try sandbox.run("--socket", sandbox.root + long + "/socket", program: "vaultd").status == 78)
    #expect(try sandbox.run("--help", program: "vaultd").output.hasPrefix("usage: vaultd"))
  }
}
