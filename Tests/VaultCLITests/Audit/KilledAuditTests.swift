import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultCLI

@Suite("A daemon that is killed right after its answer, where the audit log is required") struct KilledAuditTests {
  /// Makes a vault, unlocked, whose audit log is required.
  private func unlocked() throws -> Sandbox {
    let sandbox = try Sandbox()
    _ = try sandbox.makeVault(password: password, config: "idle = off\naudit = required")
    try sandbox.unlock(password)
    return sandbox
  }

  /// Returns the action, outcome and item of each entry of the audit log.
  private func told(_ sandbox: Sandbox) throws -> [String] {
    try sandbox.must(["audit", "--json"]).split(separator: "\n").compactMap { line in
      let entry = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
      let words = ["action", "outcome", "item"].compactMap { entry[$0] as? String }.joined(separator: " ")
      // The id of an item of the keyring is random.
      return words.replacing(/\/[0-9a-f]{16}$/, with: "/ID")
    }
  }

  /// Kills the daemon, unlocks the vault of the next one, and returns the entries from before that unlock.
  private func toldAfterKill(_ sandbox: Sandbox) throws -> [String] {
    try sandbox.stopDaemon(signal: SIGKILL)
    try sandbox.startDaemon()
    try sandbox.unlock(password)
    let told = try told(sandbox)
    return try Array(told[..<#require(told.lastIndex { $0.hasPrefix("unlock ") })])
  }

  @Test("has lost no change of the slots in any state of the vault, nor its entry") func slots() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    _ = try sandbox.makeVault(password: password, config: "idle = off\naudit = required")
    func slots() throws -> [Int] {
      try sandbox.must(["slot", "list", "--json"]).split(separator: "\n").compactMap { line in
        (try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["id"] as? Int
      }
    }
    for state in ["cold", "locked", "unlocked"] {
      if state != "cold" { try sandbox.unlock(password) }
      if state == "locked" { try sandbox.must(["lock"]) }
      let before = try slots()
      try sandbox.must(["slot", "add", "recovery", "--password-stdin"], stdin: password + "\n")
      try sandbox.stopDaemon(signal: SIGKILL)
      try sandbox.startDaemon()
      let added = try slots()
      #expect(added.count == before.count + 1, "\(state)")
      try sandbox.must(["slot", "remove", "\(added.last ?? 0)", "--password-stdin"], stdin: password + "\n")
      try sandbox.stopDaemon(signal: SIGKILL)
      try sandbox.startDaemon()
      #expect(try slots() == before, "\(state)")
      try sandbox.unlock(password)
      let told = try told(sandbox).filter { $0.hasPrefix("slot ") }
      #expect(told.suffix(2).map { $0.hasPrefix("slot ok slot ") } == [true, true], "\(state): \(told)")
      try sandbox.stopDaemon(signal: SIGKILL)
      try sandbox.startDaemon()
    }
  }

  @Test("has lost the entry of no call that it had answered", arguments: AnsweredCalls.Part.allCases)
  func killed(_ part: AnsweredCalls.Part) throws {
    let sandbox = try unlocked()
    defer { sandbox.close() }
    for call in try AnsweredCalls(in: sandbox).calls(part) {
      let client = try sandbox.client()
      let reply = try call.make(over: client, in: sandbox)
      let told = try toldAfterKill(sandbox)
      // It stays until then, because the end of a connection may write entries as well.
      withExtendedLifetime(client) {}
      #expect(reply.error == call.error, "\(call.method) \(reply)")
      #expect(told.last == call.entry, "\(call.method) \(told.suffix(4))")
    }
  }

  @Test("of which each method is tried here, but for those without an entry of their own") func complete() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon()
    let reply = try sandbox.client().call(
      "org.varlink.service.GetInterfaceDescription", ["interface": "io.vaultd.Vault"])
    let methods = try #require(reply.string("description")).matches(of: /\nmethod ([A-Za-z]+)\(/).map { "\($0.1)" }
    let calls = AnsweredCalls.Part.allCases.flatMap { AnsweredCalls().calls($0) }
    let elsewhere: Set = [
      "AddSlot", "RemoveSlot", "Init", "Restore", "Unlock", "Lock", "Rekey", "Approve", "Deny", "ForgetDenial",
    ]
    let missing = Set(methods).subtracting(calls.map(\.method)).subtracting(elsewhere)
    // A question for the state has no entry, and an answer to a prompt is a part of the call that asked.
    #expect(missing == ["Status", "Respond"])
  }

  @Test("has lost nothing of what made, locked and unlocked the vault, or gave it another key") func vault() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon(config: "idle = off\naudit = required")
    let made = try sandbox.converse("Init", ["kdf_memory": 19 << 20, "kdf_passes": 2]) { _ in password }
    #expect(made?.error == nil)
    #expect(try toldAfterKill(sandbox).last == "create ok")
    let client = try sandbox.client()
    #expect(try client.call("Lock").error == nil)
    #expect(try toldAfterKill(sandbox).last == "lock ok by `vault lock`")
    withExtendedLifetime(client) {}
    try sandbox.must(["lock"])
    try sandbox.unlock(password)
    #expect(try toldAfterKill(sandbox).suffix(2) == ["lock ok by `vault lock`", "unlock ok by password"])
    try sandbox.must(["rekey", "--password-stdin"], stdin: password + "\n")
    #expect(try toldAfterKill(sandbox).suffix(2) == ["rekey ok", "rekey ok done"])
    let copy = sandbox.root + "/copy"
    try sandbox.must(["backup", copy])
    let other = try Sandbox()
    defer { other.close() }
    try other.startDaemon(config: "idle = off\naudit = required")
    try other.must(["restore", copy, "--password-stdin"], stdin: password + "\n")
    #expect(try toldAfterKill(other).last?.hasPrefix("restore ok a backup of ") == true)
  }

  @Test(
    "has lost no entry of an answer to a request", .enabled(if: Root.isAtHand, "needs root to be another user"))
  func requests() throws {
    let sandbox = try unlocked()
    defer { sandbox.close() }
    try sandbox.must(["set", "a"], stdin: "value")
    func request() throws -> Int {
      try sandbox.admitEveryone()
      let asker = try OtherProcess(in: sandbox, uid: OtherProcess.nobody).connect()
      let reply = try asker.call("Get", ["name": "a", "reason": "one"])
      return try #require(reply.integer("request"), "\(reply)")
    }
    func answer(_ method: String, _ parameters: WireClient.Message, _ entry: String) throws {
      let client = try sandbox.client()
      let reply = try client.call(method, parameters)
      #expect(reply.error == nil, "\(method) \(reply)")
      // The client trusts no folder that is open to others.
      unsafe chmod(sandbox.runtime + "/vault", 0o700)
      let told = try toldAfterKill(sandbox)
      withExtendedLifetime(client) {}
      #expect(told.last == entry, "\(method) \(told.suffix(4))")
    }
    try answer("Approve", ["number": request()], "approve ok a")
    try answer("Approve", ["number": request(), "always": true], "approve ok a")
    try answer("Revoke", ["subject": "user:65534"], "revoke ok user:65534")
    try answer("Deny", ["number": request()], "deny ok a")
    // The denial was for the daemon that was killed, and this one is for good.
    try answer("Deny", ["number": request(), "always": true], "deny ok a")
    try answer("ForgetDenial", ["subject": "user:65534", "name": "a"], "deny ok a")
  }
}
