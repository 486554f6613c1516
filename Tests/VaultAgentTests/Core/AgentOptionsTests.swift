import Testing

@testable import VaultAgent

@Suite struct AgentOptionsTests {
  @Test func `options are read in both forms`() throws {
    let options = try AgentOptions(["--faces=terminal,pinentry", "--pinentry", "/bin/p", "--system"])
    #expect(options.faces == [.terminal, .pinentry] && options.pinentry == "/bin/p" && options.isSystem)
  }

  @Test(arguments: [
    ["x"], ["--faces"], ["--faces", "terminal,"], ["--faces", "terminal,terminal"], ["--pinentry", "p"],
    ["--system=yes"], ["--system", "--system"], ["--system", "--socket", "/s"], ["--socket"],
  ])
  func `all else is refused`(arguments: [String]) {
    #expect(throws: AgentOptions.Problem.self) { try AgentOptions(arguments) }
  }

  @Test func `the usual order begins where the person is`() {
    #expect(Faces.usual(onTerminal: true, onDesktop: true, hasPinentry: true) == [.terminal, .notification, .pinentry])
    #expect(Faces.usual(onTerminal: false, onDesktop: true, hasPinentry: true) == [.notification, .pinentry])
    #expect(Faces.usual(onTerminal: false, onDesktop: false, hasPinentry: true) == [.pinentry])
    #expect(Faces.usual(onTerminal: false, onDesktop: false, hasPinentry: false).isEmpty)
  }
}
