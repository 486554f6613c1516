import Foundation
import Glibc
import Testing
import VaultCore
import VaultModel
import VaultTesting

@testable import VaultStore

/// Stores that earlier programs wrote, and that a rekey harmed as those programs did, behind the real daemon.
@Suite("The repair of the audit log at the terminal") struct AuditRepairCommandTests {
  private static let password = "correct horse battery"

  /// Makes a sandbox with the store of an earlier vault whose rekey was cut off, and completes the rekey as those
  /// programs did: what waited in memory was written into the new store sealed to the old keys.
  ///
  /// - Returns: the sandbox, whose daemon does not run, and the numbers of the entries that nobody can read.
  private static func harmed(_ earlier: EarlierVault) throws -> (sandbox: Sandbox, lost: ClosedRange<Int64>) {
    let sandbox = try Sandbox()
    try earlier.copy("rekeying", into: sandbox)
    let keychain = try Keychain(opening: sandbox.store)
    let slot = try #require(keychain.slots.first { $0.kind == .password })
    let secret = unsafe SecureBytes(copying: Array(password.utf8).span.bytes)
    let vaultKey = try slot.openVaultKey(secret: secret, vaultID: keychain.vaultID)
    try keychain.unlock(vaultKey: vaultKey)
    try #require(try keychain.joinAudit(rows: .max) == [])
    try keychain.writeAudit(anchored: true)
    guard let nextKey = try keychain.nextKey(vaultKey: vaultKey) else { throw SandboxError("there is no rekey") }
    let rekey = try Rekey(resuming: keychain, nextKey: nextKey)
    try #require(try keychain.verify().isOK)
    while try !rekey.step(records: 100) {}

    let now = Int64(time(nil))
    let first = keychain.nextAuditEntry
    keychain.endAuditChain()
    var block = AuditBlock()
    for number in 0..<3 { block.add(.get, .ok, time: now, caller: nil, item: "lost/\(number)") }
    try keychain.sealAudit(&block, now: now)
    let last = keychain.nextAuditEntry - 1
    var waiting = keychain.bound.audit.take()
    try rekey.finish()
    keychain.bound.audit = waiting.take()
    keychain.endAuditChain()
    block.add(.rekey, .ok, time: now, caller: nil, item: "done")
    try keychain.sealAudit(&block, now: now)
    try keychain.writeAudit(anchored: true)
    try keychain.close()
    return (sandbox, first...last)
  }

  private func must(_ sandbox: Sandbox, _ words: String..., stdin: String = "") throws -> String {
    let outcome = try sandbox.run(words, stdin: Array(stdin.utf8))
    try #require(outcome.status == 0, "\(words): \(outcome)")
    return outcome.output
  }

  /// Starts the daemon, and unlocks the vault.
  private func open(_ sandbox: Sandbox) throws {
    try sandbox.startDaemon(config: EarlierVault.config)
    // A proof that a kill has cut off may count as a wrong attempt.
    try wait(for: "the next attempt") {
      let outcome = try sandbox.run("unlock", "--password-stdin", stdin: Self.password + "\n")
      try #require(outcome.status == 0 || outcome.errors.contains("too soon after the last attempt"), "\(outcome)")
      return outcome.status == 0
    }
  }

  /// Begins `vault audit repair` on a terminal, and types the password.
  private func repairing(_ sandbox: Sandbox, _ options: [String] = []) throws -> Terminal {
    // With a named socket, the command starts no daemon itself.
    let words = ["audit", "repair", "--socket", sandbox.socket] + options
    let terminal = try Terminal(sandbox, words, environment: ["NO_COLOR": "1"])
    try terminal.expect("Vault password")
    try terminal.expect("): ")
    terminal.type(Self.password)
    return terminal
  }

  /// Runs `vault audit repair` on a terminal, and returns what the terminal shows.
  private func repair(_ sandbox: Sandbox, _ options: [String] = [], status: Int32 = 0) throws -> String {
    let terminal = try repairing(sandbox, options)
    #expect(try terminal.wait() == status, "\(terminal.screen)")
    return terminal.screen
  }

  private static func fault(_ lost: ClosedRange<Int64>) -> String {
    "the entries \(lost.lowerBound) to \(lost.upperBound) of the audit log are sealed to the keys from before a rekey, "
      + "and cannot be read; `vault audit repair` sets them aside"
  }

