import Foundation
import Testing
import VaultTesting

@testable import VaultCLI

extension EarlierVault {
  /// Makes a sandbox with a daemon and a copy of one of the stores.
  fileprivate func sandbox(_ store: String? = nil) throws -> Sandbox {
    let sandbox = try Sandbox()
    if let store { try copy(store, into: sandbox) }
    try sandbox.startDaemon(config: Self.config)
    return sandbox
  }

  /// Returns the lines of JSON that the programs of that release printed.
  fileprivate func said(_ what: String) throws -> [NSDictionary] {
    try Self.lines(String(contentsOfFile: path("said-" + what), encoding: .utf8))
  }

  fileprivate static func lines(_ text: String) throws -> [NSDictionary] {
    try text.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? NSDictionary)
    }
  }
}

@Suite("Upgrades: what earlier programs wrote") struct UpgradeTests {
  /// Expects each old line among the current ones. A current line may have more members, and members in `changing` may
  /// differ.
  private func expect(_ now: String, holds then: [NSDictionary], but changing: Set<String> = []) throws {
    let lines = try EarlierVault.lines(now)
    #expect(!then.isEmpty)
    for old in then {
      let keys = old.allKeys.compactMap { $0 as? String }.filter { !changing.contains($0) }
      #expect(
        lines.contains { line in keys.allSatisfy { (old[$0] as? NSObject)?.isEqual(line[$0]) == true } },
        "\(old) is not in \(now)")
    }
  }

  /// Unlocks the vault, once a second has passed since the wrong attempt that the store records.
  private func unlock(_ sandbox: Sandbox) throws {
    try wait(for: "the next attempt") {
      let outcome = try sandbox.run("unlock", "--password-stdin", stdin: password + "\n")
      try #require(outcome.status == 0 || outcome.errors.contains("too soon after the last attempt"), "\(outcome)")
      return outcome.status == 0
    }
  }

  /// Expects the store and the audit log to be as they were written.
  private func verify(_ sandbox: Sandbox) throws {
    try sandbox.must(["verify"])
    let log = try sandbox.must(["audit", "--verify"])
    #expect(log.contains("now:"), "\(log)")
    #expect(try sandbox.must(["status"]).contains("integrity:  all records are as they were written"))
  }

  /// Reads everything that each of the stores and backups holds.
  private func read(_ sandbox: Sandbox, _ vault: EarlierVault) throws {
    func get(_ name: String, _ options: String...) throws -> String { try sandbox.must(["get", name] + options) }
    for name in ["when-unlocked", "after-first-unlock", "always"] {
      let item = "items/" + name
      #expect(try get(item) == name + " three")
      for (version, value) in [(1, "one"), (2, "two"), (3, "three")] {
        #expect(try get(item, "--version", "\(version)") == "\(name) \(value)")
      }
    }
    #expect(try get("iot/sensor") == "tok")
    #expect(try get("large") == String(repeating: "L", count: 20_000))
    #expect(try sandbox.run(["get", "bytes"]).stdout == [0, 1, 255] + Array("bytes\n".utf8))
    #expect(try get("moved/to") == "old name")
    #expect(try sandbox.run(["get", "moved/from"]).status == 66)
    #expect(try sandbox.must(["find", "owner=ana", "class=always"]) == "items/always\n")
    // An item that requires presence is not given without it.
    #expect(try sandbox.run(["get", "guarded"]).status != 0)
    // Keys, tokens and the list of revoked tokens.
    #expect(
      try sandbox.must(["pubkey", "keys/sign"]) == String(contentsOfFile: vault.path("public"), encoding: .utf8))
    let signature = try sandbox.run(["sign", "keys/sign"], stdin: Array("signed".utf8))
    #expect(Data(signature.stdout) == FileManager.default.contents(atPath: vault.path("signature")))
    for (token, status) in [("good", 0), ("revoked", 65), ("of-revoked-subject", 65)] as [(String, Int32)] {
      let outcome = try sandbox.run(["token", "verify", "keys/gateway", vault.path("token-" + token)])
      #expect(outcome.status == status, "\(token): \(outcome)")
      #expect(status == 0 || outcome.errors.contains("the token was revoked"), "\(token): \(outcome)")
    }
    // Items in the trash can be restored.
    for (name, value) in [("trash/first", "deleted"), ("trash/always", "deleted, always")] {
      try sandbox.must(["trash", "restore", name])
      #expect(try get(name) == value)
    }
    // Each counter's code is given only once, so this is the next one.
    #expect(try sandbox.must(["totp", "hotp"]) == "287082")
  }

  @Test(
    "a store opens cold and unlocked, loses nothing, and stays whole through a restart and a rekey",
    arguments: EarlierVault.all)
  func store(vault: EarlierVault) throws {
    let sandbox = try vault.sandbox("store")
    defer { sandbox.close() }
    #expect(try sandbox.must(["get", "items/always"]) == "always three")
    try unlock(sandbox)
    try verify(sandbox)
    try expect(sandbox.must(["list", "--json"]), holds: vault.said("list"), but: ["created", "modified"])
    try expect(sandbox.must(["trash", "list", "--json"]), holds: vault.said("trash"), but: ["left"])
    try expect(sandbox.must(["grants", "--json"]), holds: vault.said("grants"), but: ["subject"])
    try expect(sandbox.must(["deposits", "list", "--json"]), holds: vault.said("deposits"))
    // The log has everything that happened before the unlock, cold sessions included, with each caller.
    let unlocked = try #require(try vault.said("audit").last { $0["action"] as? String == "unlock" }?["number"] as? Int)
    let before = try vault.said("audit").filter { ($0["number"] as? Int ?? 0) < unlocked }
    #expect(before.count > 60)
    try expect(sandbox.must(["audit", "list", "-n", "10000", "--json"]), holds: before, but: ["user"])
    // The log knows the items of the old reads only by name.
    let uses = try sandbox.run(["audit", "item", "items/after-first-unlock"])
    #expect(uses.output.contains("\tget\t"), "\(uses)")
    let note = "of these are known only by the name, which another item may have had then\n"
    #expect(uses.errors.contains(note), "\(uses)")
    let uncertain = try sandbox.must(["audit", "item", "items/after-first-unlock", "--json"])
    #expect(uncertain.contains(/"by_name":\d+}/), "\(uncertain)")
    // The unlock folded in the waiting deposit.
    #expect(try sandbox.must(["get", "drop/new"]) == "left while locked")
    try read(sandbox, vault)
    try sandbox.must(["set", "items/always", "--update"], stdin: "new")
    try sandbox.stopDaemon()
    try sandbox.startDaemon()
    let code = try String(contentsOfFile: vault.path("recovery-code"), encoding: .utf8)
    try sandbox.must(["unlock", "--recovery", "--password-stdin"], stdin: code)
    try verify(sandbox)
    try sandbox.must(["rekey", "--password-stdin"], stdin: password + "\n")
    #expect(try sandbox.must(["get", "items/always"]) == "new")
    try verify(sandbox)
    try expect(sandbox.must(["audit", "list", "-n", "10000", "--json"]), holds: before, but: ["user"])
    try expect(sandbox.must(["grants", "--json"]), holds: vault.said("grants"), but: ["subject"])
  }

  /// The first write that an earlier store gets.
  enum FirstWrite: CaseIterable {
    case unlock, deposit, revocation, rekey

    /// The arguments and the input of the command.
    var command: (words: [String], stdin: String) {
      switch self {
      case .unlock: (["unlock", "--password-stdin"], password + "\n")
      // A cold vault takes deposits only for this class.
      case .deposit: (["deposit", "drop/late", "--accessible", "always"], "left last")
      case .revocation: (["token", "revoke", "keys/gateway", "--sub", "lamp-1"], "")
      case .rekey: (["rekey", "--password-stdin"], password + "\n")
      }
    }

    /// True if the vault is unlocked before the command.
    var isUnlocked: Bool {
      switch self {
      case .unlock, .deposit: false
      case .revocation, .rekey: true
      }
    }

    /// The number of kills, and the microseconds by which each comes later than the one before it.
    var kills: (count: Int, step: UInt32) {
      switch self {
      // An unlock takes some tenths of a second, with the check, the log and the deposits behind it.
      case .unlock: (8, 60_000)
      case .deposit, .revocation: (5, 15_000)
      case .rekey: (6, 80_000)
      }
    }
  }

  @Test(
    "a daemon that is killed while it first writes to the store, or right after, leaves it whole and keeps its word",
    arguments: EarlierVault.all, FirstWrite.allCases)
  func killed(vault: EarlierVault, write: FirstWrite) throws {
    let (words, stdin) = write.command
    for round in 0..<write.kills.count {
      let sandbox = try Sandbox()
      defer { sandbox.close() }
      try vault.copy("store", into: sandbox)
      // The wrong attempt that it records would keep the daemon from trying the password.
      try? FileManager.default.removeItem(atPath: sandbox.store + "/backoff")
      try sandbox.startDaemon(config: EarlierVault.config)
      if write.isUnlocked { try unlock(sandbox) }
      // With a named socket, the command starts no daemon itself.
      let command = Begun(
        sandbox, words + ["--socket", sandbox.socket], program: Sandbox.path(of: "vault"), stdin: stdin)
      usleep(UInt32(round) * write.kills.step)
      try sandbox.stopDaemon(signal: SIGKILL)
      let outcome = try command.outcome()
      #expect(!outcome.errors.contains("too soon"), "\(outcome)")
      let isDone = outcome.status == 0
      try sandbox.startDaemon()
      try unlock(sandbox)
      try waitForRekey(sandbox)
      try verify(sandbox)
      let unlocked = try #require(
        try vault.said("audit").last { $0["action"] as? String == "unlock" }?["number"] as? Int)
      let before = try vault.said("audit").filter { ($0["number"] as? Int ?? 0) < unlocked }
      try expect(sandbox.must(["audit", "list", "-n", "10000", "--json"]), holds: before, but: ["user"])
      try expect(sandbox.must(["grants", "--json"]), holds: vault.said("grants"), but: ["subject"])
      #expect(try sandbox.must(["get", "drop/new"]) == "left while locked")
      #expect(try sandbox.must(["get", "items/always"]) == "always three")
      try expect(write, isDone: isDone, sandbox, vault)
    }
  }

  /// Expects the effect of a write that was answered, and that the same write works now in any case.
  private func expect(_ write: FirstWrite, isDone: Bool, _ sandbox: Sandbox, _ vault: EarlierVault) throws {
    let (words, stdin) = write.command
    func deposited() throws -> String { try sandbox.run("get", "drop/late").output }
    func revoked() throws -> Bool {
      try sandbox.run(["token", "verify", "keys/gateway", vault.path("token-good")]).status == 65
    }
    switch write {
    case .unlock: break
    case .deposit:
      let value = try deposited()
      #expect(value == "left last" || !isDone && value.isEmpty, "\(value)")
    case .revocation: #expect(try revoked() || !isDone)
    case .rekey: #expect(try sandbox.must(["status", "--json"]).contains(#""state":"unlocked""#))
    }
    try sandbox.must(words, stdin: stdin)
    try waitForRekey(sandbox)
    try verify(sandbox)
    switch write {
    case .unlock, .rekey: break
    case .deposit: #expect(try deposited() == "left last")
    case .revocation: #expect(try revoked())
    }
  }

  /// Waits for the end of the rekey, if one is under way.
  private func waitForRekey(_ sandbox: Sandbox) throws {
    let client = try sandbox.client()
    try wait(for: "the end of the rekey") {
      // The daemon continues the rekey between requests.
      _ = try client.call("Status")
      return !FileManager.default.fileExists(atPath: sandbox.store + "/rekey")
    }
  }

  @Test("a rekey that was cut resumes with the unlock, and ends", arguments: EarlierVault.all)
  func rekeying(vault: EarlierVault) throws {
    let sandbox = try vault.sandbox("rekeying")
    defer { sandbox.close() }
    try unlock(sandbox)
    try waitForRekey(sandbox)
    try sandbox.stopDaemon()
    try sandbox.startDaemon()
    try unlock(sandbox)
    try verify(sandbox)
    try read(sandbox, vault)
    let again = try sandbox.client()
    for number in 1...40 {
      #expect(try again.call("Get", ["name": "many/\(number)"]).string("value") == "v\(number)")
    }
    #expect(try sandbox.must(["get", "drop/new"]) == "left while locked")
    try expect(sandbox.must(["deposits", "list", "--json"]), holds: vault.said("deposits"))
  }

  @Test("backups restore into vaults that have everything", arguments: EarlierVault.all)
  func backups(vault: EarlierVault) throws {
    for file in ["unlocked.backup", "locked.backup"] {
      let sandbox = try vault.sandbox()
      defer { sandbox.close() }
      try sandbox.must(["restore", vault.path(file), "--password-stdin"], stdin: password + "\n")
      #expect(try sandbox.must(["get", "items/always"]) == "always three")
      try unlock(sandbox)
      try verify(sandbox)
      try read(sandbox, vault)
      if file == "locked.backup" {
        let deposits = try EarlierVault.lines(sandbox.must(["deposits", "list", "--json"]))
        #expect(deposits.contains { $0["name"] as? String == "aside/item" }, "\(deposits)")
        // The grants of a restored vault count only once confirmed, so the waiting deposits were kept aside.
        let number = try #require(deposits.first { $0["name"] as? String == "drop/new" }?["number"] as? Int)
        try sandbox.must(["deposits", "accept", "--yes", "\(number)"])
        #expect(try sandbox.must(["get", "drop/new"]) == "left while locked")
      }
      let said = try vault.said("audit")
      let taken = try #require(
        said.indices.filter { said[$0]["action"] as? String == "backup" }.dropFirst(file == "locked.backup" ? 1 : 0)
          .first)
      let before = Array(said[..<taken])
      try expect(sandbox.must(["audit", "list", "-n", "10000", "--json"]), holds: before, but: ["user"])
    }
  }
}
