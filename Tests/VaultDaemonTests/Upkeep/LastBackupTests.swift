import Foundation
import Testing
import VaultTesting

private let password = "correct horse battery"

@Suite("The time of the last backup") struct LastBackupTests {
  private func time(_ sandbox: Sandbox) throws -> Int {
    try #require(try sandbox.client().call("Status").integer("backup"))
  }

  @Test("is 0 before there is one, and stays over a restart and a lock") func stays() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon()
    #expect(try sandbox.client().call("Status").integer("backup") == nil, "there is no vault yet")
    try sandbox.stopDaemon()
    _ = try sandbox.makeVault(password: password, config: "idle = off")
    try sandbox.unlock(password)
    #expect(try time(sandbox) == 0)
    #expect(try sandbox.client().backup().last.error == nil)
    let made = try time(sandbox)
    #expect(made > 1_700_000_000)
    #expect(try sandbox.client().call("Lock").error == nil)
    #expect(try time(sandbox) == made)
    try sandbox.stopDaemon()
    try sandbox.startDaemon(config: "idle = off")
    #expect(try time(sandbox) == made)
  }

  @Test("is not changed by a backup whose client left before its end") func unfinished() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault(config: "idle = off")
    try sandbox.unlock(password)
    // More bytes than a socket's buffers hold.
    for index in 0..<4 {
      let value = String(repeating: "x", count: 1 << 20)
      #expect(try sandbox.client().call("Set", ["name": "large/\(index)", "value": value]).error == nil)
    }
    #expect(try sandbox.client().call("Backup", upgrade: true).error == nil)
    // The next backup begins when the first is over, and its client leaves as well.
    while try sandbox.client().call("Backup", upgrade: true).error == "Busy" {}
    #expect(try time(sandbox) == 0)
  }

  @Test("is that of a backup that its client confirms, and not that of one that it does not") func confirmed() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault(config: "idle = off")
    try sandbox.unlock(password)
    func begin() throws -> WireClient {
      let client = try sandbox.client()
      var reply = try client.call("Backup", ["confirms": true], upgrade: true)
      while reply.error == "Busy" { reply = try client.call("Backup", ["confirms": true], upgrade: true) }
      #expect(reply.error == nil)
      while let length = try client.receive(count: 4) {
        let count = length.reversed().reduce(0) { $0 << 8 | Int($1) }
        if count == 0 { break }
        _ = try client.receive(count: count)
      }
      return client
    }
    _ = try begin()
    let wrong = try begin()
    wrong.send(Array("nope".utf8))
    #expect(try wrong.receiveBytes() == nil)
    let second = try begin()
    #expect(try time(sandbox) == 0)
    second.send([0, 0, 0, 0])
    #expect(try second.reply().error == nil)
    #expect(try time(sandbox) > 0)
  }

  @Test("of a vault that was restored is that of the backup, and another vault's counts for nothing") func restored()
    throws
  {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault(config: "idle = off")
    try sandbox.unlock(password)
    let backup = try sandbox.client().backup().bytes
    let made = try time(sandbox)
    let other = try Sandbox()
    defer { other.close() }
    try other.startDaemon(config: "idle = off")
    #expect(try other.restore(backup).error == nil)
    #expect(try time(other) == made)
    try other.stopDaemon()
    let mark = other.store + "/last-backup"
    let text = try String(contentsOfFile: mark, encoding: .utf8)
    try Data(((text.first == "0" ? "1" : "0") + text.dropFirst()).utf8).write(to: URL(filePath: mark))
    try other.startDaemon(config: "idle = off")
    #expect(try time(other) == 0)
  }
}
