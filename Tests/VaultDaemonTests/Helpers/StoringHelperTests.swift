import Foundation
import Glibc
import Testing
import VaultTesting

/// Helper programs that received a new key for their keystore, and do not answer.
@Suite(
  "A helper program that was given a key",
  .enabled(if: MemorySearch.isPossible, MemorySearch.need))
struct StoringHelperTests {
  private static let password = "correct horse battery"

  /// Makes a daemon whose keystore programs are scripts.
  private func stand(_ config: String = "") throws -> Sandbox {
    let sandbox = try Sandbox()
    let programs = sandbox.root + "/bin"
    let made = try sandbox.run(
      [
        "-c", "mkdir $0 && cp $1 $0 && ln -s $2 $0/vault-keyring && ln -s $2 $0/vault-tpm2", programs,
        Sandbox.path(of: "vaultd"), ScriptedHelper.path,
      ], program: "/bin/sh")
    #expect(made.status == 0, "\(made)")
    // The request ends with a NUL; the file gets its name once the request is complete. `exec`, because a child would
    // outlive the script.
    try sandbox.write(
      "head -z -n 1 <&0 >$HOME/part; echo $$ >$HOME/pid; mv $HOME/part $HOME/question; exec sleep 1000", to: "script")
    try sandbox.startDaemon(config: "idle = off\n" + config, through: [programs + "/vaultd"])
    return sandbox
  }

  private func make(_ sandbox: Sandbox) throws {
    let made = try sandbox.converse("Init", ["kdf_memory": 19 << 20, "kdf_passes": 2]) { _ in Self.password }
    #expect(made?.error == nil)
    try sandbox.unlock(Self.password)
  }

  /// Answers the call's first prompt, waits until the helper has its request, and returns the helper's process and the
  /// key.
  private func begin(
    _ method: String, _ parameters: WireClient.Message, _ sandbox: Sandbox
  ) throws -> (client: WireClient, helper: Int32, key: [UInt8]) {
    let client = try sandbox.client()
    let prompt = try client.call(method, parameters, more: true)
    let conversation = try #require(prompt.string("conversation"), "\(prompt)")
    let answer = ["conversation": conversation, "answer": Self.password]
    #expect(try sandbox.client().call("Respond", answer).error == nil)
    let deadline = time(nil) + 60
    while time(nil) < deadline {
      guard let question = FileManager.default.contents(atPath: sandbox.home + "/question") else { continue }
      let fields = try JSONSerialization.jsonObject(with: question.prefix { $0 != 0 }) as? [String: Any]
      let key = try #require((fields?["key"] as? String).flatMap { Data(base64Encoded: $0) })
      let pid = try String(contentsOfFile: sandbox.home + "/pid", encoding: .utf8)
      return (client, try #require(Int32(pid.trimmingCharacters(in: .newlines))), [UInt8](key))
    }
    throw SandboxError("waited in vain for the helper")
  }

  private func expectGone(_ helper: Int32) {
    let deadline = time(nil) + 60
    while ProcessTree.hasMemory(helper), time(nil) < deadline { sched_yield() }
    #expect(!ProcessTree.hasMemory(helper), "the helper is still there")
  }

  private static let calls: [(String, String)] = [("AddSlot", ""), ("Init", "keyring"), ("Init", "tpm2")]

  /// Begins to make a slot in a vault, a vault with a slot, or a vault whose boot key the TPM keeps.
  private func begin(_ call: (String, String)) throws -> (Sandbox, client: WireClient, helper: Int32, key: [UInt8]) {
    let isBootKey = call.1 == "tpm2"
    let sandbox = try stand()
    var parameters: WireClient.Message = ["kind": "pam", "keystore": "keyring"]
    if call.0 == "AddSlot" {
      try make(sandbox)
    } else {
      if isBootKey {
        _ = try sandbox.stopDaemon()
        try sandbox.startDaemon(
          config: "idle = off\nboot-key = tpm2:\(sandbox.home)/boot.key", through: [sandbox.root + "/bin/vaultd"])
      }
      parameters = ["kdf_memory": 19 << 20, "kdf_passes": 2]
      if !isBootKey { parameters["keystore"] = "keyring" }
    }
    let (client, helper, key) = try begin(call.0, parameters, sandbox)
    return (sandbox, client, helper, key)
  }

  /// Begins such a call with a client that leaves before any answer.
  private func beginAndLeave(_ call: (String, String)) throws -> (Sandbox, helper: Int32, key: [UInt8]) {
    let (sandbox, client, helper, key) = try begin(call)
    withExtendedLifetime(client) {}
    return (sandbox, helper, key)
  }

  @Test("ends with the lock that calls it off, and the daemon has nothing of the key", arguments: calls)
  func locked(call: (String, String)) throws {
    let (sandbox, client, helper, key) = try begin(call)
    defer { sandbox.close() }
    let daemon = try #require(sandbox.daemonPid)
    // The positive control: the daemon has the key until the lock.
    #expect(try MemorySearch(pid: daemon).find(["key": key]).keys.sorted() == ["key"])
    try sandbox.signalDaemon(SIGUSR1)
    #expect(try client.reply().error == "Cancelled")
    #expect(try MemorySearch(pid: daemon).findForms(of: ["key": key]) == [:])
    expectGone(helper)
    #expect(try sandbox.client().call("Status").error == nil)
  }

  @Test("ends when its client goes", arguments: calls) func abandoned(call: (String, String)) throws {
    let (sandbox, helper, key) = try beginAndLeave(call)
    defer { sandbox.close() }
    expectGone(helper)
    let daemon = try #require(sandbox.daemonPid)
    #expect(try MemorySearch(pid: daemon).findForms(of: ["key": key]) == [:])
  }

  @Test("ends before the daemon does", arguments: calls) func stopped(call: (String, String)) throws {
    let (sandbox, client, helper, _) = try begin(call)
    defer { sandbox.close() }
    #expect(try sandbox.stopDaemon() == 0)
    #expect(!ProcessTree.hasMemory(helper), "the helper outlived the daemon")
    withExtendedLifetime(client) {}
  }
}
