import Foundation
import Glibc
import Testing
import VaultTesting

@Suite(
  "secret-tool, and the Secret Service",
  .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/secret-tool"), "needs libsecret-tools"))
struct SecretToolTests {
  private static let program = "/usr/bin/secret-tool"

  private func store(_ stand: SecretServiceStand, _ value: String, _ attributes: String = "a") throws {
    let outcome = try stand.run(Self.program, "store", "--label=A label", "key", attributes, stdin: value)
    try #require(outcome.status == 0, "\(outcome)")
  }

  private func lookup(_ stand: SecretServiceStand, _ attribute: String = "a") throws -> Outcome {
    try stand.run(Self.program, "lookup", "key", attribute)
  }

  @Test("stores, finds, replaces and clears") func roundTrip() throws {
    let stand = try SecretServiceStand()
    defer { stand.close() }
    try store(stand, "first")
    #expect(try lookup(stand).output == "first")
    try store(stand, "second")
    #expect(try lookup(stand).output == "second")
    try store(stand, "other", "b")
    #expect(try stand.sandbox.must(["list", "secret-service"]).split(separator: "\n").count == 2)
    let found = try stand.run(Self.program, "search", "--all", "key", "a")
    #expect(found.output.contains("label = A label\nsecret = second\n"), "\(found)")
    #expect(try stand.run(Self.program, "search", "--unlock", "key", "a").output.contains("secret = second"))
    #expect(try stand.run(Self.program, "clear", "key", "a").status == 0)
    let none = try lookup(stand)
    #expect(none.status == 1 && none.output.isEmpty && none.errors.isEmpty)
    #expect(try lookup(stand, "b").output == "other")
  }

  @Test("replaces no item that has more attributes than those it stores with") func fewerAttributes() throws {
    let stand = try SecretServiceStand()
    defer { stand.close() }
    let first = try stand.run(
      Self.program, "store", "--label=A label", "key", "a", "user", "ana", stdin: "first")
    try #require(first.status == 0, "\(first)")
    try store(stand, "second")
    #expect(try stand.sandbox.must(["list", "secret-service"]).split(separator: "\n").count == 2)
    #expect(try stand.run(Self.program, "lookup", "key", "a", "user", "ana").output == "first")
    // Only the item with the same attributes and no others gives way.
    try store(stand, "third")
    #expect(try stand.sandbox.must(["list", "secret-service"]).split(separator: "\n").count == 2)
    #expect(try stand.run(Self.program, "lookup", "key", "a", "user", "ana").output == "first")
  }

  @Test("goes on after `vault lock`, when it locked nothing that is served until the next sleep") func locked() throws {
    let stand = try SecretServiceStand()
    defer { stand.close() }
    try store(stand, "value")
    try stand.sandbox.must(["lock"])
    #expect(try lookup(stand).output == "value")
    // After a lock by a program, the next one waits for an unlock.
    try stand.lockOnBus()
    let waiting = try stand.begin(Self.program, "lookup", "key", "a")
    try stand.unlock()
    #expect(try waiting.outcome().output == "value")
  }

  @Test("waits for the first unlock, whether there is a match or not") func cold() throws {
    let stand = try SecretServiceStand()
    defer { stand.close() }
    try store(stand, "value")
    try stand.restart()
    let first = try stand.begin(Self.program, "lookup", "key", "a")
    let none = try stand.begin(Self.program, "lookup", "key", "none")
    let new = try stand.begin(Self.program, "store", "--label=L", "key", "new", stdin: "n")
    try stand.unlock()
    #expect(try first.outcome().output == "value")
    let nothing = try none.outcome()
    #expect(nothing.status == 1 && nothing.output.isEmpty, "\(nothing)")
    #expect(try new.outcome().status == 0)
    #expect(try lookup(stand, "new").output == "n")
  }

  @Test("finds what it stored after the daemon was killed during a prompt") func killed() throws {
    let stand = try SecretServiceStand()
    defer { stand.close() }
    try store(stand, "value")
    try stand.restart()
    // libsecret 0.20.5 fails an assertion when the owner of a prompt goes, and waits on.
    _ = try stand.begin(Self.program, "lookup", "key", "a")
    try stand.restart(by: SIGKILL)
    let waiting = try stand.begin(Self.program, "lookup", "key", "a")
    try stand.unlock()
    #expect(try waiting.outcome().output == "value")
    #expect(try lookup(stand).output == "value")
  }

  @Test("a name that another program owns is left to it, and taken after a reload") func owned() throws {
    let stand = try SecretServiceStand()
    defer { stand.close() }
    try stand.sandbox.stopDaemon()
    let other = try stand.bus.mock(
      OtherKeyring.name, [OtherKeyring.name, "/org/freedesktop/secrets", "org.freedesktop.Secret.Service"])
    try stand.sandbox.startDaemon(environment: ["DBUS_SESSION_BUS_ADDRESS": stand.bus.address])
    try wait(for: "the message") { stand.sandbox.daemonLog.contains("(python3) owns \(OtherKeyring.name)") }
    // Nobody hears from a daemon that does not serve.
    let heard = try stand.listen()
    try stand.unlock()
    for _ in 0..<3 { try stand.sandbox.must(["lock"]) }
    #expect(heard() == 0)
    other.stop()
    #expect(
      try stand.bus.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "NameHasOwner", "s", OtherKeyring.name)
        == "b false")
    try stand.sandbox.must(["reload"])
    try stand.waitForName()
    try stand.unlock()
    try wait(for: "a signal") { heard() > 0 }
    try store(stand, "value")
    #expect(try lookup(stand).output == "value")
  }
}
