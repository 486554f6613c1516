import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("An agent on a terminal") struct AgentTerminalTests {
  private static let field = "(Enter: not now): "
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
    // Nobody took the question back.
    #expect(!agent.terminal.screen.contains("withdrawn"))
    // No agent is left to ask a person.
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
    #expect(!agent.terminal.echoes)
    agent.terminal.type("typed on")
    agent.terminal.signal(SIGTERM)
    #expect(try agent.terminal.wait() == 0)
    #expect(agent.terminal.isCooked && agent.terminal.leftBehind == 0 && !agent.terminal.screen.contains("typed on"))
  }

  @Test("a daemon that ends takes its question back, and is attended again once it is there") func ended() throws {
    let agent = try AttendingAgent(["--faces", "terminal"])
    let before = try agent.read()
    try agent.terminal.expect(Self.field)
    try agent.sandbox.stopDaemon()
    try agent.terminal.expect("vault: the question was withdrawn\r\n")
    withExtendedLifetime(before) {}
    #expect(!agent.terminal.echoes)
    try agent.sandbox.startDaemon()
    try agent.attended()
    let reader = try agent.read()
    try agent.terminal.expect(Self.field)
    agent.terminal.type(agent.password)
    #expect(try reader.reply().string("value") == "hunter2")
  }

  @Test("what is typed while a first try is checked does not show, and is no answer to the next question")
  func checked() throws {
    let agent = try AttendingAgent(["--faces", "terminal"])
    let reader = try agent.read()
    try agent.terminal.expect(Self.field)
    try agent.sandbox.signalDaemon(SIGSTOP)
    agent.terminal.type("a first try")
    try agent.terminal.expect("\r\n")
    #expect(!agent.terminal.echoes)
    agent.terminal.type("typed on")
    while agent.terminal.unread < 9 {}
    try agent.sandbox.signalDaemon(SIGCONT)
    try agent.terminal.expect("that was wrong; attempt 2 of 3")
    try agent.terminal.expect(Self.field)
    agent.terminal.type(agent.password)
    #expect(try reader.reply().string("value") == "hunter2")
    #expect(!agent.terminal.screen.contains("first try") && !agent.terminal.screen.contains("typed on"))
  }

  @Test("a stop gives the shell its terminal, and nothing shows again once the agent goes on") func stopped() throws {
    let agent = try AttendingAgent(
      ["--faces", "terminal"], shell: "set -m; \"$0\" \"$@\"; echo stopped; cat; fg; echo over")
    let reader = try agent.read()
    try agent.terminal.expect(Self.field)
    agent.terminal.type(agent.password)
    #expect(try reader.reply().string("value") == "hunter2")
    #expect(!agent.terminal.echoes)
    agent.terminal.control("z")
    try agent.terminal.expect("stopped\r\n")
    #expect(agent.terminal.isCooked)
    agent.terminal.type("for cat")
    try agent.terminal.expect("for cat\r\nfor cat\r\n")
    agent.terminal.control("d")
    while agent.terminal.echoes {}
    agent.terminal.control("c")
    try agent.terminal.expect("over\r\n")
    #expect(agent.terminal.isCooked)
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
    // The agent runs as a background job of its own; `cat` is the foreground job and reads the terminal.
    let agent = try AttendingAgent(["--faces", face] + Self.curses, shell: "set -m; \"$0\" \"$@\" & cat")
    let reader = try agent.read()
    #expect(try reader.reply().error == "Locked")
    #expect(!agent.terminal.screen.contains("\u{1B}"))
    #expect(agent.terminal.isCooked)
    agent.terminal.type("for cat")
    try agent.terminal.expect("for cat\r\nfor cat\r\n")
  }
}
