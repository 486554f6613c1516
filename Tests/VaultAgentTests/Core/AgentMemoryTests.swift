import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("The agent's memory", .enabled(if: MemorySearch.isPossible, MemorySearch.need)) struct AgentMemoryTests {
  private func find(_ text: String, _ agent: AttendingAgent) throws -> Set<String> {
    try MemorySearch(pid: agent.terminal.pid).find(Array(text.utf8))
  }

  @Test(
    "on its terminal it holds what is being typed, and nothing of it once it was answered, right, wrong or not at all")
  func terminal() throws {
    let agent = try AttendingAgent(["--faces", "terminal"])
    let (terminal, field) = (agent.terminal, "(Enter: not now): ")
    let (wrong, dropped) = (AttendingAgent.word(), AttendingAgent.word())
    let reader = try agent.read()
    try terminal.expect(field)
    terminal.type(wrong, return: false)
    // The positive control: the bytes are in memory as soon as the terminal has handed them over.
    try wait(for: "what is typed") { try !find(wrong, agent).isEmpty }
    #expect(try find(wrong, agent) == ["raw"])
    terminal.type("")
    try terminal.expect("attempt 2 of 3")
    try terminal.expect(field)
    #expect(try find(wrong, agent) == [])
    terminal.type(dropped + "\u{15}" + agent.password)
    #expect(try reader.reply().string("value") == "hunter2")
    try agent.lock()
    let other = try agent.read()
    // Once the agent asks the next question, its work on the previous one is done.
    try terminal.expect(field)
    for word in [agent.password, dropped, wrong] { #expect(try find(word, agent) == []) }
    terminal.type(dropped + "\u{15}\u{4}", return: false)
    #expect(try other.reply().error == "Cancelled")
    #expect(try find(dropped, agent) == [])
    #expect(!terminal.screen.contains(wrong) && !terminal.screen.contains(agent.password))
  }

  @Test("through pinentry it holds nothing once it was answered, right, wrong or not at all") func pinentry() throws {
    let agent = try AttendingAgent(["--faces", "pinentry", "--pinentry", RealPinentry.curses.rawValue])
    let (terminal, button) = (agent.terminal, "<Not now>")
    let (wrong, dropped) = (AttendingAgent.word(), AttendingAgent.word())
    let reader = try agent.read()
    try terminal.expect(button)
    terminal.type(wrong)
    try terminal.expect("attempt 2 of 3")
    try terminal.expect(button)
    #expect(try find(wrong, agent) == [])
    terminal.type(agent.password)
    #expect(try reader.reply().string("value") == "hunter2")
    try agent.lock()
    let other = try agent.read()
    try terminal.expect(button)
    for word in [agent.password, wrong] { #expect(try find(word, agent) == []) }
    terminal.type(dropped + "\t\t")
    #expect(try other.reply().error == "Cancelled")
    #expect(try find(dropped, agent) == [])
  }
}
