import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("What is typed between two questions") struct HushTests {
  private static let question = "Vault password: "

  @Test("after a wrong password the question comes again in place, three times, and nothing typed ever shows")
  func threeTimes() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["unlock"])
    for attempt in 1...3 {
      try terminal.expect(Self.question)
      #expect(!terminal.echoes)
      terminal.type("wrong \(attempt)")
      try terminal.expect("vault: wrong password")
      #expect(!terminal.echoes || attempt == 3)
    }
    #expect(try terminal.wait() == 77)
    #expect(terminal.isCooked && !terminal.screen.contains("wrong 1") && !terminal.screen.contains("wrong 3"))
  }

  @Test("after the last question what somebody goes on typing neither shows nor reaches the shell")
  func goesOnTyping() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["unlock"])
    for _ in 1...3 {
      try terminal.expect(Self.question)
      terminal.type("wrong")
      try terminal.expect("\r\n")
    }
    let clock = ContinuousClock()
    var last = clock.now
    for _ in 1...150 {
      terminal.type("x", return: false)
      let echoes = terminal.echoes
      // The program waits for a pause of half a second in the typing, and a busy machine can make one.
      if clock.now - last > .milliseconds(400) { break }
      #expect(!echoes)
      last = clock.now
      usleep(20_000)
    }
    #expect(try terminal.wait() == 77)
    #expect(terminal.isCooked && terminal.unread == 0 && !terminal.screen.contains("xx"), "\(terminal.screen)")
  }

  @Test("what is typed behind the last answer is thrown away") func leftBehind() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault(config: "idle = off")
    try sandbox.hidePAM()
    let terminal = try Terminal(sandbox, ["unlock"])
    try terminal.expect(Self.question)
    try sandbox.signalDaemon(SIGSTOP)
    terminal.type(password)
    try terminal.expect("\r\n")
    terminal.type("half of another", return: false)
    while terminal.unread < 15 {}
    try sandbox.signalDaemon(SIGCONT)
    #expect(try terminal.wait() == 0)
    #expect(terminal.isCooked && terminal.leftBehind == 0)
    try sandbox.must(["set", "web"], stdin: "hunter2")
    let question = try Terminal(sandbox, ["rm", "name=web"])
    try question.expect("[y/N] ")
    question.type("y\rhalf of another", return: false)
    #expect(try question.wait() == 0)
    #expect(question.isCooked && question.leftBehind == 0)
  }

  @Test(
    "whatever needs the password goes on with the right one",
    arguments: [
      ["unlock"], ["get", "web"], ["slot", "add", "recovery"], ["passwd"], ["rekey"], ["slot", "remove", "2"],
    ])
  func goesOn(command: [String]) throws {
    let sandbox = try Sandbox.withVault(unlocked: command == ["rekey"])
    defer { sandbox.close() }
    if command.last == "2" {
      try sandbox.must(["slot", "add", "recovery", "--password-stdin"], stdin: password + "\n")
    }
    let terminal = try Terminal(sandbox, command)
    try terminal.expect("ault password")
    terminal.type("wrong")
    try terminal.expect("vault: wrong password\r\n")
    try terminal.expect("ault password")
    terminal.type(password)
    let next =
      switch command[0] {
      case "unlock": "unlocked"
      case "get": "hunter2"
      case "slot" where command[1] == "add": "Recovery code: "
      case "slot": "slot 2 is removed"
      case "passwd": "New vault password: "
      default: "the vault has a new key"
      }
    try terminal.expect(next)
  }

  @Test("a password that is typed before the question is there again does not show, and is the answer")
  func ahead() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["unlock"])
    try terminal.expect(Self.question)
    terminal.type("wrong")
    // The line has been read, and Argon2id is running.
    try terminal.expect("\r\n")
    terminal.type(password)
    #expect(try terminal.wait() == 0)
    #expect(!terminal.screen.contains(password))
  }

  @Test("between the unlock and the question of a rekey nothing that is typed shows") func twoQuestions() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["rekey"])
    for _ in 1...2 {
      try terminal.expect("ault password")
      #expect(!terminal.echoes)
      terminal.type(password)
      try terminal.expect("\r\n")
    }
    try terminal.expect("the vault has a new key")
    #expect(try terminal.wait() == 0 && terminal.isCooked && !terminal.screen.contains(password))
  }

  @Test("from the value to what the vault asks for before it is stored, nothing that is typed shows") func setting()
    throws
  {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["set", "new"])
    try terminal.expect("Value of `new`: ")
    terminal.type("hunter2")
    try terminal.expect("Again: ")
    try sandbox.must(["lock"])
    terminal.type("hunter2")
    try terminal.expect("\r\n")
    #expect(!terminal.echoes)
    try terminal.expect(Self.question)
    terminal.type(password)
    try terminal.expect("stored")
    #expect(try terminal.wait() == 0 && terminal.isCooked)
    #expect(!terminal.screen.contains("hunter2") && !terminal.screen.contains(password))
  }

  @Test("while an earlier failure has everybody wait, the question comes at once and the wait is behind it")
  func backingOff() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    for _ in 1...2 {
      _ = try sandbox.run("unlock", "--password-stdin", stdin: "wrong\n")
    }
    let terminal = try Terminal(sandbox, ["get", "web"])
    try terminal.expect("Vault password")
    #expect(!terminal.echoes)
    terminal.type(password)
    #expect(try terminal.wait() == 0)
    #expect(terminal.screen.contains("hunter2"))
  }

  @Test("a mistyped recovery code is asked for again")
  func recoveryCode() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let code = try sandbox.must(["slot", "add", "recovery", "--password-stdin"], stdin: password + "\n")
    let terminal = try Terminal(sandbox, ["unlock", "--recovery"])
    try terminal.expect("Recovery code: ")
    terminal.type("AAAAA-BBBBB")
    try terminal.expect("mistyped")
    try terminal.expect("Recovery code: ")
    terminal.type(code.trimmingCharacters(in: .newlines))
    try terminal.expect("Set a new password now")
    try terminal.expect("[y/N] ")
    terminal.type("")
    #expect(try terminal.wait() == 0)
  }

  @Test("who comes too soon waits first, and then the daemon says what the secret is for") func tooSoon() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let refusal = #"{"error":"io.vaultd.Vault.BackingOff","parameters":{"method":"password","retry_after_ms":20}}"#
    let daemon = try ScriptedDaemon(sandbox, ["AddSlot": [refusal]])
    defer { daemon.close() }
    let terminal = try Terminal(sandbox, ["slot", "add", "recovery", "--socket", daemon.socket])
    #expect(try terminal.wait() == 75, "\(terminal.screen)")
    #expect(terminal.screen.contains("too soon after the last attempt") && !terminal.screen.contains("password:"))
    #expect(daemon.heard("AddSlot") == 4 && terminal.isCooked, "\(terminal.screen)")
  }

  @Test("a line of standard input is tried once")
  func input() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let outcome = try sandbox.run("unlock", "--password-stdin", stdin: "wrong\n\(password)\n")
    #expect(outcome.status == 77 && outcome.errors.hasPrefix("vault: wrong password; try again in"))
  }

  /// Starts a client whose daemon has taken the answer and says nothing more.
  private func waiting(_ sandbox: Sandbox, through shell: Terminal? = nil) throws -> (Terminal, ScriptedDaemon) {
    let daemon = try ScriptedDaemon(
      sandbox,
      [
        "Unlock": [
          #"{"parameters":{"conversation":"c0ffee","prompt":{"style":"secret","method":"password","text":"Vault "#
            + #"password"}},"#
            + #""continues":true}"#
        ],
        "Respond": [#"{"parameters":{}}"#],
      ])
    let terminal = try shell ?? Terminal(sandbox, ["unlock", "--socket", daemon.socket])
    if shell != nil { terminal.type("vault unlock --socket \(daemon.socket)") }
    try terminal.expect(Self.question)
    terminal.type("secret")
    try terminal.expect("\r\n")
    return (terminal, daemon)
  }

  @Test(
    "a signal that ends the program while the daemon takes its time leaves the terminal as it was",
    arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
  func ended(signal: Int32) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let (terminal, daemon) = try waiting(sandbox)
    defer { daemon.close() }
    #expect(!terminal.echoes)
    terminal.type("half of another", return: false)
    while terminal.unread < 15 {}
    if signal == SIGINT { terminal.control("c") } else { terminal.signal(signal) }
    #expect(try terminal.wait() == 128 + signal)
    #expect(terminal.isCooked && !terminal.screen.contains("half of another"))
  }

  @Test("a stop gives the shell its terminal, and what is typed is hidden again when the program goes on")
  func stopped() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let shell = try Terminal(sandbox, ["-i"], program: "/bin/dash", environment: ["PS1": "dash> ", "ENV": nil])
    try shell.expect("dash> ")
    let (terminal, daemon) = try waiting(sandbox, through: shell)
    defer { daemon.close() }
    for _ in 1...2 {
      terminal.control("z")
      try terminal.expect("dash> ")
      #expect(terminal.isCooked)
      terminal.type("fg")
      try terminal.expect("vault unlock")
      while terminal.echoes {}
      terminal.type("never seen", return: false)
    }
    terminal.control("c")
    try terminal.expect("dash> ")
    #expect(terminal.isCooked && !terminal.screen.contains("never seen"))
    terminal.type("exit")
    try terminal.wait()
  }

  @Test("a new password that is too easy is told before it is typed again")
  func weak() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.hidePAM()
    let terminal = try Terminal(sandbox, ["init", "--no-recovery"] + floorOptions)
    for (typed, said) in [("sh0rt", "at least 8 characters"), ("12345678", "among those that attackers try first")] {
      try terminal.expect("New vault password: ")
      terminal.type(typed)
      try terminal.expect(said)
    }
    try terminal.expect("New vault password: ")
    terminal.type(password)
    try terminal.expect("Again: ")
    terminal.type(password)
    #expect(try terminal.wait() == 0)
    let refused = try sandbox.run(
      ["passwd", "--password-stdin"] + floorOptions, stdin: Array("\(password)\n12345678\n".utf8))
    #expect(refused.status == 65 && refused.errors.contains("among those that attackers try first"), "\(refused)")
  }
}
