import CLinux
import Foundation
import Glibc
import Testing
import VaultModel
import VaultStore
import VaultTesting

@Suite("The boot key") struct BootKeyTests {
  private let password = "correct horse battery"

  /// Makes a vault with an `always` item and stops the daemon.
  private func prepare(_ sandbox: Sandbox, _ config: String, environment: [String: String?] = [:]) throws {
    try sandbox.startDaemon(config: config, environment: environment)
    let made = try sandbox.converse("Init", ["kdf_memory": 19 << 20, "kdf_passes": 2]) { _ in password }
    #expect(made?.error == nil)
    try sandbox.unlock(password)
    for (name, accessible) in [("a", "always"), ("b", "when-unlocked")] {
      let set = try sandbox.client().call("Set", ["name": name, "value": "value of \(name)", "accessible": accessible])
      #expect(set.error == nil)
    }
    try sandbox.stopDaemon()
  }

  private func copyOfStore(_ sandbox: Sandbox) throws -> String {
    let copy = sandbox.root + "/copy"
    try FileManager.default.copyItem(atPath: sandbox.store, toPath: copy)
    try FileManager.default.removeItem(atPath: copy + "/vault.lock")
    return copy
  }

  @Test("sealed to the TPM it opens `always` items from the start, and the file holds no key") func sealed() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let chip = try SoftwareTPM(in: sandbox)
    let file = sandbox.home + "/boot.sealed"
    try prepare(sandbox, "boot-key = tpm2:\(file)\ntpm2-device = \(chip.device)")
    let size = try #require(FileManager.default.contents(atPath: file)?.count)
    #expect(size > 100)
    #expect(!FileManager.default.fileExists(atPath: sandbox.store + "/boot.key"))
    var status = stat()
    #expect(unsafe stat(file, &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
    try sandbox.startDaemon()
    // The call may come while the TPM is still at work; it waits for the TPM and for nothing else.
    let client = try sandbox.client()
    let always = try client.call("Get", ["name": "a"])
    #expect(always.string("value") == "value of a", "\(always)")
    #expect(try client.call("Get", ["name": "b"]).error == "Locked")
    #expect(try sandbox.warnings().allSatisfy { !$0.contains("boot") })
  }

  @Test(
    "once it has opened the `always` items it is gone from memory",
    .enabled(if: MemorySearch.isPossible, MemorySearch.need))
  func forgotten() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let chip = try SoftwareTPM(in: sandbox)
    let file = sandbox.home + "/boot.sealed"
    try prepare(sandbox, "boot-key = tpm2:\(file)\ntpm2-device = \(chip.device)")
    try sandbox.startDaemon()
    #expect(try sandbox.client().call("Get", ["name": "a"]).string("value") == "value of a")
    let search = try MemorySearch(pid: try #require(sandbox.daemonPid))
    let sealed = try #require(FileManager.default.contents(atPath: file))
    let vault = try Keychain(opening: copyOfStore(sandbox)).vaultID
    let key = try KeystoreStand(sandbox, "tpm2-device = \(chip.device)").fetch([UInt8](sealed), from: .tpm2)
    #expect(search.find(key) == [])
    // The positive control: the search finds the vault's id, which the daemon must know.
    #expect(search.find(vault).contains("raw"))
  }

  @Test("after the TPM was cleared `always` items wait for the unlock, and the status says why") func cleared() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let chip = try SoftwareTPM(in: sandbox)
    try prepare(sandbox, "boot-key = tpm2:\(sandbox.home)/boot.sealed\ntpm2-device = \(chip.device)")
    try chip.clear()
    try sandbox.startDaemon()
    let client = try sandbox.client()
    #expect(try client.call("Get", ["name": "a"]).error == "Locked")
    let said = try sandbox.warnings()
    #expect(
      said.contains { $0.contains("sealed by another TPM, or the TPM was cleared") && $0.contains("`always`") },
      "\(said)")
    try sandbox.unlock(password)
    #expect(try client.call("Get", ["name": "a"]).string("value") == "value of a")
  }

  @Test("a TPM that never answers delays nothing but what needs it") func silent() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let chip = try SoftwareTPM(in: sandbox)
    try prepare(sandbox, "boot-key = tpm2:\(sandbox.home)/boot.sealed\ntpm2-device = \(chip.device)")
    chip.pause()
    try sandbox.startDaemon()
    let waiting = try sandbox.client()
    waiting.send(frame: #"{"method":"io.vaultd.Vault.Get","parameters":{"name":"a"}}"#)
    #expect(try sandbox.client().call("Status").string("state") == "cold")
    #expect(try sandbox.unlock(password)?.error == nil)
    // The unlock opened the item; the call that waits for the TPM still waits.
    #expect(try sandbox.client().call("Get", ["name": "a"]).string("value") == "value of a")
    chip.resume()
    #expect(try waiting.reply().string("value") == "value of a")
  }

  @Test("init without a TPM is refused and leaves nothing") func noChip() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let file = sandbox.home + "/boot.sealed"
    try sandbox.startDaemon(config: "boot-key = tpm2:\(file)\ntpm2-device = device:/nonexistent")
    let reply = try sandbox.converse("Init", ["kdf_memory": 19 << 20, "kdf_passes": 2]) { _ in password }
    #expect(reply?.error == "Misconfigured")
    #expect(reply?.string("reason") == "there is no TPM at /nonexistent")
    #expect(!FileManager.default.fileExists(atPath: file))
    #expect(!FileManager.default.fileExists(atPath: sandbox.store + "/vault.db"))
  }

  @Test("settings that name another place for it give up an init, and leave nothing of it") func moved() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let files = ["first", "second", "third"].map { "\(sandbox.home)/\($0).key" }
    let isThere = { FileManager.default.fileExists(atPath: $0) }
    let chip = try SoftwareTPM(in: sandbox)
    let device = "tpm2-device = \(chip.device)\n"
    func readAgain(_ settings: String) throws {
      try sandbox.configure(device + settings)
      let before = sandbox.daemonLog.count
      try sandbox.signalDaemon(SIGHUP)
      while !sandbox.daemonLog.dropFirst(before).contains("settings reloaded") {
        #expect(try sandbox.client().call("Status").error == nil)
      }
    }
    func begin() throws -> (WireClient, String) {
      let asking = try sandbox.client()
      let prompt = try asking.call("Init", ["kdf_memory": 19 << 20, "kdf_passes": 2], more: true)
      return (asking, try #require(prompt.string("conversation")))
    }
    func answer(_ conversation: String) throws -> String? {
      try sandbox.client().call("Respond", ["conversation": conversation, "answer": password]).error
    }
    func expectNothing() throws {
      #expect(try sandbox.client().call("Status").string("state") == "new")
      #expect(!files.contains(where: isThere))
      let left = (try? FileManager.default.contentsOfDirectory(atPath: sandbox.store)) ?? []
      #expect(!left.contains { $0.hasPrefix("vault.db") || $0.hasSuffix(".key") }, "\(left)")
    }

    try sandbox.startDaemon(config: device + "boot-key = \(files[0])")
    let (asking, conversation) = try begin()
    try readAgain("boot-key = tpm2:\(files[1])")
    let reply = try asking.reply()
    #expect(reply.error == "Busy" && reply.string("reason")?.contains("boot key were changed") == true, "\(reply)")
    #expect(try answer(conversation) == "NoSuchConversation")
    try expectNothing()

    // The password was given, and the TPM is sealing the key.
    chip.pause()
    let (sealing, sealed) = try begin()
    #expect(try answer(sealed) == nil)
    let daemon = try #require(sandbox.daemonPid)
    while ProcessTree.processes(named: "vault-tpm2", of: daemon).isEmpty { sched_yield() }
    try readAgain("boot-key = \(files[2])")
    #expect(try sealing.reply().error == "Busy")
    chip.resume()
    while !ProcessTree.processes(named: "vault-tpm2", of: daemon).isEmpty { sched_yield() }
    try expectNothing()

    // This time the key's place stays the same, and another setting changes.
    let (going, last) = try begin()
    try readAgain("boot-key = \(files[2])\nidle = 1h")
    #expect(try answer(last) == nil)
    #expect(try going.reply().error == nil)
    #expect(files.map(isThere) == [false, false, true])
  }

  @Test(
    "another vault's key is kept when a vault is made where it lies, and opens that vault again",
    arguments: [false, true])
  func kept(isSealed: Bool) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let chip = isSealed ? try SoftwareTPM(in: sandbox) : nil
    let file = sandbox.home + "/stick.key"
    let device = chip.map { "tpm2-device = \($0.device)" } ?? ""
    let config = "boot-key = \(isSealed ? "tpm2:" : "")\(file)\n" + device
    func key(_ suffix: String = "") -> Data? { FileManager.default.contents(atPath: file + suffix) }
    func isServed() throws -> Bool { try sandbox.client().call("Get", ["name": "a"]).string("value") == "value of a" }
    // The first vault's store is on a disk that is not mounted when another one is made.
    try prepare(sandbox, config)
    let first = try #require(key())
    let away = sandbox.root + "/away"
    try FileManager.default.moveItem(atPath: sandbox.store, toPath: away)
    try prepare(sandbox, config)
    let second = try #require(key())
    #expect(second != first && key(".1") == first)
    var status = stat()
    #expect(unsafe stat(file + ".1", &status) == 0 && status.st_mode & 0o777 == 0o600)
    // The first store comes back, and then its key.
    try FileManager.default.removeItem(atPath: sandbox.store)
    try FileManager.default.moveItem(atPath: away, toPath: sandbox.store)
    try sandbox.startDaemon()
    #expect(try !isServed())
    try sandbox.stopDaemon()
    try FileManager.default.removeItem(atPath: file)
    try FileManager.default.copyItem(atPath: file + ".1", toPath: file)
    try sandbox.startDaemon()
    #expect(try isServed())
  }

  @Test("as a credential it opens `always` items from the start") func credential() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let folder = sandbox.root + "/credentials"
    unsafe mkdir(folder, 0o700)
    let file = folder + "/vault-boot"
    try Data((0..<32).map { _ in UInt8.random(in: 0...255) }).write(to: URL(fileURLWithPath: file))
    unsafe chmod(file, 0o440)
    let environment = ["CREDENTIALS_DIRECTORY": folder]
    try prepare(sandbox, "boot-key = credential:vault-boot", environment: environment)
    #expect(!FileManager.default.fileExists(atPath: sandbox.store + "/boot.key"))
    try sandbox.startDaemon(environment: environment)
    #expect(try sandbox.client().call("Get", ["name": "a"]).string("value") == "value of a")
    try sandbox.stopDaemon()
    // Without the service manager's credential, the vault is cold like any other.
    try sandbox.startDaemon()
    #expect(try sandbox.client().call("Get", ["name": "a"]).error == "Locked")
    let said = try sandbox.warnings()
    #expect(said.contains { $0.contains("no boot key at credential:vault-boot") }, "\(said)")
  }

  @Test(
    "init refuses a credential that is missing, too short or open to others, before it asks for a password",
    arguments: ["unpassed", "missing", "short", "open"])
  func badCredential(_ what: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let folder = sandbox.root + "/credentials"
    unsafe mkdir(folder, 0o700)
    let file = folder + "/vault-boot"
    if what != "missing" {
      try Data(repeating: 7, count: what == "short" ? 31 : 32).write(to: URL(fileURLWithPath: file))
      unsafe chmod(file, what == "open" ? 0o444 : 0o400)
    }
    let environment = what == "unpassed" ? [:] : ["CREDENTIALS_DIRECTORY": folder]
    try sandbox.startDaemon(config: "boot-key = credential:vault-boot", environment: environment)
    let reply = try sandbox.client().call("Init", more: true)
    #expect(reply.error == "Misconfigured", "\(reply)")
    #expect(reply.string("reason")?.contains("vault-boot") == true, "\(reply)")
    #expect(!FileManager.default.fileExists(atPath: sandbox.store + "/vault.db"))
  }
}
