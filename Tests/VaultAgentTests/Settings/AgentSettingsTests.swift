import Testing

@testable import VaultAgent

@Suite struct AgentSettingsTests {
  @Test func `every setting is taken from its line`() throws {
    let settings = try AgentSettings(
      parsing: "# mine\n\nfaces = notification  pinentry\npinentry=/bin/true\r\n command = /bin/sh \nsystem = no\n")
    #expect(settings.faces == [.notification, .pinentry])
    #expect(settings.pinentry == "/bin/true")
    #expect(settings.command == "/bin/sh")
    #expect(settings.attendsSystem == false)
  }

  @Test func `what the command line says goes before the file, and what it leaves out stays`() throws {
    let settings = try AgentSettings(parsing: "faces = pinentry\npinentry = /bin/true\ncommand = /bin/true\n")
    let told = try settings.overridden(by: AgentOptions(["--faces", "terminal,command", "--pinentry", "/bin/sh"]))
    #expect(told.faces == [.terminal, .command])
    #expect(told.pinentry == "/bin/sh" && told.command == "/bin/true")
    #expect(try settings.overridden(by: AgentOptions([])) == settings)
  }

  @Test func `a file that is not there says nothing`() throws {
    #expect(try AgentSettings(reading: "/nonexistent/agent.conf") == AgentSettings())
  }

  @Test func `a folder is an error that names it`() {
    #expect { try AgentSettings(reading: "/etc") } throws: { "\($0)".hasPrefix("/etc: cannot be read") }
  }

  @Test(arguments: [
    ("faces", "expected"), ("face = terminal", "did you mean `faces`"), ("faces = ", "one or more"),
    ("faces = telepathy", "one or more"), ("faces = terminal terminal", "each once"),
    ("command = sh", "absolute path"), ("command = /bin/sh -c", "cannot be run"),
    ("pinentry = /nonexistent", "cannot be run"), ("system = maybe", "yes or no"),
    ("system = yes\nsystem = no", "set twice"),
  ])
  func `what cannot be followed is an error that names the line`(text: String, reason: String) {
    #expect { try AgentSettings(parsing: "\n" + text) } throws: { error in
      guard let problem = error as? AgentSettings.Problem else { return false }
      return problem.line == 1 + text.split(separator: "\n").count && problem.reason.contains(reason)
    }
  }
}