  /// Returns the number of entries that report these ones as set aside.
  private func reports(_ sandbox: Sandbox, of lost: ClosedRange<Int64>) throws -> Int {
    try sandbox.run("audit", "list", "-n", "10000", "--json").output.split(separator: "\n")
      .count { $0.contains("entries \(lost.lowerBound) to \(lost.upperBound): set aside") }
  }

  @Test(
    "tells what it has set aside, and from then on the store is whole", arguments: EarlierVault.all, [false, true])
  func repaired(earlier: EarlierVault, isJSON: Bool) throws {
    let (sandbox, lost) = try Self.harmed(earlier)
    defer { sandbox.close() }
    try open(sandbox)
    // Each place that tells of the fault names the command.
    let found = try sandbox.run("verify")
    #expect(found.status == 65 && found.output.hasPrefix("damaged: \(Self.fault(lost))\n"), "\(found)")
    #expect(try must(sandbox, "status").contains("something is wrong with the store: \(Self.fault(lost))"))
    let unlock = try Terminal(sandbox, ["unlock"], environment: ["NO_COLOR": "1"])
    #expect(try unlock.wait() == 0)
    #expect(unlock.screen.hasPrefix("vault: something is wrong with the store: \(Self.fault(lost)); "))
    #expect(try sandbox.run("set", "new", stdin: "v").status == 65)
    // Without a terminal, nobody can show presence.
    let unattended = try sandbox.run("audit", "repair")
    #expect(unattended.status == 77 && unattended.output.isEmpty, "\(unattended)")
    #expect(try sandbox.run("verify").status == 65)

    if isJSON {
      let told = try repair(sandbox, ["--json"])
      #expect(told.contains(#"{"aside":[{"first":\#(lost.lowerBound),"last":\#(lost.upperBound),"since":"#), "\(told)")
    } else {
      let told = try repair(sandbox)
      #expect(told.contains("set aside: entries \(lost.lowerBound) to \(lost.upperBound), "), "\(told)")
      #expect(told.contains("vault: the store is being checked again; `vault verify` shows the result"), "\(told)")
    }
    _ = try must(sandbox, "verify")
    _ = try must(sandbox, "audit", "--verify")
    _ = try must(sandbox, "set", "new", stdin: "v")
    #expect(try reports(sandbox, of: lost) == 1)
    let again = try repair(sandbox, isJSON ? ["--json"] : [])
    #expect(again.contains(isJSON ? #"{"aside":[]}"# : "nothing to repair"), "\(again)")

    try sandbox.stopDaemon()
    try open(sandbox)
    _ = try must(sandbox, "verify")
    #expect(try must(sandbox, "get", "new") == "v" && must(sandbox, "get", "items/always") == "always three")
    #expect(try reports(sandbox, of: lost) == 1)
  }

  @Test("changes nothing and ends with 65 where anything else is wrong", arguments: EarlierVault.all)
  func others(earlier: EarlierVault) throws {
    let (sandbox, lost) = try Self.harmed(earlier)
    defer { sandbox.close() }
    try sandbox.editStore("UPDATE heads SET value = zeroblob(length(value)) WHERE id = (SELECT min(id) FROM heads)")
    try open(sandbox)
    let found = try sandbox.run("verify")
    #expect(found.status == 65 && found.output.contains(Self.fault(lost)), "\(found)")
    let told = try repair(sandbox, status: 65)
    #expect(!told.contains("set aside: "), "\(told)")
    #expect(try sandbox.run("verify").output == found.output)
    #expect(try reports(sandbox, of: lost) == 0)
  }

  @Test("sets the entries aside once, at whichever moment the daemon is killed meanwhile", arguments: EarlierVault.all)
  func killed(earlier: EarlierVault) throws {
    let (harmed, lost) = try Self.harmed(earlier)
    defer { harmed.close() }
    for round in 0..<8 {
      let sandbox = try Sandbox()
      defer { sandbox.close() }
      try FileManager.default.copyItem(atPath: harmed.store, toPath: sandbox.store)
      try open(sandbox)
      let terminal = try repairing(sandbox)
      // The proof takes some hundredths of a second, and the repair comes right behind it.
      usleep(UInt32(round) * 40_000)
      try sandbox.stopDaemon(signal: SIGKILL)
      let isDone = try terminal.wait() == 0
      try open(sandbox)
      if isDone { _ = try must(sandbox, "verify") }
      _ = try repair(sandbox)
      _ = try must(sandbox, "verify")
      _ = try must(sandbox, "audit", "--verify")
      #expect(try reports(sandbox, of: lost) == 1, "round \(round)")
      _ = try must(sandbox, "set", "new", stdin: "v")
    }
  }
}
