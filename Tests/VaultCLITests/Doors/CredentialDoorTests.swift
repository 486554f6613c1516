import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("The socket for credentials", .enabled(if: Cgroups.canBeMade, "makes cgroups, which needs root"))
struct CredentialDoorTests {
  @Test("hands a unit the item that a grant makes its credential, and has no other start") func basics() throws {
    let stand = try CredentialStand()
    defer { stand.close() }
    try stand.sandbox.must(["set", "tls/key"], stdin: "the key")
    try stand.sandbox.must(["set", "key"], stdin: "another")
    try stand.grant("tls", "tls/key", as: "key")
    #expect(try stand.ask("key", in: "tls") == "the key")
    // The id is never taken for an item's name.
    for id in ["other", "tls"] { #expect(try stand.ask(id, in: "tls") == overflow) }
    #expect(try stand.ask("key", in: "radio") == overflow)
    // A process whose socket is named after another unit, and a process that is in no unit.
    #expect(try stand.ask("key", in: "radio", saying: "tls") == overflow)
    #expect(try stand.ask("key", in: nil, saying: "tls") == overflow)
    for address in ["", "9f8/unit/\(stand.unit("tls"))", "9f8/user/\(stand.unit("tls"))/key"] {
      #expect(try stand.ask("key", in: "tls", address: address) == overflow, "\(address)")
    }
    let audit = try stand.sandbox.must(["audit", "--json"])
    let entries = audit.split(separator: "\n").filter { $0.contains(#""door":"credentials""#) }
    #expect(entries.filter { $0.contains(#""outcome":"ok""#) }.count == 1, "\(audit)")
    #expect(
      entries.contains {
        $0.contains(#""item":"tls/key""#) && $0.contains("as credential key") && $0.contains(stand.unit("tls"))
      }, "\(audit)")
    #expect(
      entries.contains { $0.contains(#""outcome":"denied""#) && $0.contains("credential other of ") }, "\(audit)")
    #expect(
      entries.contains {
        $0.contains(#""outcome":"denied""#) && $0.contains("a credential, from a socket whose address names none")
      }, "\(audit)")
    let log = stand.sandbox.daemonLog
    #expect(log.contains("the credential other of \(stand.unit("tls")) was refused"), "\(log)")
    #expect(log.contains("the caller is not in that unit"), "\(log)")
    #expect(!log.contains("tls/key"), "\(log)")
  }

  @Test("leaves an entry of each credential that was asked for, whatever became of it") func entries() throws {
    let stand = try CredentialStand()
    defer { stand.close() }
    let sandbox = stand.sandbox
    try sandbox.must(["set", "tls/key"], stdin: "the key")
    try stand.grant("tls", "tls/key", as: "key")
    try stand.grant("tls", "none", as: "none")
    for (id, output) in [("key", "the key"), ("none", overflow), ("other", overflow)] {
      #expect(try stand.ask(id, in: "tls") == output)
    }
    #expect(try stand.ask("key", in: "radio") == overflow)
    #expect(try stand.ask("key", in: nil, saying: "tls") == overflow)
    #expect(try stand.ask("key", in: "tls", address: "none") == overflow)
    try sandbox.must(["lock"])
    let waiting = try stand.begin("key", in: "tls")
    try stand.awaitConnected(7)
    // Once `status` is answered, the daemon has also looked at the connections that it accepted before.
    try sandbox.must(["status"])
    try stand.kill("tls")
    _ = try waiting.outcome()
    try sandbox.must(["status"])
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    let (tls, radio) = (stand.unit("tls"), stand.unit("radio"))
    let audit = try stand.entries()
    #expect(
      audit == [
        "get ok tls/key: as credential key", "get missing none: as credential none",
        "get denied credential other of \(tls)", "get denied credential key of \(radio)",
        "get denied credential key of \(tls)", "get denied a credential, from a socket whose address names none",
        "get cancelled credential key of \(tls)",
      ], "\(audit)")
  }

  @Test(
    "where the log is required, hands out none before its entry is on the disk, and none of a store that has failed")
  func required() throws {
    let stand = try CredentialStand(settings: "audit = required\n")
    defer { stand.close() }
    let sandbox = stand.sandbox
    func unlock() throws { try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n") }
    try sandbox.must(["set", "tls/key"], stdin: "the key")
    try stand.grant("tls", "tls/key", as: "key")
    for count in 1...2 {
      #expect(try stand.ask("key", in: "tls") == "the key")
      try sandbox.stopDaemon(signal: SIGKILL)
      try stand.start()
      try unlock()
      let entries = try stand.entries()
      #expect(entries == Array(repeating: "get ok tls/key: as credential key", count: count), "\(entries)")
    }
    try sandbox.stopDaemon()
    try sandbox.editStore("DELETE FROM audit WHERE id = (SELECT min(id) FROM audit)")
    try stand.start()
    try unlock()
    try wait(for: "the check") { try sandbox.must(["status", "--json"]).contains(#""state":"failed""#) }
    #expect(try stand.ask("key", in: "tls") == overflow)
    #expect(try stand.entries().last?.hasPrefix("get failed ") == true)
  }

  @Test("is for the service manager alone: another uid in the unit is sent nothing") func anotherUser() throws {
    let stand = try CredentialStand()
    defer { stand.close() }
    let sandbox = stand.sandbox
    try sandbox.must(["set", "tls/key"], stdin: "the key")
    try stand.grant("tls", "tls/key", as: "key")
    for path in [sandbox.root, sandbox.runtime, sandbox.runtime + "/vault"] { unsafe chmod(path, 0o755) }
    unsafe chmod(sandbox.runtime + "/vault/credentials", 0o666)
    #expect(try stand.ask("key", in: "tls", uid: 65534).isEmpty)
    #expect(try stand.ask("key", in: "tls") == "the key")
  }

  @Test("has those wait that come before the unlock, and hands each its own then") func waiting() throws {
    let stand = try CredentialStand()
    defer { stand.close() }
    let sandbox = stand.sandbox
    for name in ["a", "b"] { try sandbox.must(["set", name], stdin: "value of \(name)") }
    try stand.grant("one", "a", as: "key")
    try stand.grant("two", "b", as: "key")
    try stand.grant("two", "missing", as: "missing")
    try sandbox.must(["lock"])
    let waiting = [
      try stand.begin("key", in: "one"), try stand.begin("key", in: "two"), try stand.begin("missing", in: "two"),
      try stand.begin("unknown", in: "two"),
    ]
    try stand.awaitConnected(4)
    // The grants are known, so an id that no grant names is refused at once.
    #expect(try waiting[3].outcome().output == overflow)
    // An agent, if one attended, would be told that a unit waits.
    #expect(try sandbox.must(["status", "--json"]).contains(#""state":"locked""#))
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    #expect(try waiting[0].outcome().output == "value of a")
    #expect(try waiting[1].outcome().output == "value of b")
    #expect(try waiting[2].outcome().output == overflow)
  }

  @Test("hands nothing to whoever holds the socket of a process that has ended, when its turn comes") func left() throws
  {
    let stand = try CredentialStand()
    defer { stand.close() }
    try stand.sandbox.must(["set", "a"], stdin: "value of a")
    try stand.grant("one", "a", as: "key")
    try stand.sandbox.must(["lock"])
    let waiting = [try stand.begin("key", in: "one", leaves: true), try stand.begin("key", in: "one")]
    try stand.awaitConnected(2)
    try stand.sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    #expect(try waiting.map { try $0.outcome().output } == [overflow, "value of a"])
  }

  @Test("records what a process asks for that has ended before it is accepted") func endedBefore() throws {
    let stand = try CredentialStand()
    defer { stand.close() }
    try stand.sandbox.must(["set", "a"], stdin: "value of a")
    try stand.grant("one", "a", as: "key")
    let daemon = try #require(stand.sandbox.daemonPid)
    #expect(kill(daemon, SIGSTOP) == 0)
    let asking = try stand.begin("key", in: "one", leaves: true)
    try stand.awaitConnected(1)
    #expect(kill(daemon, SIGCONT) == 0)
    #expect(try asking.outcome().output == overflow)
    #expect(try stand.entries() == ["get denied credential key of \(stand.unit("one"))"])
  }

  @Test("before the first unlock hands out what is served from boot on, and has the others wait") func cold() throws {
    let stand = try CredentialStand(hasBootKey: true)
    defer { stand.close() }
    let sandbox = stand.sandbox
    try sandbox.must(["set", "sensor", "--accessible", "always"], stdin: "at boot")
    try sandbox.must(["set", "key"], stdin: "later")
    try stand.grant("door", "sensor", as: "id")
    try stand.grant("door", "key", as: "key")
    try sandbox.stopDaemon()
    try stand.start()
    #expect(try sandbox.must(["status", "--json"]).contains(#""state":"cold""#))
    #expect(try stand.ask("id", in: "door") == "at boot")
    let waiting = [try stand.begin("key", in: "door"), try stand.begin("unknown", in: "door")]
    try stand.awaitConnected(3)
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    #expect(try waiting[0].outcome().output == "later")
    #expect(try waiting[1].outcome().output == overflow)
  }

  @Test("hands out values up to the last byte that systemd takes, and no longer ones") func large() throws {
    let stand = try CredentialStand()
    defer { stand.close() }
    // systemd counts the credential's name, too.
    let most = (1 << 20) - "key-1048565".utf8.count
    for count in [most, most + 1, 300_000] {
      let file = stand.sandbox.home + "/value"
      try Data(repeating: UInt8(ascii: "v"), count: count).write(to: URL(fileURLWithPath: file))
      try stand.sandbox.must(["set", "big/\(count)", "--file", file])
      try stand.grant("big", "big/\(count)", as: "key-\(count)")
      #expect(try stand.ask("key-\(count)", in: "big") == (count > most ? overflow : "\(count) bytes of ['v']"))
      let entries = try stand.sandbox.must(["audit", "--json", "--door", "credentials"]).split(separator: "\n")
      let own = entries.filter { $0.contains("big/\(count)") }
      #expect(own.map { $0.contains(#""outcome":"ok""#) } == [count <= most], "\(entries)")
    }
  }

  @Test(
    "has no unit start with a part of a value that a lock has wiped, or the daemon's end", arguments: [false, true])
  func cut(isStop: Bool) throws {
    let stand = try CredentialStand()
    defer { stand.close() }
    let sandbox = stand.sandbox
    let file = sandbox.home + "/value"
    try Data(repeating: UInt8(ascii: "v"), count: 1_000_000).write(to: URL(fileURLWithPath: file))
    try sandbox.must(["set", "big", "--file", file])
    try stand.grant("big", "big", as: "key")
    let reading = try stand.begin("key", in: "big", pauses: true)
    // The audit log has the entry once the daemon has sent as much of the value as the socket takes.
    try wait(for: "the value to be sent") {
      try sandbox.must(["audit", "--json"]).contains(#""door":"credentials""#)
    }
    if isStop {
      try sandbox.signalDaemon(SIGTERM)
      // Otherwise the unit could read the whole value before the daemon gets to the signal.
      try wait(for: "the end of the daemon to begin") { sandbox.daemonLog.contains("locked: the daemon stops") }
    } else {
      try sandbox.must(["lock"])
    }
    try sandbox.write("", to: "../read")
    let output = try reading.outcome().output
    let count = try #require(Int(output.prefix { $0 != " " }))
    #expect(count > 1 << 20 && output.hasSuffix("bytes of ['-', 'v']"), "\(output)")
  }

  @Test("has no unit start that waits when the daemon ends") func stop() throws {
    let stand = try CredentialStand()
    defer { stand.close() }
    try stand.sandbox.must(["set", "key"], stdin: "the key")
    try stand.grant("tls", "key", as: "key")
    try stand.sandbox.must(["lock"])
    let waiting = try stand.begin("key", in: "tls")
    try stand.awaitConnected(1)
    // The daemon answers `status` after it has looked at the connection that it accepted before.
    try stand.sandbox.must(["status"])
    try stand.sandbox.stopDaemon()
    #expect(try waiting.outcome().output == overflow)
    let log = stand.sandbox.daemonLog
    #expect(log.contains("the credential key of \(stand.unit("tls")) was refused"), "\(log)")
    #expect(log.contains(": the daemon ends"), "\(log)")
    try stand.start()
    try stand.sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    let entries = try stand.entries()
    #expect(entries == ["get cancelled credential key of \(stand.unit("tls"))"], "\(entries)")
  }

  @Test("has the daemon end before those that were refused have read so, and no unit start even then")
  func stopBesideUnread() throws {
    let stand = try CredentialStand()
    defer { stand.close() }
    // With so few descriptors, two may wait and two be refused; the others are more than the daemon counts.
    try stand.sandbox.stopDaemon()
    try stand.start(openFiles: 72)
    let refused = try (0..<8).map { _ in try stand.begin("other", in: "tls", pauses: true) }
    try stand.awaitConnected(8)
    try wait(for: "the refusals") {
      stand.sandbox.daemonLog.components(separatedBy: "too many units wait for credentials").count == 7
    }
    // They read only once the daemon has ended.
    #expect(try stand.sandbox.stopDaemon() == 0)
    try stand.sandbox.write("", to: "../read")
    for each in refused {
      let output = try each.outcome().output
      let count = try #require(Int(output.prefix { $0 != " " }))
      #expect(count > 1 << 20 && output.hasSuffix("bytes of ['-']"), "\(output)")
    }
  }

  @Test("has a place for a unit however many were refused before it") func afterRefusals() throws {
    let stand = try CredentialStand()
    defer { stand.close() }
    let sandbox = stand.sandbox
    try sandbox.must(["set", "key"], stdin: "the key")
    try stand.grant("tls", "key", as: "key")
    try sandbox.stopDaemon()
    // With so few descriptors, four may wait, and eight are counted at most.
    try stand.start(openFiles: 96)
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    for _ in 0..<10 { #expect(try stand.ask("other", in: "tls") == overflow) }
    #expect(try stand.ask("key", in: "tls") == "the key")
  }

  @Test("closes no connection without a word where there are few descriptors, and leaves some for the unlock")
  func fewDescriptors() throws {
    let stand = try CredentialStand()
    defer { stand.close() }
    let sandbox = stand.sandbox
    try sandbox.must(["set", "key"], stdin: "the key")
    try stand.grant("tls", "key", as: "key")
    try sandbox.stopDaemon()
    try stand.start(openFiles: 96)
    let waiting = try (0..<40).map { _ in try stand.begin("key", in: "tls") }
    try stand.awaitConnected(40)
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    let outputs = try waiting.map { try $0.outcome().output }
    #expect(outputs.allSatisfy { ["the key", overflow].contains($0) }, "\(outputs)")
    #expect(outputs.contains("the key") && outputs.contains(overflow), "\(outputs)")
  }

  @Test(
    "leaves no item's name in memory where a locked vault hides names, of units that wait, give up or are refused",
    .enabled(if: MemorySearch.isPossible, MemorySearch.need))
  func hiddenNames() throws {
    let stand = try CredentialStand(hidesNames: true)
    defer { stand.close() }
    let sandbox = stand.sandbox
    let name = "\(UUID())-\(UUID())"
    try sandbox.must(["set", name], stdin: "the key")
    try stand.grant("tls", name, as: "key")
    #expect(try stand.ask("key", in: "tls") == "the key")
    let pid = try #require(sandbox.daemonPid)
    let needle = Array(name.utf8)
    #expect(try !MemorySearch(pid: pid).find(needle).isEmpty)
    try sandbox.must(["lock"])
    // Before the grants can be read, the daemon cannot tell that one of these units asks in vain.
    let asking = [try stand.begin("key", in: "tls"), try stand.begin("other", in: "radio")]
    try stand.awaitConnected(3)
    // Once `status` is answered, the daemon has also looked at the connections that it accepted before.
    try sandbox.must(["status"])
    #expect(try MemorySearch(pid: pid).find(needle) == [])
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    #expect(try asking[0].outcome().output == "the key")
    #expect(try asking[1].outcome().output == overflow)
  }

  @Test("in a user's vault is for units of the user's own manager, whose names others cannot take") func userVault()
    throws
  {
    let stand = try CredentialStand(isSystem: false)
    defer { stand.close() }
    let sandbox = stand.sandbox
    try sandbox.must(["set", "mail/password"], stdin: "for mail")
    // A grant in a user's vault requires fresh presence, so unlock just before it.
    let grant = "vault grant unit:\(stand.unit("mail")) mail/password --as password"
    let outcome = try sandbox.run(
      "-c", "vault lock && vault unlock --password-stdin && \(grant)", program: "/bin/sh", stdin: password + "\n")
    #expect(outcome.status == 0, "\(outcome)")
    #expect(try stand.ask("password", in: "mail") == "for mail")
    #expect(try stand.ask("password", in: "editor", saying: "mail") == overflow)
    #expect(try stand.ask("password", in: nil, saying: "mail") == overflow)
  }
}
