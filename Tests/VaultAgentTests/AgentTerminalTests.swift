import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("An agent on a terminal") struct AgentTerminalTests {
  private static let field = "(nothing: not now): "
  private static let curses = ["--pinentry", RealPinentry.curses.rawValue]

  @Test("control-C in the middle of a question ends it, and leaves the terminal as it was") func interrupted() throws {
    let agent = try AttendingAgent(["--faces", "terminal"])
    let reader = try agent.read(reason: "to work")
    try agent.terminal.expect("in its own words: “to work”")
    try agent.terminal.expect(Self.field)
    agent.terminal.type("half", return: false)
    agent.terminal.control("c")
    #expect(try agent.terminal.wait() == 0)
    #expect(agent.terminal.isCooked && agent.terminal.leftBehind == 0)
    // Nobody is left who could ask.
    #expect(try reader.reply().error == "Locked")
  }

  @Test("a signal while pinentry asks ends both, and leaves the terminal as it was") func terminated() throws {
    let agent = try AttendingAgent(["--faces", "pinentry"] + Self.curses)
    let reader = try agent.read()
    try agent.terminal.expect("<Not now>")
    let pids = ProcessTree.processes(named: "pinentry-curses", of: agent.terminal.pid)
    #expect(pids.count == 1)
    agent.terminal.signal(SIGTERM)
    #expect(try agent.terminal.wait() == 0)
    #expect(try reader.reply().error == "Locked")
    #expect(agent.terminal.isCooked && pids.allSatisfy { !ProcessTree.isThere($0) })
  }

  @Test("an answer from elsewhere takes the question back") func answeredElsewhere() throws {
    let agent = try AttendingAgent(["--faces", "terminal"])
    let reader = try agent.read()
    try agent.terminal.expect(Self.field)
    #expect(try agent.sandbox.unlock(agent.password)?.error == nil)
    #expect(try reader.reply().string("value") == "hunter2")
    try agent.terminal.expect("vault: the question was withdrawn\r\n")
    #expect(agent.terminal.isCooked)
  }

  @Test("a daemon that ends takes its question back, and is attended again once it is there") func ended() throws {
    let agent = try AttendingAgent(["--faces", "terminal"])
    let before = try agent.read()
    try agent.terminal.expect(Self.field)
    try agent.sandbox.stopDaemon()
    try agent.terminal.expect("vault: the question was withdrawn\r\n")
    withExtendedLifetime(before) {}
    #expect(agent.terminal.isCooked)
    try agent.sandbox.startDaemon()
    try agent.attended()
    let reader = try agent.read()
    try agent.terminal.expect(Self.field)
    agent.terminal.type(agent.password)
    #expect(try reader.reply().string("value") == "hunter2")
  }

  @Test("a pinentry that fails leaves the question to the terminal, and what is said of it goes there") func nextFace()
    throws
  {
    let script = try PinentryScript.answering("sleep 600 & exit 0")
    let agent = try AttendingAgent(["--faces", "pinentry,terminal", "--pinentry", script.path])
    let reader = try agent.read()
    try agent.terminal.expect("vault-agent: pinentry: pinentry has ended\r\n")
    try agent.terminal.expect(Self.field)
    agent.terminal.type(agent.password)
    #expect(try reader.reply().string("value") == "hunter2")
  }

  @Test("another job in the foreground keeps its keys and its screen", arguments: ["terminal", "pinentry"])
  func otherJob(face: String) throws {
    // A job of its own in the background; what has the terminal reads it.
    let agent = try AttendingAgent(["--faces", face] + Self.curses, shell: "set -m; \"$0\" \"$@\" & cat")
    let reader = try agent.read()
    #expect(try reader.reply().error == "Locked")
    #expect(!agent.terminal.screen.contains("\u{1B}"))
    #expect(agent.terminal.isCooked)
    agent.terminal.type("for cat")
    try agent.terminal.expect("for cat\r\nfor cat\r\n")
  }
}
