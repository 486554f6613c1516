import Foundation
import Glibc
import Testing
import VaultTesting

/// The program vault-agent on a terminal, with a real daemon.
@Suite("The agent") struct AgentTests {
  /// Makes a user's vault with the items `web` and `bank`, which requires the password.
  private func sandbox(_ settings: String = "") throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.configure("pam-service = vault-test-none\n" + settings)
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    try sandbox.must(["set", "web"], stdin: "hunter2")
    try sandbox.must(["set", "bank", "--require", "password"], stdin: "1234")
    return sandbox
  }

  /// Starts an agent on a terminal, and returns once it attends.
  private func agent(_ sandbox: Sandbox, _ arguments: String...) throws -> Terminal {
    let terminal = try Terminal(sandbox, ["agent", "--faces", "terminal"] + arguments)
    try untilAttends(sandbox, terminal.pid)
    return terminal
  }

  private func untilAttends(_ sandbox: Sandbox, _ pid: Int32) throws {
    try wait(for: "the agent") { try sandbox.must(["status", "--json"]).contains("\"pid\":\(pid),") }
  }

  /// Starts a daemon that asks for a finger, refuses it, and lets nobody try again for ten minutes. Once the agent has
  /// heard of that, there is a file `refused`; what the agent says then is in a file `said`.
  private func refusingDaemon(in sandbox: Sandbox) throws -> Activation {
    try sandbox.run("-m", "700", sandbox.runtime + "/vault", program: "/bin/mkdir")
    let inquiry =
      #"{"number":123456,"about":"presence","askers":[],"count":1,"name":"bank","require":"user-presence"}"#
    let script = #"""
      #!/bin/bash
      say() { printf '%s\0' "$1"; }
      while IFS= read -r -d '' call; do
        case $call in
        *Vault.Attend\"*)
          say '{"parameters":{"event":"attending","time":0,"agent":1},"continues":true}'
          say '{"parameters":{"event":"inquiry","time":0,"inquiry":\#(inquiry)},"continues":true}' ;;
        *Vault.Authenticate\"*)
          refuses=1
          prompt='{"style":"info","method":"pam","text":"Swipe"}'
          say '{"parameters":{"conversation":"c","prompt":'"$prompt"'},"continues":true}'
          failed='{"method":"pam","retry_after_ms":600000}'
          say '{"error":"io.vaultd.Vault.AuthenticationFailed","parameters":'"$failed"'}' ;;
        *Vault.Dismiss\"*)
          printf '%s\n' "$call" >'\#(sandbox.root)/new' && mv '\#(sandbox.root)/new' '\#(sandbox.root)/said'
          say '{"parameters":{}}' ;;
        esac
      done
      [ -z "$refuses" ] || : >'\#(sandbox.root)/refused'
      """#
    let path = sandbox.root + "/daemon"
    try sandbox.run("-c", "cat >\(path); chmod 755 \(path)", program: "/bin/sh", stdin: script)
    return try Activation(sandbox.socket, in: sandbox, command: [path])
  }

  @Test("a person who puts a finger off after it was refused has declined, as one who does so before")
  func putOff() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let daemon = try refusingDaemon(in: sandbox)
    defer { withExtendedLifetime(daemon) {} }
    let terminal = try Terminal(sandbox, ["agent", "--faces", "terminal", "--socket", sandbox.socket])
    try terminal.expect("Swipe\r\n")
    try terminal.expect("(return: not now)\r\n")
    try wait(for: "the refusal") { FileManager.default.fileExists(atPath: sandbox.root + "/refused") }
    terminal.type("")
    try wait(for: "the dismissal") { FileManager.default.fileExists(atPath: sandbox.root + "/said") }
    let said = try String(contentsOfFile: sandbox.root + "/said", encoding: .utf8)
    #expect(said.contains("123456") && !said.contains("unable"), "\(said)")
    #expect(!terminal.screen.contains("no way to ask"), "\(terminal.screen)")
    terminal.signal(SIGTERM)
    #expect(try terminal.wait() == 0)
  }

  private func count(_ word: String, in text: String) -> Int { text.components(separatedBy: word).count - 1 }

  @Test("ten readers have one question, a wrong password is asked for again, and the right one serves all")
  func tenReaders() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let terminal = try agent(sandbox)
    // It never answers: each event reaches it and the agent at the same time.
    let witness = try AttendingClient(sandbox)
    try sandbox.must(["lock"])
    try terminal.expect("Vault: locked by `vault lock`")
    let readers = (0..<10).map { _ in Begun(sandbox, ["get", "web", "--reason", "for the test"]) }
    while try witness.nextInquiry().askerCount != 10 {}
    try terminal.expect("to unlock the vault")
    try terminal.expect("asked by process ")
    try terminal.expect("in its own words: “for the test”")
    try terminal.expect("Vault password")
    #expect(!terminal.echoes)
    terminal.type("wr\u{F6}ng")
    try terminal.expect("checking …")
    try terminal.expect("that was wrong; attempt 2 of 3")
    try terminal.expect("it has letters beyond ASCII")
    try terminal.expect("Vault password")
    terminal.type(password)
    for reader in readers { #expect(try reader.outcome().output == "hunter2") }
    try terminal.expect("Vault: it is unlocked")
    #expect(count("Vault password", in: terminal.screen) == 2 && !terminal.screen.contains(password))
    #expect(!terminal.screen.contains("an attempt to open it failed"))
    terminal.signal(SIGTERM)
    #expect(try terminal.wait() == 0 && terminal.isCooked)
  }

  @Test(
    """
    presence is asked for in the name of who waits, counts for that session, and with --wait 0 nobody is asked; status \
    tells of the agent
    """)
  func presence() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let terminal = try agent(sandbox)
    let status = try sandbox.must(["status"])
    #expect(status.contains("process \(terminal.pid)") && status.contains("asks by terminal, since"), "\(status)")
    #expect(try sandbox.must(["status", "--json"]).contains(#""faces":["terminal"]"#))
    let witness = try AttendingClient(sandbox)
    let reader = Begun(sandbox, ["get", "bank"])
    let told = try witness.inquiry()
    #expect(told["name"] as? String == "bank", "\(told)")
    let pid = try #require(told.askers.first?["pid"] as? Int)
    let command = try #require(FileManager.default.contents(atPath: "/proc/\(pid)/cmdline"))
    let words = command.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    #expect(words == [Sandbox.path(of: "vault"), "get", "bank"])
    try terminal.expect("asks for `bank` from the vault, which requires proof that you are here")
    try terminal.expect("Vault password")
    terminal.type(password)
    #expect(try reader.outcome().output == "1234")
    let now = try sandbox.run("get", "bank", "--wait", "0")
    #expect(now.status == 77 && now.errors.hasPrefix("vault: `bank` requires the password, and nobody was asked;"))
  }

  @Test("who does not want to answer is not asked again for a while, and those who wait hear of it") func dismissal()
    throws
  {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let terminal = try agent(sandbox)
    let reader = Begun(sandbox, ["get", "bank"])
    try terminal.expect("Vault password")
    terminal.type("")
    let refused = try reader.outcome()
    #expect(refused.status != 0 && refused.errors.contains("declined to answer"), "\(refused)")
    let again = try sandbox.run("get", "bank")
    #expect(again.status == refused.status && again.errors == refused.errors)
    #expect(count("asks for `bank`", in: terminal.screen) == 1)
  }

  @Test("three wrong passwords are told in words, once, to the person and to who waits") func wrong() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let terminal = try agent(sandbox)
    let reader = Begun(sandbox, ["get", "bank"])
    for _ in 0..<3 {
      try terminal.expect("Vault password")
      terminal.type("not this one")
    }
    let refused = try reader.outcome()
    #expect(refused.status == 77 && refused.errors.contains("or did not give the right password"), "\(refused)")
    try terminal.expect("nothing was done: wrong password, 3 times; nobody is asked again for a minute")
    terminal.signal(SIGTERM)
    #expect(try terminal.wait() == 0)
    #expect(count("nothing was done", in: terminal.screen) == 1 && !terminal.screen.contains("Milliseconds"))
  }

  @Test("a question about an unlock names the item that it is for, unless the vault hides names")
  func purpose() throws {
    for (settings, isNamed) in [("", true), ("hide-names = true\n", false)] {
      let sandbox = try sandbox(settings)
      defer { sandbox.close() }
      let terminal = try agent(sandbox)
      try sandbox.must(["lock"])
      let reader = Begun(sandbox, ["get", "web"])
      try terminal.expect("Vault password")
      #expect(terminal.screen.contains("for: get `web`") == isNamed, "\(terminal.screen)")
      terminal.type(password)
      #expect(try reader.outcome().output == "hunter2")
    }
  }

  @Test("a question that is answered elsewhere is taken back, and the next one is asked") func withdrawn() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let terminal = try agent(sandbox)
    try sandbox.must(["lock"])
    let reader = Begun(sandbox, ["get", "web"])
    try terminal.expect("asks to unlock the vault")
    try terminal.expect("Vault password")
    terminal.type("half of it", return: false)
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    try terminal.expect("the question was withdrawn")
    terminal.type("the other half")
    #expect(try reader.outcome().output == "hunter2")
    let next = Begun(sandbox, ["get", "bank"])
    try terminal.expect("asks for `bank`")
    try terminal.expect("Vault password")
    terminal.type(password)
    #expect(try next.outcome().output == "1234")
    #expect(!terminal.screen.contains("half"))
  }

  @Test("an agent that ends in the middle of a question leaves who waits with the error there is without it")
  func ends() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    for signal in [SIGTERM, SIGKILL] {
      let terminal = try agent(sandbox)
      let reader = Begun(sandbox, ["get", "bank"])
      try terminal.expect("Vault password")
      terminal.signal(signal)
      let refused = try reader.outcome()
      #expect(refused.status == 77 && refused.errors.contains("requires the password"), "\(refused)")
      _ = try terminal.wait()
      if signal == SIGTERM { #expect(terminal.isCooked) }
    }
  }

  @Test("it attends again after the daemon has ended, which waits for no agent") func restart() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.hidePAM()
    try sandbox.startDaemon()
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    try sandbox.must(["set", "bank", "--require", "password"], stdin: "1234")
    let terminal = try agent(sandbox)
    let reader = Begun(sandbox, ["get", "bank"])
    try terminal.expect("Vault password")
    #expect(try sandbox.stopDaemon() == 0)
    try terminal.expect("the question was withdrawn")
    #expect(try reader.outcome().status != 0)
    // The next client command starts the daemon again.
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    try untilAttends(sandbox, terminal.pid)
    let next = Begun(sandbox, ["get", "bank"])
    try terminal.expect("asks for `bank`")
    try terminal.expect("Vault password")
    terminal.type(password)
    #expect(try next.outcome().output == "1234")
  }

  @Test("settings that cannot be followed, and no way to ask, end it with 78") func settings() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    try FileManager.default.createDirectory(
      atPath: sandbox.root + "/config/vault", withIntermediateDirectories: true)
    let file = sandbox.root + "/config/vault/agent.conf"
    try "faces = telepathy\n".write(toFile: file, atomically: true, encoding: .utf8)
    let wrong = try sandbox.run("agent")
    #expect(wrong.status == 78 && wrong.errors.hasPrefix("vault-agent: \(file):1: faces is one or more of"), "\(wrong)")
    try "pinentry = /usr/bin/false\n".write(toFile: file, atomically: true, encoding: .utf8)
    let command = try sandbox.run("agent", "--faces", "command")
    #expect(command.status == 78 && command.errors.contains("the face `command` needs a program"), "\(command)")
    #expect(try sandbox.run("agent", "--faces", "x").status == 64)
    let absent = try sandbox.run("agent", "--faces", "command", "--command", "/nonexistent")
    let reason = "--command is `/nonexistent`, which cannot be run: No such file or directory"
    #expect(absent.status == 78 && absent.errors == "vault-agent: \(reason)\n", "\(absent)")
    let nowhere = try sandbox.run(
      ["agent", "--faces", "notification,terminal"],
      environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"])
    #expect(
      nowhere.status == 78
        && nowhere.errors.hasPrefix(
          "vault-agent: there is no way to ask a person: notification: there is no session bus (No such file"),
      "\(nowhere)")
  }

  @Test("the terminal of another session is nobody's, so pinentry does not draw on it")
  func session() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let script = sandbox.root + "/pinentry"
    let log = sandbox.root + "/pinentry-options"
    try Executable.write(
      """
      #!/bin/sh
      echo "tty: $GPG_TTY" >>'\(log)'
      echo OK
      while read -r line; do
        echo "$line" >>'\(log)'
        case $line in GETPIN*) printf 'D \(password)\\nOK\\n' ;; *) echo OK ;; esac
      done

      """, to: script)
    let terminal = try Terminal(
      sandbox, ["-c", "setsid -w '\(Sandbox.path(of: "vault-agent"))' --faces pinentry --pinentry '\(script)'"],
      program: "/bin/sh", environment: ["GPG_TTY": "/dev/pts/0"])
    try wait(for: "the agent") { try sandbox.must(["status", "--json"]).contains(#""faces":["pinentry"]"#) }
    #expect(try Begun(sandbox, ["get", "bank"]).outcome().output == "1234", "\(terminal.screen)")
    let options = try String(contentsOfFile: log, encoding: .utf8)
    #expect(options.contains("GETPIN") && !options.contains("ttyname") && options.hasPrefix("tty: \n"), "\(options)")
  }
}
