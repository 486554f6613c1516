import CLinux
import Foundation
import Testing
import VaultTesting

@Suite("A daemon that is stopped amid work") struct StopTests {
  fileprivate static let password = "correct horse battery"
  private static let count = 1000

  enum Work: CaseIterable {
    case newPassword, rekey, backup, unreadBackup, check

    /// Makes the daemon begin the work, and returns the client that waits for it.
    func begin(_ sandbox: Sandbox) throws -> WireClient {
      switch self {
      case .newPassword:
        // The derivation takes seconds; it begins with the last answer.
        return try converse(sandbox, "ChangePassword", ["kdf_memory": 64 << 20, "kdf_passes": 20], answers: 2)
      case .rekey:
        let client = try converse(sandbox, "Rekey", [:], answers: 1)
        // The rekey reports its slots as soon as it copies.
        let reply = try client.reply()
        #expect(reply.parameters["slots"] != nil, "\(reply)")
        return client
      case .backup, .unreadBackup:
        let client = try sandbox.client()
        let reply = try client.call("Backup", upgrade: true)
        #expect(reply.error == nil)
        // More of the backup is left than the socket's buffer holds.
        if self == .backup { _ = try client.receive(count: 1 << 20) }
        return client
      case .check:
        let client = try sandbox.client()
        #expect(try client.call("Verify", more: true).error == nil)
        return client
      }
    }

    /// Answers this many questions, each with the password.
    private func converse(
      _ sandbox: Sandbox, _ method: String, _ parameters: WireClient.Message, answers: Int
    ) throws -> WireClient {
      let client = try sandbox.client()
      var reply = try client.call(method, parameters, more: true)
      var answered = 0
      while true {
        if let error = reply.error { throw SandboxError("\(method): \(error)") }
        if reply.prompt?["style"] as? String != "info", let conversation = reply.string("conversation") {
          let said = try sandbox.client().call("Respond", ["conversation": conversation, "answer": StopTests.password])
          if let error = said.error { throw SandboxError("Respond: \(error)") }
          answered += 1
          if answered == answers { return client }
        }
        reply = try client.reply()
      }
    }
  }

  @Test("it leaves one file, which alone has all that was answered", arguments: Work.allCases)
  func oneFile(work: Work) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault(config: "idle = off")
    try sandbox.unlock(Self.password)
    let writer = try sandbox.client()
    let value = String(repeating: "v", count: 8000)
    for number in stride(from: 0, to: Self.count, by: 100) {
      let items = (number..<number + 100).map { ["name": "item \($0)", "value": value] }
      #expect(try writer.call("SetMany", ["items": items]).error == nil)
    }
    let client = try work.begin(sandbox)
    #expect(try writer.call("Set", ["name": "last", "value": "kept"]).error == nil)
    #expect(FileManager.default.fileExists(atPath: sandbox.store + "/vault.db-wal"))
    #expect(try sandbox.stopDaemon() == 0)
    #expect(!FileManager.default.fileExists(atPath: sandbox.store + "/vault.db-wal"))
    withExtendedLifetime(client) {}

    let other = try Self.copied(["vault.db", "boot.key"], of: sandbox)
    defer { other.close() }
    #expect(try other.unlock(Self.password)?.error == nil)
    try other.awaitCheck()
    let status = try other.client().call("Status")
    #expect(status.integer("items") == Self.count + 1)
    #expect((status.parameters["integrity"] as? WireClient.Message)?["state"] as? String == "ok")
    #expect(try other.client().call("Get", ["name": "last"]).string("value") == "kept")
    #expect(try !Self.saysCopy(other))
  }

  @Test("a copy of one file of two is noticed, until it is stopped")
  func copy() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault(config: "idle = off")
    try sandbox.unlock(Self.password)
    try sandbox.awaitCheck()
    for name in ["first", "second"] {
      #expect(try sandbox.client().call("Set", ["name": name, "value": "kept"]).error == nil)
    }
    let copy = try Self.copied(["vault.db", "boot.key"], of: sandbox)
    defer { copy.close() }
    #expect(try Self.saysCopy(copy))
    #expect(try copy.unlock(Self.password)?.error == nil)
    try copy.awaitCheck()
    #expect(try copy.client().call("Get", ["name": "second"]).error == "NoSuchItem")
    #expect(try Self.saysCopy(copy))
    #expect(try copy.stopDaemon() == 0)
    try copy.startDaemon(config: "idle = off")
    #expect(try !Self.saysCopy(copy))

    // With both files, as after a kill, the store is complete.
    let whole = try Self.copied(["vault.db", "vault.db-wal", "boot.key"], of: sandbox)
    defer { whole.close() }
    #expect(try !Self.saysCopy(whole))
    #expect(try whole.unlock(Self.password)?.error == nil)
    #expect(try whole.client().call("Get", ["name": "second"]).string("value") == "kept")
    #expect(try !Self.saysCopy(sandbox))
  }

  @Test("a vault that is restored is no copy") func restored() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault(config: "idle = off")
    try sandbox.unlock(Self.password)
    try sandbox.awaitCheck()
    #expect(try sandbox.client().call("Set", ["name": "first", "value": "kept"]).error == nil)
    let backup = try sandbox.client().backup()
    let other = try Sandbox()
    defer { other.close() }
    try other.startDaemon(config: "idle = off")
    #expect(try other.restore(backup.bytes, secret: Self.password).error == nil)
    #expect(try !Self.saysCopy(other))
    #expect(try other.stopDaemon() == 0)
    try other.startDaemon(config: "idle = off")
    #expect(try !Self.saysCopy(other))
  }

  /// Makes a sandbox whose daemon serves copies of a store's files.
  private static func copied(_ names: [String], of sandbox: Sandbox) throws -> Sandbox {
    let other = try Sandbox()
    try FileManager.default.createDirectory(
      atPath: other.store, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    for name in names {
      try FileManager.default.copyItem(atPath: sandbox.store + "/" + name, toPath: other.store + "/" + name)
    }
    try other.startDaemon(config: "idle = off")
    return other
  }

  private static func saysCopy(_ sandbox: Sandbox) throws -> Bool {
    let warnings = try sandbox.client().call("Status").parameters["warnings"] as? [WireClient.Message] ?? []
    return warnings.contains { $0["about"] as? String == "copy" }
  }

  @Test("what was read of a backup until then restores nothing")
  func backup() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault(config: "idle = off")
    try sandbox.unlock(Self.password)
    let writer = try sandbox.client()
    let value = String(repeating: "v", count: 1 << 20)
    for number in 0..<8 {
      #expect(try writer.call("Set", ["name": "item \(number)", "value": value]).error == nil)
    }
    let client = try sandbox.client()
    #expect(try client.call("Backup", upgrade: true).error == nil)
    /// Returns the next block; nil if there is no whole one.
    func block() throws -> [UInt8]? {
      guard let length = try client.receive(count: 4) else { return nil }
      let count = length.reversed().reduce(0) { $0 << 8 | Int($1) }
      #expect(count > 0, "it has come to its end")
      return try client.receive(count: count)
    }
    // The first block is the header, which a trial restore needs.
    var read = try #require(try block())
    #expect(try sandbox.stopDaemon() == 0)
    while let next = try block(), !next.isEmpty { read += next }
    let other = try Sandbox()
    defer { other.close() }
    try other.startDaemon(config: "idle = off")
    let refused = try other.restore(read)
    #expect(refused.error == "InvalidBackup" && refused.string("reason") == "it is cut short", "\(refused)")
    #expect(try other.client().call("Status").string("state") == "new")
  }
}
