import Foundation
import Testing
import VaultTesting

/// The program vault-agent with a real daemon and a real dunst.
@Suite("The agent on a desktop", .enabled(if: Dunst.isPossible, "\(Dunst.why)")) struct AgentDesktopTests {
  private static let typing = ["secret": password]

  private func stand(_ body: (AgentStand, Dunst) throws -> Void) throws {
    let stand = try AgentStand()
    defer { stand.close() }
    let dunst = try Dunst(on: stand.bus)
    defer { dunst.stop() }
    try body(stand, dunst)
  }

  @Test(
    "a request is approved by a click and the password, and the caller that waits has its value",
    .enabled(if: Root.isAtHand, "needs root to be another user"))
  func approved() throws {
    try stand { stand, dunst in
      try stand.sandbox.admitEveryone()
      try stand.attend(faces: "notification,command", Self.typing)
      let asker = try stand.asker("web", "to <b>renew</b> it")
      try dunst.choose("once")
      #expect(try asker.reply().outcome == "hunter2", "\(stand.account())")
      try dunst.wait(for: 0)
      let shown = try #require(try dunst.history().first)
      #expect(shown.summary == "user:nobody asks to get `web`")
      #expect(shown.message.hasSuffix("\nIt says: “to &lt;b&gt;renew&lt;/b&gt; it”"), "\(shown)")
      #expect(shown.message.contains("\nasked by process ") && shown.message.contains(" of user nobody"))
      #expect(shown.message.contains("\n“once” counts within five minutes; "))
      #expect(try stand.runs().map { $0.object?["style"] as? String } == ["secret"])
    }
  }

  @Test(
    "a click on deny refuses the caller, and a notification that is closed says that nobody wants to answer",
    .enabled(if: Root.isAtHand, "needs root to be another user"))
  func denied() throws {
    try stand { stand, dunst in
      try stand.sandbox.admitEveryone()
      try stand.attend(faces: "notification,command", Self.typing)
      let first = try stand.asker("web", "one")
      try dunst.choose("deny")
      let answer = try first.reply().outcome
      #expect(answer == "Denied an administrator has denied this; it may be requested again in 1 min")
      try dunst.wait(for: 0)
      let second = try stand.asker("bank", "two")
      try dunst.dismiss()
      #expect(try second.reply().outcome == "Cancelled")
      #expect(try stand.runs().isEmpty)
    }
  }

  @Test(
    "when dunst is killed in the middle, the command is asked the same",
    .enabled(if: Root.isAtHand, "needs root to be another user"))
  func killed() throws {
    try stand { stand, dunst in
      try stand.sandbox.admitEveryone()
      try stand.attend(faces: "notification,command", ["secret": password, "approval": "once"])
      let asker = try stand.asker("web", "one")
      try dunst.wait(for: 1)
      dunst.stop()
      #expect(try asker.reply().outcome == "hunter2", "\(stand.account())")
      try stand.terminal.expect("notification: the notification server went away")
      #expect(Set(try stand.runs().compactMap { $0.object?["style"] as? String }) == ["approval", "secret"])
    }
  }

  @Test("a coming lock, locks, unlocks and failed attempts are told of") func notices() throws {
    let stand = try AgentStand("idle = 5m\n") { try MachineClock(in: $0).hold() }
    defer { stand.close() }
    let dunst = try Dunst(on: stand.bus)
    defer { dunst.stop() }
    try stand.attend(faces: "notification", [:])
    let sandbox = stand.sandbox
    // Half a minute is left before the lock; the daemon notices that on the next request.
    try #require(sandbox.clock).pass(seconds: 275)
    try sandbox.must(["status"])
    try dunst.wait(for: 1)
    try sandbox.must(["lock"])
    try dunst.wait(for: 2)
    #expect(try sandbox.run("unlock", "--password-stdin", stdin: "wrong\n").status != 0)
    try dunst.wait(for: 3)
    // This passes the pause after a wrong password.
    try #require(sandbox.clock).pass(seconds: 60)
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    try dunst.wait(for: 4)
    try dunst.closeAll()
    try dunst.wait(for: 0)
    let told = try dunst.history().map(\.message)
    for text in [
      "it locks in half a minute, because nobody uses it", "locked by `vault lock`", "it is unlocked",
    ] { #expect(told.contains("Vault\n" + text), "\(told)") }
    #expect(told.contains { $0.hasPrefix("Vault\nan attempt to open it failed by process ") }, "\(told)")
  }
}
