import Foundation
import Glibc
import Testing
import VaultTesting

/// One of the program's questions, and the way to it.
struct Question: Sendable, CustomTestStringConvertible {
  var arguments: [String]
  /// The questions that come first, with their answers.
  var before: [(shown: String, answer: String)] = []
  /// The text of the question.
  var shown: String
  /// True if the terminal shows the typed answer.
  var echoes = false
  /// True for an unlocked vault, false for a locked one; nil for no vault.
  var vault: Bool? = true

  var testDescription: String { "vault \(arguments.joined(separator: " ")) at “\(shown)”" }

  static let old = "ault password"
  static let new = "New vault password: "
  static let again = "Again: "
  static let another = "another horse battery"

  static let all: [Question] = [
    Question(arguments: ["init"] + floorOptions, shown: new, vault: nil),
    Question(arguments: ["init"] + floorOptions, before: [(new, another)], shown: again, vault: nil),
    Question(
      arguments: ["init", "--recovery"] + floorOptions, before: [(new, another), (again, another)],
      shown: "Recovery code: ", echoes: true, vault: nil),
    Question(arguments: ["unlock"], shown: old, vault: false),
    Question(arguments: ["get", "web"], shown: old, vault: false),
    Question(arguments: ["set", "new"], shown: "Value of `new`: "),
    Question(arguments: ["set", "new"], before: [("Value of `new`: ", "v")], shown: again),
    Question(
      arguments: ["set", "new", "--kind", "tls-key"], shown: "Value of `new`, ended by control-D on an empty line:"),
    Question(
      arguments: ["set", "new", "--kind", "note"], shown: "Value of `new`, ended by control-D on an empty line:",
      echoes: true),
    Question(arguments: ["set", "web", "--update"], shown: "Value of `web`: "),
    Question(arguments: ["passwd"] + floorOptions, shown: old),
    Question(arguments: ["passwd"] + floorOptions, before: [(old, password)], shown: new),
    Question(arguments: ["passwd"] + floorOptions, before: [(old, password), (new, another)], shown: again),
    Question(arguments: ["slot", "add", "password"] + floorOptions, shown: old),
    Question(arguments: ["slot", "add", "password"] + floorOptions, before: [(old, password)], shown: new),
    Question(
      arguments: ["slot", "add", "password"] + floorOptions, before: [(old, password), (new, another)], shown: again),
    Question(
      arguments: ["slot", "add", "recovery"], before: [(old, password)], shown: "Recovery code: ", echoes: true),
    Question(arguments: ["rm", "name~*"], shown: "[y/N] ", echoes: true),
  ]

  /// Makes a sandbox in which the question can be asked.
  func sandbox() throws -> Sandbox {
    guard let vault else {
      let sandbox = try Sandbox()
      try sandbox.hidePAM()
      return sandbox
    }
    let sandbox = try Sandbox.withVault(unlocked: vault)
    // With a second item, deleting by a predicate asks.
    if vault { try sandbox.must(["set", "web2"], stdin: "hunter3") }
    return sandbox
  }

  /// Starts the command and answers everything before the question.
  func ask(in sandbox: Sandbox) throws -> Terminal {
    let terminal = try Terminal(sandbox, arguments)
    for step in before {
      try terminal.expect(step.shown)
      terminal.type(step.answer)
    }
    try terminal.expect(shown)
    return terminal
  }
}

