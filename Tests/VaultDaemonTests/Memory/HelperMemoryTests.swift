import Foundation
import Glibc
import Testing
import VaultTesting

/// The memory of the programs that the daemon starts, searched for the vault's keys and for the typed secrets.
@Suite(
  "The memory of the helper programs",
  .enabled(if: MemorySearch.isPossible, MemorySearch.need))
struct HelperMemoryTests {
  @discardableResult
  private func wait<T>(_ what: String, for find: () throws -> T?) throws -> T {
    let deadline = time(nil) + 60
    while time(nil) < deadline { if let found = try find() { return found } }
    throw SandboxError("waited in vain for \(what)")
  }

  private func helper(_ name: String, of parent: Int32?) throws -> Int32 {
    let parent = try #require(parent)
    return try wait(name) { ProcessTree.processes(named: name, of: parent).first }
  }

  /// Returns the helper of a keystore that does not answer, once the helper has read its request: after that it
  /// connects to the keystore.
  private func blockedHelper(_ keystore: String, _ stage: KeyStage) throws -> Int32 {
    let helper = try helper("vault-\(keystore)", of: stage.sandbox.daemonPid)
    return try wait("it to connect to its keystore") { ProcessTree.socketCount(helper) > 1 ? helper : nil }
  }

  /// The other secrets that are typed or shown in the daemon's conversations.
  private func secrets(_ stage: KeyStage) -> [String: [UInt8]] {
    ["password": Array(stage.password.utf8), "code": Array(stage.code.utf8)]
  }

  private func pause(_ stage: KeyStage, _ isPaused: Bool) {
    if isPaused {
      stage.surroundings.chip?.pause()
      stage.surroundings.keyring?.pause()
    } else {
      stage.surroundings.chip?.resume()
      stage.surroundings.keyring?.resume()
    }
  }

  @Test(
    "that of a keystore has no key before its keystore gives it one, and never another than that",
    arguments: ["tpm2", "keyring"])
  func fetching(keystore: String) throws {
    for _ in 1...2 { do { return try fetch(keystore) } catch is HeldEnd.Missed {} }
    try fetch(keystore)
  }

  private func fetch(_ keystore: String) throws {
    let stage = try KeyStage("", .keystore(keystore))
    try stage.addPresence()
    pause(stage, true)
    let client = try stage.sandbox.client()
    var reply = try client.call("Unlock", ["method": "pam"], more: true)
    let helper = try blockedHelper(keystore, stage)
    let all = stage.keys.keys.merging(secrets(stage)) { $1 }
    #expect(try MemorySearch(pid: helper).find(all).keys.sorted() == [])
    let end = try HeldEnd(of: helper)
    pause(stage, false)
    while reply.prompt != nil { reply = try client.reply() }
    #expect(reply.error == nil, "\(reply)")
    // The helper has answered and is ending; the rest of the key goes with its memory.
    try end.wait()
    let found = try Set(MemorySearch(pid: helper, registers: false).find(all).keys)
    #expect(found.isSubset(of: ["presence key 3"]), "\(found)")
    end.letGo()
    // In the daemon, neither end of the pipe still holds a part of the key.
    try stage.lock()
    try stage.expect(Held.locked)
  }

  @Test("that of a keystore holds the key it is given until it has passed it on", arguments: ["tpm2", "keyring"])
  func storing(keystore: String) throws {
    let stage = try KeyStage("", .keystore(keystore))
    try stage.unlock()
    pause(stage, true)
    let client = try stage.sandbox.client()
    let prompt = try client.call("AddSlot", ["kind": "pam", "keystore": keystore], more: true)
    let conversation = try #require(prompt.string("conversation"))
    let answer = ["conversation": conversation, "answer": stage.password]
    #expect(try stage.sandbox.client().call("Respond", answer).error == nil)
    // The copy of the helper's memory is searched later, once the slot exists and its key is known.
    let waiting = try MemorySearch(pid: blockedHelper(keystore, stage))
    pause(stage, false)
    var reply = try client.reply()
    while reply.prompt != nil { reply = try client.reply() }
    #expect(reply.integer("slot") == 3, "\(reply)")
    try stage.computeKeys()
    let all = stage.keys.keys.merging(secrets(stage)) { $1 }
    #expect(all["presence key 3"] != nil)
    // The positive control: the one key that the helper needs.
    #expect(waiting.find(all).keys.sorted() == ["presence key 3"])
    try stage.expect(Held.unlocked)
  }

  @Test("that of PAM has nothing before a password was typed, then that alone, and the daemon nothing of it")
  func typing() throws {
    // This PAM service keeps the password and works as long as the test needs.
    let vault = try UserVault(
      pam: """
        auth required pam_unix.so nodelay
        auth required pam_exec.so quiet /bin/sleep 1000
        account required pam_unix.so

        """)
    defer { vault.close() }
    try vault.make()
    #expect(try vault.addSlot("memory").reply?.error == nil)
    let keys = try KeyHierarchy(of: vault.sandbox, KeyHierarchy.Secrets(password: vault.password))
    let typed = Array(vault.user.password.utf8)
    let all = keys.keys.merging(["password": Array(vault.password.utf8)]) { $1 }
    let client = try vault.client()
    var reply = try client.call("Unlock", ["method": "pam"], more: true)
    while reply.prompt?["style"] as? String == "info" { reply = try client.reply() }
    let conversation = try #require(reply.string("conversation"), "\(reply)")
    let helper = try helper("vault-pam", of: vault.sandbox.daemonPid)
    let asking = try MemorySearch(pid: helper)
    #expect(asking.find(all).keys.sorted() == [])
    #expect(asking.find(typed) == [])

    let answer = ["conversation": conversation, "answer": vault.user.password]
    #expect(try vault.client().call("Respond", answer).error == nil)
    let module = try self.helper("sleep", of: helper)
    defer { kill(module, SIGKILL) }
    let working = try MemorySearch(pid: helper)
    #expect(working.find(all).keys.sorted() == [])
    // The positive control: PAM keeps the password for later modules. The buffers that the password came in are wiped.
    #expect(working.find(typed) == ["raw"])
    let daemon = try MemorySearch(pid: try #require(vault.sandbox.daemonPid))
    #expect(daemon.find(["password": typed]) == [:])
    #expect(daemon.find(typed) == [])
    #expect(Set(daemon.find(keys.keys).keys) == Set(Held.cold + ["presence key 2"]))
    try vault.lock()
    #expect(try client.reply().error == "Cancelled")
    try wait("the helper to go") { ProcessTree.hasMemory(helper) ? nil : true }
  }
}
