import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultCLI

@Suite("vault run") struct RunTests {
  @Test(
    "the usual command line is read as the parser would read it",
    arguments: [
      ["run", "-e", "A=b", "--", "true"], ["run", "-e", "A=b#c", "-e", "B=d", "--system", "--", "x", "--", "-y"],
      ["run", "--env-file", "f", "--socket", "/s", "--", "x", "--json"],
    ])
  func fast(arguments: [String]) throws {
    let command = try #require(try Arguments.parse(arguments) as? RunCommand)
    let request = try #require(RunRequest(fast: arguments[...]))
    #expect(request.command == command.command && request.files == command.variables.envFile)
    #expect(request.assignments == command.variables.assignments && request.socket == command.daemon.socket)
    #expect(request.system == command.daemon.system && !request.masks && request.fetch == command.fetch.fetch)
  }

  @Test(
    "every other command line is left to the parser",
    arguments: [
      [], ["run"], ["run", "--", "true"], ["run", "-e", "A=b"], ["run", "-e", "A=b", "--"],
      ["run", "-e", "A", "--", "x"],
      ["run", "-e", "1=b", "--", "x"], ["run", "-e", "A=/", "--", "x"], ["run", "--mask", "-e", "A=b", "--", "x"],
      ["run", "-e", "A=b", "x"], ["run", "-e", "--", "x"],
      ["run", "--system", "--socket", "/s", "-e", "A=b", "--", "x"],
      ["run", "-e", "A=b", "--wait", "1s", "--", "x"], ["run", "-eA=b", "--", "x"], ["run", "--help"],
      ["env", "-e", "A=b"],
    ])
  func slow(arguments: [String]) { #expect(RunRequest(fast: arguments[...]) == nil) }

  @Test("the program has the descriptors, limits, signals and directory that vault was started with") func inherits()
    throws
  {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    // Ignored signals stay ignored, and the limit on core files is the one from outside.
    let look =
      "ls /proc/self/fd | tr '\\n' ' '; grep -E 'Sig(Blk|Ign)' /proc/self/status; ulimit -S -c; ulimit -S -n; pwd; "
      + "umask"
    let line = """
      cd /; exec 7</dev/null; trap '' HUP USR1; ulimit -S -c 0; ulimit -S -n 300; umask 027
      bash -c "$0" >"$HOME/before"; vault run -e A=web -- bash -c "$0" >"$HOME/after"; cat "$HOME/before"
      cmp "$HOME/before" "$HOME/after"
      """
    let outcome = try sandbox.run(["-c", line, look], program: "/bin/bash")
    #expect(outcome.status == 0 && outcome.output.contains("201\n"), "\(outcome)")
  }

  @Test("SIGXFSZ ends the program as if vault had not been there") func fileSize() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let line = "ulimit -f 1; exec vault run -e A=web -- head -c 4096 /dev/zero >\"$HOME/large\""
    #expect(try sandbox.run("-c", line, program: "/bin/sh").status == 128 + SIGXFSZ)
  }