@Suite("Interruptions") struct InterruptionTests {
  @Test("control-C at any question leaves the terminal as it was and changes nothing", arguments: Question.all)
  func interrupt(question: Question) throws {
    let sandbox = try question.sandbox()
    defer { sandbox.close() }
    let before = try sandbox.everything()
    let terminal = try question.ask(in: sandbox)
    #expect(terminal.echoes == question.echoes)
    terminal.type("half an ans", return: false)
    terminal.control("c")
    #expect(try terminal.wait() == 130)
    #expect(terminal.isCooked)
    #expect(question.echoes || !terminal.screen.contains("half an ans"))
    let loss = question.vault == nil ? "no vault was made" : "opens nothing"
    let isOfCode = question.shown == "Recovery code: "
    #expect(
      terminal.screen.contains("the recovery code above was not stored, and \(loss)") == isOfCode, "\(terminal.screen)")
    let isValue = question.arguments[0] == "set" && question.shown == Question.again
    #expect(terminal.screen.contains(Self.gone) == isValue, "\(terminal.screen)")
    #expect(try sandbox.everything() == before)
  }

  private static let gone = "vault: interrupted; what was typed is gone"

  @Test("control-C after the first line of a text says that it is gone", arguments: ["note", "tls-key"])
  func lines(kind: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["set", "new", "--kind", kind])
    try terminal.expect("ended by control-D on an empty line:")
    // The kernel drops what it has and the program has not read.
    func bytesRead() throws -> Int {
      let counts = try String(contentsOfFile: "/proc/\(terminal.pid)/io", encoding: .utf8).split(separator: "\n")
      return try #require(counts.first { $0.hasPrefix("rchar: ") }.flatMap { Int($0.dropFirst(7)) })
    }
    let before = try bytesRead()
    terminal.type("one line\rand another")
    try wait(for: "the reading of the first line") { try bytesRead() >= before + "one line\n".utf8.count }
    terminal.control("c")
    #expect(try terminal.wait() == 130)
    #expect(terminal.screen.contains(Self.gone) && terminal.isCooked, "\(terminal.screen)")
    #expect(try sandbox.run("show", "new").status == 66)
  }

  /// The signals that end a program unless it handles them (signal(7)).
  private static let ending = [
    SIGHUP, SIGTERM, SIGQUIT, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2, SIGPIPE, SIGIO, SIGXCPU, SIGPWR, SIGSTKFLT,
    34, 64,
  ]

  @Test("a hang-up, a termination and whatever else ends a program do the same", arguments: ending)
  func signals(signal: Int32) throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["unlock"])
    try terminal.expect(Question.old)
    #expect(!terminal.echoes)
    terminal.signal(signal)
    #expect(try terminal.wait() == 128 + signal)
    #expect(terminal.isCooked)
    #expect(try sandbox.must(["status", "--json"]).contains(#""state":"locked""#))
  }

  @Test(
    "a signal ends it, too, when the terminal takes nothing that it shows",
    arguments: [
      (["unlock"], Question.old), (["set", "new", "--kind", "note"], "empty line:"), (["pick"], "2 of 2"),
      (["totp", "code", "--watch"], " s left"),
    ])
  func stoppedTerminal(command: [String], shown: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let seed = "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQ&period=1"
    try sandbox.must(["set", "code", "--kind", "totp"], stdin: seed)
    if command == ["unlock"] { try sandbox.must(["lock"]) }
    for signals in [[SIGTERM], [SIGCONT, SIGTERM]] {
      let terminal = try Terminal(sandbox, command)
      try terminal.expect(shown)
      terminal.stopOutput()
      for signal in signals { terminal.signal(signal) }
      #expect(try terminal.wait() == 128 + SIGTERM)
      #expect(terminal.isCooked)
    }
  }

  @Test("a program that is told to go on asks again, with the modes set anew")
  func goOn() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["unlock"])
    try terminal.expect(Question.old)
    terminal.type("half an ans", return: false)
    terminal.signal(SIGCONT)
    try terminal.expect(Question.old)
    #expect(!terminal.echoes)
    terminal.type(password)
    #expect(try terminal.wait() == 0)
    #expect(terminal.isCooked)
  }

  @Test("control-C is a signal and return ends a line also where an earlier program left the terminal without them")
  func leftModes() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let before = try sandbox.everything()
    for question in ["set new", "rm name~*"] {
      let terminal = try Terminal(sandbox, ["-c", "stty -isig; exec vault \(question)"], program: "/bin/sh")
      try terminal.expect(question == "set new" ? "Value of `new`: " : "[y/N] ")
      terminal.control("c")
      #expect(try terminal.wait() == 130)
    }
    let terminal = try Terminal(sandbox, ["-c", "stty -icrnl; exec vault rm 'name~*'"], program: "/bin/sh")
    try terminal.expect("[y/N] ")
    terminal.type("n")
    #expect(try terminal.wait() == 77)
    #expect(try sandbox.everything() == before)
  }

  @Test("a terminal that was left without echo has none after a question that is shown, either")
  func leftEcho() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["-c", "stty -echo; exec vault rm 'name~*'"], program: "/bin/sh")
    try terminal.expect("[y/N] ")
    #expect(terminal.echoes)
    terminal.type("n")
    #expect(try terminal.wait() == 77)
    #expect(!terminal.echoes)
  }

  @Test("a signal that it was started to ignore, as nohup does, does not end it at a question")
  func ignored() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["-c", "trap '' HUP USR1; exec vault unlock"], program: "/bin/sh")
    try terminal.expect(Question.old)
    for signal in [SIGHUP, SIGUSR1] { terminal.signal(signal) }
    terminal.type(password)
    #expect(try terminal.wait() == 0)
    #expect(terminal.isCooked)
    #expect(try sandbox.must(["status", "--json"]).contains(#""state":"unlocked""#))
  }

  @Test("control-D on an empty line cancels", arguments: Question.all.filter { $0.vault != nil })
  func cancel(question: Question) throws {
    let sandbox = try question.sandbox()
    defer { sandbox.close() }
    let before = try sandbox.everything()
    let terminal = try question.ask(in: sandbox)
    terminal.control("d")
    #expect(try terminal.wait() == 77)
    #expect(terminal.isCooked)
    #expect(try sandbox.everything() == before)
  }

  /// Starts a shell on a terminal, with a question on it. The shell edits no lines, so its children alone set the
  /// terminal's modes.
  private func shell(asking sandbox: Sandbox) throws -> Terminal {
    let terminal = try Terminal(
      sandbox, ["-i"], program: "/bin/dash", environment: ["PS1": "dash> ", "ENV": nil])
    try terminal.expect("dash> ")
    terminal.type("vault unlock")
    try terminal.expect(Question.old)
    try terminal.expect(": ")
    return terminal
  }

  /// Resumes the stopped program, which repeats its question.
  private func goOn(_ terminal: Terminal) throws {
    terminal.type("fg")
    try terminal.expect(Question.old)
    try terminal.expect(": ")
    #expect(!terminal.echoes)
  }

  @Test(
    "whatever else stops it does the same as control-Z, and in the background it waits for its turn",
    arguments: [SIGTSTP, SIGTTIN, SIGTTOU])
  func stops(number: Int32) throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let terminal = try shell(asking: sandbox)
    let program = try #require(ProcessTree.processes(named: "vault", of: terminal.pid).first)
    kill(program, number)
    try terminal.expect("dash> ")
    #expect(terminal.isCooked)
    // The program is stopped again as soon as it wants the terminal, and leaves the terminal as it is.
    terminal.type("bg; until grep -q '^State:.T' /proc/\(program)/status; do :; done; echo at rest")
    try terminal.expect("at rest\r\n")
    try terminal.expect("dash> ")
    #expect(terminal.isCooked)
    try goOn(terminal)
    terminal.type(password)
    try terminal.expect("dash> ")
    #expect(terminal.isCooked)
    #expect(try sandbox.must(["status", "--json"]).contains(#""state":"unlocked""#))
    terminal.type("exit")
    try terminal.wait()
  }

  @Test(
    "a background job waits for its turn, whatever else runs in it, and the shell's fg brings the question",
    arguments: [
      "vault unlock", "(vault unlock; echo ended)", "vault unlock | cat", "timeout 60 vault unlock",
      "(trap '' TTOU; vault unlock)", "yes | vault unlock",
    ])
  func waitsForTurn(job: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    // dash continues a job that has not stopped, too; bash does as most shells do.
    let terminal = try Terminal(
      sandbox, ["--norc", "--noprofile", "--noediting", "-i"], program: "/bin/bash",
      environment: ["HISTFILE": nil, "PS1": "bash> ", "ENV": nil])
    try terminal.expect("bash> ")
    terminal.type(job + " &")
    try terminal.expect("vault: a question waits for the terminal: bring this job to the foreground, as with `fg`")
    #expect(terminal.isCooked || !terminal.screen.contains("assword"))
    terminal.type("fg")
    try terminal.expect("assword: ")
    #expect(!terminal.echoes)
    terminal.type(password)
    try terminal.expect("bash> ")
    #expect(terminal.isCooked && !terminal.screen.contains(password))
    #expect(try sandbox.must(["status", "--json"]).contains(#""state":"unlocked""#))
    terminal.type("exit")
    try terminal.wait()
  }

  @Test("a job in the background ends by a signal while its question waits") func endsInBackground() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let terminal = try Terminal(
      sandbox, ["--norc", "--noprofile", "--noediting", "-i"], program: "/bin/bash",
      environment: ["HISTFILE": nil, "PS1": "bash> ", "ENV": nil])
    try terminal.expect("bash> ")
    terminal.type("vault unlock &")
    try terminal.expect("a question waits for the terminal")
    terminal.type("kill %1; wait %1; echo left by $?")
    try terminal.expect("left by 143\r\n")
    terminal.type("exit")
    try terminal.wait()
  }

  @Test("a background job whose shell is gone asks nothing, as without a terminal") func orphaned() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let terminal = try Terminal(
      sandbox, ["--norc", "--noprofile", "--noediting", "-i"], program: "/bin/bash",
      environment: ["HISTFILE": nil, "PS1": "bash> ", "ENV": nil])
    try terminal.expect("bash> ")
    // The job begins once its shell has ended.
    let go = sandbox.home + "/go"
    terminal.type("mkfifo \(go); bash -c '(read x <\(go); vault get web; echo left by $?) & exit'; echo >\(go)")
    try terminal.expect("left by 75\r\n")
    #expect(terminal.isCooked && !terminal.screen.contains("password:"), "\(terminal.screen)")
    terminal.type("exit")
    try terminal.wait()
  }

  @Test("one whose shell ends while its question waits names no option that the command does not have")
  func orphanedLater() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let terminal = try Terminal(
      sandbox, ["--norc", "--noprofile", "--noediting", "-i"], program: "/bin/bash",
      environment: ["HISTFILE": nil, "PS1": "bash> ", "ENV": nil])
    try terminal.expect("bash> ")
    terminal.type("bash -c 'set -m; (vault get web; echo left by $?) & read x'")
    try terminal.expect("vault: a question waits for the terminal")
    terminal.type("")
    try terminal.expect("vault: no terminal to ask on; run it on a terminal\r\n")
    try terminal.expect("left by 75\r\n")
    terminal.type("exit")
    try terminal.wait()
  }

  @Test("control-Z gives the shell its terminal back, and the question is asked again afterwards")
  func suspend() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let terminal = try shell(asking: sandbox)
    terminal.type("half an ans", return: false)
    terminal.control("z")
    try terminal.expect("dash> ")
    #expect(terminal.isCooked)
    try goOn(terminal)
    // The program forgot everything typed before; only this line is the password.
    terminal.type(password)
    try terminal.expect("dash> ")
    #expect(terminal.isCooked)
    terminal.type("exit")
    try terminal.wait()
    #expect(!terminal.screen.contains("half an ans") && !terminal.screen.contains(password))
    #expect(try sandbox.must(["status", "--json"]).contains(#""state":"unlocked""#))
  }
}