  @Test("a daemon that had to be started is no child of the program") func daemon() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let server = try #require(sandbox.processes(mentioning: "--ready-fd").first)
    kill(server, SIGKILL)
    try wait(for: "the end of the daemon") { sandbox.processes(mentioning: "--ready-fd").isEmpty }
    let terminal = try Terminal(
      sandbox, ["run", "-e", "A=web", "--", "sh", "-c", "echo has $A; cat /proc/$$/task/$$/children; echo end; read x"])
    try terminal.expect("Vault password (asked by: vault run sh): ")
    terminal.type(password)
    try terminal.expect("has hunter2\r\n")
    let children = try terminal.expect("end")
    // The only child was cat(1) itself, which has ended.
    #expect(children.split(whereSeparator: \.isWhitespace).count <= 2, "\(children)")
    let now = try #require(sandbox.processes(mentioning: "--ready-fd").first)
    #expect(!children.contains("\(now)"))
    terminal.type("")
    #expect(try terminal.wait() == 0)
  }

  @Test("on a terminal a locked vault asks for the unlock once, and the program starts") func unlocks() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["run", "-e", "A=web", "-e", "B=web#kind", "--", "sh", "-c", "echo $A $B"])
    try terminal.expect("Vault password (asked by: vault run sh): ")
    terminal.type(password)
    try terminal.expect("hunter2 password")
    #expect(try terminal.wait() == 0)
    #expect(terminal.screen.components(separatedBy: "Vault password").count == 2)
  }

  @Test("the value is in no argument of any process, and in the environment of the program alone") func arguments()
    throws
  {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    for mask in [[], ["--mask"]] {
      let terminal = try Terminal(
        sandbox, ["run"] + mask + ["-e", "A=web", "--", "sh", "-c", "echo begun $$ $PPID.; read x; echo done"])
      let begun = try terminal.expect(".")
      let numbers = begun.split(whereSeparator: { !$0.isNumber }).compactMap { Int32($0) }
      try #require(numbers.count == 2, "\(begun)")
      // Without `--mask`, the process of `vault` itself becomes the program.
      #expect((numbers[0] == terminal.pid) == mask.isEmpty && (numbers[1] == terminal.pid) == !mask.isEmpty)
      for pid in numbers {
        let line = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") ?? Data()
        #expect(line.range(of: Data("hunter2".utf8)) == nil)
      }
      let own = FileManager.default.contents(atPath: "/proc/\(numbers[0])/environ") ?? Data()
      #expect(own.range(of: Data("A=hunter2\0".utf8)) != nil)
      if !mask.isEmpty {
        let parent = FileManager.default.contents(atPath: "/proc/\(terminal.pid)/environ") ?? Data()
        #expect(parent.range(of: Data("hunter2".utf8)) == nil)
      }
      terminal.type("")
      try terminal.expect("done")
      #expect(try terminal.wait() == 0)
    }
  }

  @Test("all items of one command are fetched over one connection, each once") func connection() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let reply = #"{"parameters":{"name":"x","version":1,"value":"v"}}"#
    let daemon = try ScriptedDaemon(sandbox, ["Get": [reply]])
    defer { daemon.close() }
    let variables = (0..<100).flatMap { ["-e", "A\($0)=x/\($0)", "-e", "B\($0)=x/\($0)"] }
    let trace = sandbox.home + "/trace"
    let outcome = try sandbox.run(
      [
        "-f", "-e", "trace=connect,sendto,execve", "-o", trace, Sandbox.path(of: "vault"), "run", "--socket",
        daemon.socket,
      ]
        + variables + ["--", "printenv", "B99"], program: "/usr/bin/strace")
    #expect(outcome.output == "v\n", "\(outcome)")
    let calls = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
    #expect(calls.filter { $0.contains("connect(") }.count == 1)
    #expect(calls.filter { $0.contains("sendto(") }.count == 100)
  }

  // MARK: Masking

  @Test(
    "what another process sends is passed on, and the program's end is vault's", arguments: [SIGTERM, SIGHUP, SIGUSR1])
  func signals(number: Int32) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let traps = try Terminal(
      sandbox,
      [
        "run", "--mask", "-e", "A=web", "--", "sh", "-c",
        "trap 'echo caught $A; exit 9' \(number); echo ready; while :; do read x; done",
      ])
    try traps.expect("ready")
    traps.signal(number)
    try traps.expect("caught <concealed>")
    #expect(try traps.wait() == 9)
    let dies = try Terminal(sandbox, ["run", "--mask", "-e", "A=web", "--", "sh", "-c", "echo ready; read x"])
    try dies.expect("ready")
    dies.signal(number)
    #expect(try dies.wait() == 128 + number)
  }

  @Test("control-C reaches the program once") func interrupt() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(
      sandbox,
      [
        "run", "--mask", "-e", "A=web", "--", "python3", "-uc",
        """
        import signal, sys
        count = 0
        def caught(number, frame):
          global count
          count += 1
        signal.signal(signal.SIGINT, caught)
        print("ready")
        sys.stdin.readline()
        print("caught", count)
        """,
      ])
    try terminal.expect("ready")
    terminal.control("c")
    terminal.type("x")
    try terminal.expect("caught 1")
    #expect(try terminal.wait() == 0)
  }

  @Test("a value that is written byte by byte is masked, and so is one of a single byte") func slowly() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "one", "--kind", "note"], stdin: "~")
    let script = "import os, sys\nfor c in b'<hunter2~hunter>': os.write(1, bytes([c]))"
    let outcome = try sandbox.run(["run", "--mask", "-e", "A=web", "-e", "B=one", "--", "python3", "-c", script])
    #expect(outcome.output == "<<concealed>hunter>", "\(outcome)")
  }

  @Test(
    "a value is masked however its last line ends, where it is stored and where it is printed",
    arguments: ["", "\n", "\r\n", "\r", "\n\n", "\n\r\n"])
  func lastLineEnds(stored: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let (values, ends) = (["hunter2", "first\nsecond"], ["", "\n", "\r\n", "\r", "\n\n", " "])
    for (name, value) in zip(["one", "two"], values) {
      try sandbox.must(["set", name, "--exact", "--kind", "note"], stdin: value + stored)
      #expect(try sandbox.must(["get", name]) == value + stored)
    }
    // The program prints each value with each end and as it is in the variable, and a bar behind each.
    let text = values.flatMap { value in ends.map { value + $0 + "|" } }.joined(separator: "")
    let script = #"printf %s "$0"; printf '%s|' "$A" "$B"; printf %s "$0" >&2"#
    let outcome = try sandbox.run(
      ["run", "--mask", "-e", "A=one", "-e", "B=two", "--", "sh", "-c", script, text])
    let count = values.count * ends.count
    for (stream, printed) in [(outcome.output, count + values.count), (outcome.errors, count)] {
      let pieces = stream.split(separator: "|")
      #expect(pieces.count == printed, "\(outcome)")
      for piece in pieces {
        let rest = piece.dropFirst("<concealed>".count)
        #expect(piece.hasPrefix("<concealed>") && rest.allSatisfy(\.isWhitespace), "\(outcome)")
      }
    }
  }

  @Test("a value that is line breaks alone is masked where all of them stand") func lineBreaks() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "breaks", "--exact", "--kind", "note"], stdin: "\n\n")
    let outcome = try sandbox.run("run", "--mask", "-e", "A=breaks", "--", "printf", "a\n\nb\nc")
    #expect(outcome.output == "a<concealed>b\nc", "\(outcome)")
  }

  @Test("what a program writes that ends by a signal is passed on to its last byte") func lastBytes() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let outcome = try sandbox.run("run", "--mask", "-e", "A=web", "--", "sh", "-c", "printf 'x hunter'; kill -KILL $$")
    #expect(outcome.status == 128 + SIGKILL && outcome.output == "x hunter", "\(outcome)")
  }

  @Test("a reader that goes ends the program's writing, as without vault") func closedOutput() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let line = "{ vault run --mask -e A=web -- yes; echo $? >\"$HOME/status\"; } | head -n 1; cat \"$HOME/status\""
    #expect(try sandbox.run("-c", line, program: "/bin/bash").output == "y\n141\n")
  }

  @Test("streams that are closed are closed for the program too", arguments: [">&-", "2>&-", ">&- 2>&-", "<&- >&-"])
  func closedStreams(redirection: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let look = "for n in 0 1 2; do [ -e /proc/$$/fd/$n ] && printf $n >&9; done; echo >&9"
    for start in ["vault run -e A=web -- ", ""] {
      let line = "exec 9>>\"$HOME/open\"; \(start)sh -c '\(look)' \(redirection)"
      _ = try sandbox.run("-c", line, program: "/bin/bash")
    }
    let open = try String(contentsOfFile: sandbox.home + "/open", encoding: .utf8).split(separator: "\n")
    #expect(open.count == 2 && open.first == open.last, "\(open)")
    // With a masker in between, nobody takes the program's output; `vault` reports that once the program has ended.
    let masked = "vault run --mask -e A=web -- sh -c 'echo x; echo y >&2; exit 3' \(redirection)"
    let outcome = try sandbox.run("-c", masked, program: "/bin/bash")
    #expect(outcome.status == 74, "\(outcome)")
    if !redirection.contains("2>") { #expect(outcome.errors.contains("cannot write the output"), "\(outcome)") }
  }

  @Test("a watch whose output is closed ends") func closedWatch() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let line = """
      vault watch >&- & watch=$!
      while kill -0 $watch 2>/dev/null; do vault set new --generate --update; done
      wait $watch; exit $?
      """
    let outcome = try sandbox.run("-c", line, program: "/bin/bash")
    #expect(outcome.status == 74, "\(outcome)")
  }

  @Test(
    "every signal that can be caught reaches the program",
    arguments: [
      SIGALRM, SIGVTALRM, SIGPROF, SIGPOLL, SIGPWR, SIGXCPU, SIGURG, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU, 34, 64,
    ])
  func rareSignals(number: Int32) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(
      sandbox,
      [
        "run", "--mask", "-e", "A=web", "--", "bash", "-c",
        "trap 'echo caught; exit 9' \(number); echo ready; while :; do read -t 0.1 x; done",
      ])
    try terminal.expect("ready")
    terminal.signal(number)
    try terminal.expect("caught")
    #expect(try terminal.wait() == 9)
  }

  /// Returns the letter of a process's state; nil if there is no such process.
  private func state(_ pid: Int32) -> Character? {
    let line = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
    return line?.split(separator: ")").last?.first { $0 != " " }
  }

  /// Starts a program under `vault run --mask` that prints its pid, and returns that pid.
  private func begin(_ sandbox: Sandbox, _ script: String) throws -> (Terminal, Int32) {
    let terminal = try Terminal(
      sandbox, ["run", "--mask", "-e", "A=web", "--", "sh", "-c", "echo begun $$.; " + script])
    let begun = try terminal.expect(".")
    return (terminal, try #require(begun.split(whereSeparator: { !$0.isNumber }).compactMap { Int32($0) }.last))
  }

  @Test("a signal that has ended the program already ends vault as it did the program") func group() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let (terminal, pid) = try begin(sandbox, "exec sleep 71719")
    terminal.signal(SIGSTOP)
    try wait(for: "the stop") { state(terminal.pid) == "T" }
    // The signal stays pending for `vault` until the program has ended by it.
    #expect(kill(-terminal.pid, SIGTERM) == 0)
    try wait(for: "the program's end") { state(pid) == "Z" }
    terminal.signal(SIGCONT)
    #expect(try terminal.wait() == 128 + SIGTERM)
  }

  @Test("once the program has ended, a signal ends vault, whoever still holds the output") func heldOutput() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let (terminal, pid) = try begin(sandbox, "sleep 71720 & exit 3")
    try wait(for: "the program's end") { state(pid) == nil }
    // A signal that ends nothing by default has no effect.
    terminal.signal(SIGURG)
    terminal.signal(SIGTERM)
    #expect(try terminal.wait() == 128 + SIGTERM)
    for left in sandbox.processes(mentioning: "71720") { kill(left, SIGKILL) }
  }

  @Test("a terminal that takes nothing keeps no signal from the program, nor from vault") func stoppedTerminal() throws
  {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let (terminal, pid) = try begin(sandbox, "exec yes")
    terminal.stopOutput()
    terminal.signal(SIGTERM)
    try wait(for: "the program's end") { state(pid) == nil }
    terminal.signal(SIGINT)
    #expect(try [128 + SIGTERM, 128 + SIGINT].contains(terminal.wait()))
  }

  @Test("control-Z stops both, and both go on") func suspend() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let line = """
      set -m; vault run --mask -e A=web -- sh -c 'echo ready; read x; echo "got $x"'; echo "stopped $?."; fg; echo \
      "end $?."
      """
    let terminal = try Terminal(sandbox, ["-c", line], program: "/bin/bash")
    try terminal.expect("ready")
    terminal.control("z")
    try terminal.expect("stopped \(128 + SIGTSTP).")
    terminal.type("more")
    try terminal.expect("got more")
    try terminal.expect("end 0.")
    #expect(try terminal.wait() == 0)
  }

  @Test("output that cannot be written is an error once the program has ended, which is not left alone")
  func fullOutput()
    throws
  {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let fifo = sandbox.home + "/fifo"
    try #require(unsafe mkfifo(fifo, 0o600) == 0)
    let program = """
      trap '' PIPE; while echo x; do :; done 2>/dev/null
      read line <"$HOME/fifo"; grep PPid /proc/$$/status >"$HOME/parent"; exit 3
      """
    let begun = Begun(
      sandbox,
      [
        "-c", "sh -c 'echo $$ >\"$HOME/vault\"; exec vault run --mask -e A=web -- sh -c \"$0\"' \"$0\" >/dev/full",
        program,
      ],
      program: "/bin/sh")
    try Data("\n".utf8).write(to: URL(fileURLWithPath: fifo))
    let outcome = try begun.outcome()
    #expect(outcome.status == 74 && outcome.errors.contains("No space left on device"), "\(outcome)")
    let vault = try String(contentsOfFile: sandbox.home + "/vault", encoding: .utf8)
    #expect(try String(contentsOfFile: sandbox.home + "/parent", encoding: .utf8) == "PPid:\t" + vault)
  }
}
