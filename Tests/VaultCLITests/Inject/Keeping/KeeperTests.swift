import CLinux
import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("vault inject --watch") struct KeeperTests {
  private static let template = #"""
    {
      "pin": "{{ vault "pin" }}",
      "name": "Homebridge"
    }

    """#

  private func sandbox() throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.startDaemon(config: "idle = off\npam-service = vault-test-none\n")
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    try sandbox.must(["set", "pin"], stdin: "031-45-154")
    try sandbox.write(Self.template, to: "t")
    return sandbox
  }

  private func begin(_ sandbox: Sandbox, _ arguments: String...) throws -> Terminal {
    try Terminal(
      sandbox, ["inject", "-i", sandbox.home + "/t", "-o", sandbox.home + "/out", "--watch"] + arguments)
  }

  private func read(_ sandbox: Sandbox, _ name: String = "out") throws -> String {
    try String(contentsOfFile: sandbox.home + "/" + name, encoding: .utf8)
  }

  /// Replaces a file by renaming, as a careful program does.
  private func replace(_ sandbox: Sandbox, _ name: String, with text: String) throws {
    try sandbox.write(text, to: name + ".new")
    #expect(unsafe rename(sandbox.home + "/\(name).new", sandbox.home + "/" + name) == 0)
  }

  private func end(_ terminal: Terminal) throws {
    terminal.signal(SIGTERM)
    #expect(try terminal.wait() == 143)
  }

  @Test("a run for an item is no receipt for another item that took its name meanwhile") func replaced() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    // The first run succeeds, and no later one does.
    let go = sandbox.home + "/go"
    let terminal = try begin(
      sandbox, "--exec", "echo begun; test -e \(go) && exit 3; until [ -e \(go) ]; do :; done; echo done")
    try terminal.expect("begun")
    try sandbox.must(["mv", "pin", "old"])
    try sandbox.must(["set", "pin"], stdin: "111-11-111")
    try sandbox.write("", to: "go")
    try terminal.expect("exit code 3")
    try wait(for: "the receipt") { try sandbox.must(["receipts", "pin"]).contains("failed: “exit code 3”") }
    #expect(try !sandbox.must(["receipts", "pin"]).contains("has version"))
    try end(terminal)
  }

  @Test("a changed item is written, the command runs, and a receipt says so") func item() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let terminal = try begin(sandbox, "--exec", "sed -n 's/.*pin\": /has /p' \(sandbox.home)/out")
    try terminal.expect("has \"031-45-154\"")
    try sandbox.must(["set", "pin", "--update"], stdin: "111-11-111")
    try terminal.expect("has \"111-11-111\"")
    try wait(for: "the receipt") { try sandbox.must(["receipts", "pin"]).contains("\t2\thas it") }
    // Another item of the same value takes the name: the file stays, and has that item's version.
    try sandbox.must(["mv", "pin", "old"])
    try sandbox.must(["set", "pin"], stdin: "111-11-111")
    try wait(for: "the other item's receipt") { try sandbox.must(["receipts", "pin"]).contains("\t1\thas it") }
    // An item outside the template causes no writing.
    try sandbox.must(["set", "other"], stdin: "x")
    try sandbox.must(["set", "pin", "--update"], stdin: "222-22-222")
    let shown = try terminal.expect("has \"222-22-222\"")
    #expect(shown.components(separatedBy: "wrote").count == 2, "\(shown)")
    try end(terminal)
  }

  @Test("a changed template is written, and one with an error leaves the file as it is") func template() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let terminal = try begin(sandbox)
    try terminal.expect("wrote")
    let first = try read(sandbox)
    try replace(sandbox, "t", with: "{{ vault \"pin\" | xml }}")
    try terminal.expect("there is no function `xml`")
    #expect(try read(sandbox) == first)
    try sandbox.must(["set", "key"], stdin: "k")
    try replace(sandbox, "t", with: "{{ vault \"key\" }}!")
    try terminal.expect("wrote")
    #expect(try read(sandbox) == "k!")
    // The keeper now watches the item that the new template names.
    try sandbox.must(["set", "key", "--update"], stdin: "l")
    try terminal.expect("wrote")
    #expect(try read(sandbox) == "l!")
    try end(terminal)
  }

  @Test("while the vault is locked the file stays, and it is written after the unlock") func locked() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    try sandbox.must(["lock"])
    let end = sandbox.home + "/end"
    try #require(unsafe mkfifo(end, 0o600) == 0)
    let begun = Begun(
      sandbox,
      [
        "-c",
        "cd; vault inject -i t -o out --watch --exec 'touch ran' & pid=$!; read x <\(end); kill $pid; wait $pid",
      ], program: "/bin/sh")
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    try wait(for: "the command") { unsafe access(sandbox.home + "/ran", F_OK) == 0 }
    try sandbox.must(["lock"])
    try replace(sandbox, "t", with: "x {{ vault \"pin\" }}")
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    try wait(for: "the new text") { try read(sandbox) == "x 031-45-154" }
    try Data("\n".utf8).write(to: URL(fileURLWithPath: end))
    let outcome = try begun.outcome()
    #expect(outcome.errors.contains("the vault was locked by `vault lock`; out stays as it is"), "\(outcome)")
  }

  @Test("it goes on with the next daemon, and a file that is gone is written again") func restart() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let terminal = try begin(sandbox)
    try terminal.expect("wrote")
    try sandbox.stopDaemon(signal: SIGKILL)
    try sandbox.startDaemon()
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    try sandbox.must(["set", "pin", "--update"], stdin: "111-11-111")
    try wait(for: "the new value") { try read(sandbox).contains("111-11-111") }
    try terminal.expect("wrote")
    #expect(unsafe unlink(sandbox.home + "/out") == 0)
    try terminal.expect("wrote")
    #expect(try read(sandbox).contains("111-11-111"))
    try end(terminal)
  }

  @Test("after a problem it says that the file is right, also if it has not changed") func solved() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let terminal = try begin(sandbox)
    try terminal.expect("wrote")
    try sandbox.must(["rm", "pin"])
    try terminal.expect("out stays as it is for now")
    try sandbox.must(["trash", "restore", "pin"])
    try terminal.expect("out is as it should be again")
    try end(terminal)
  }

  @Test("a file that a program has written back is reported with lines and without values, and stays") func reports()
    throws
  {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let terminal = try begin(sandbox)
    try terminal.expect("wrote")
    let text = "\n{\"name\":\"Homebridge\",\n\"port\":8581,\"pin\":\"031-45-154\"}\n"
    try replace(sandbox, "out", with: text)
    try terminal.expect("another program has written")
    try terminal.expect("pin stands at line 3\r\n")
    try terminal.expect("--adopt adopts such changes into")
    #expect(try read(sandbox) == text)
    #expect(try read(sandbox, "t") == Self.template)
    // The next daemon cannot tell which changes the keeper missed, and no item has changed.
    try sandbox.stopDaemon()
    try sandbox.startDaemon()
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    try replace(sandbox, "out", with: text.replacing("031-45-154", with: "999-99-999"))
    let said = try terminal.expect("pin was changed to another value, line 3\r\n")
    try sandbox.must(["set", "pin", "--update"], stdin: "111-11-111")
    // It is told once, at the first rendering, which may be the one after the unlock.
    let held = "is held, because another program has written it; give --adopt"
    if !said.contains(held) { try terminal.expect(held) }
    #expect(try read(sandbox) == text.replacing("031-45-154", with: "999-99-999"))
    #expect(!terminal.screen.contains("031-45-154") && !terminal.screen.contains("999-99-999"))
    try end(terminal)
  }

  @Test("--adopt takes what is new into the template, with its mode, and nothing that is a value or an action")
  func adopts()
    throws
  {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    unsafe chmod(sandbox.home + "/t", 0o640)
    let terminal = try begin(sandbox, "--adopt")
    try terminal.expect("wrote")
    let text = "{\"name\":\"Homebridge\",\"port\":8581,\"pin\":\"031-45-154\"}\n"
    try replace(sandbox, "out", with: text)
    try terminal.expect("has adopted the text outside the values")
    let adopted = text.replacing("031-45-154", with: #"{{ vault "pin" }}"#)
    #expect(try read(sandbox, "t") == adopted)
    var status = stat()
    #expect(unsafe stat(sandbox.home + "/t", &status) == 0 && status.st_mode & 0o7777 == 0o640)

    for (new, reason) in [
      ("{{ vault \\\"pin\\\" }}", "there is a new {{ at line 1"),
      ("x031-45-154", "also stands at line 1, in the clear"),
      ("MDMxLTQ1LTE1NA==", "also stands at line 1, in the clear"),
    ] {
      try replace(sandbox, "out", with: text.replacing("Homebridge", with: new))
      try terminal.expect("has adopted none of it: ")
      try terminal.expect(reason)
      #expect(try read(sandbox, "t") == adopted)
    }
    // A new value goes into the adopted text, once the file holds that text again.
    try replace(sandbox, "out", with: text)
    try sandbox.must(["set", "pin", "--update"], stdin: "111-11-111")
    try terminal.expect("wrote")
    #expect(try read(sandbox) == text.replacing("031-45-154", with: "111-11-111"))
    try end(terminal)
  }

  @Test("--adopt takes no value that the item had before") func earlier() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let terminal = try begin(sandbox, "--adopt")
    try terminal.expect("wrote")
    try sandbox.must(["set", "pin", "--update"], stdin: "111-11-111")
    try terminal.expect("wrote")
    try replace(sandbox, "out", with: read(sandbox).replacing("Homebridge", with: "x031-45-154"))
    try terminal.expect("has adopted none of it: an earlier value of `pin` stands at line 3, in the clear")
    #expect(try read(sandbox, "t") == Self.template)
    try end(terminal)
  }

  @Test("a template that is gone is said, and the next one is taken") func templateGone() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let terminal = try begin(sandbox)
    try terminal.expect("wrote")
    let first = try read(sandbox)
    #expect(unsafe unlink(sandbox.home + "/t") == 0)
    try terminal.expect("cannot open \(sandbox.home)/t: No such file or directory; \(sandbox.home)/out stays as it is")
    #expect(try read(sandbox) == first)
    try replace(sandbox, "t", with: "x {{ vault \"pin\" }}")
    try terminal.expect("wrote")
    #expect(try read(sandbox) == "x 031-45-154")
    // The keeper also takes the same template when it comes back.
    #expect(unsafe rename(sandbox.home + "/t", sandbox.home + "/t.old") == 0)
    try terminal.expect("cannot open")
    #expect(unsafe rename(sandbox.home + "/t.old", sandbox.home + "/t") == 0)
    try sandbox.must(["set", "pin", "--update"], stdin: "1")
    try terminal.expect("wrote")
    #expect(try read(sandbox) == "x 1")
    try end(terminal)
  }

  @Test(
    "a reader that has stopped reading keeps it neither from its work nor from its end",
    arguments: ["--json >&3", "2>&3"])
  func deafReader(way: String) throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let name = String(repeating: "long", count: 50)
    try sandbox.must(["set", name], stdin: "031-45-154")
    try sandbox.write((0..<500).map { "k\($0)={{ vault \"\(name)\" }}\n" }.joined(), to: "t")
    try #require(unsafe mkfifo(sandbox.home + "/pipe", 0o600) == 0)
    let begun = Begun(
      sandbox,
      ["-c", "cd; exec 3<>pipe; echo $$ >number; exec vault inject -i t -o out --watch --overwrite \(way)"],
      program: "/bin/sh")
    try wait(for: "the file") { (try? read(sandbox).hasPrefix("k0=031")) ?? false }
    // The report of that change is longer than the pipe holds.
    try replace(sandbox, "out", with: read(sandbox) + "# more\n")
    try sandbox.must(["set", name, "--update"], stdin: "new")
    try wait(for: "the next value") { try read(sandbox).hasPrefix("k0=new") }
    let pid = try #require(Int32(try read(sandbox, "number").trimmingCharacters(in: .whitespacesAndNewlines)))
    kill(pid, SIGTERM)
    #expect(try begun.outcome().status == 143)
  }

  @Test("with --json each event is a line") func json() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let terminal = try begin(sandbox, "--json", "--adopt")
    try terminal.expect(#""event":"written""#)
    try terminal.expect(#""items":[{"name":"pin","version":1}]}"#)
    try replace(sandbox, "out", with: "{\"pin\":\"031-45-154\"}")
    try terminal.expect(#""values":[{"name":"pin","state":"stands","lines":[1]}],"adopted":true}"#)
    try replace(sandbox, "out", with: "{}")
    try terminal.expect(#""state":"gone","lines":[]}],"adopted":false,"obstacle":"not every value"#)
    try end(terminal)
  }

  @Test("a mode that another program sets is told and set right, and nobody who goes on is fought") func mode() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    func mode() -> mode_t {
      var status = stat()
      return unsafe stat(sandbox.home + "/out", &status) == 0 ? status.st_mode & 0o7777 : 0
    }
    let terminal = try begin(sandbox, "--mode", "0640")
    try terminal.expect("wrote")
    // From here on the keeper hears of every change, so it writes for no other reason.
    try sandbox.must(["set", "pin", "--update"], stdin: "222-22-222")
    try terminal.expect("wrote")
    for _ in 1...3 {
      #expect(unsafe chmod(sandbox.home + "/out", 0o666) == 0)
      try terminal.expect("the mode 0666; it has 0640 again")
      #expect(mode() == 0o640)
    }
    #expect(unsafe chmod(sandbox.home + "/out", 0o666) == 0)
    try terminal.expect("the mode 0666; that mode stays until it is written again")
    try sandbox.must(["set", "pin", "--update"], stdin: "111-11-111")
    try terminal.expect("wrote")
    #expect(mode() == 0o640)
    try end(terminal)
  }

  @Test("a second keeper of a file is refused, and the first one's end lets another one begin") func second() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    var first = try begin(sandbox)
    try first.expect("wrote")
    try sandbox.must(["set", "pin", "--update"], stdin: "111-11-111")
    try first.expect("wrote")
    let second = try begin(sandbox)
    try second.expect("is already kept by another process; end that process first")
    #expect(try second.wait() == 73)
    first.signal(SIGKILL)
    _ = try first.wait()
    first = try begin(sandbox)
    try sandbox.must(["set", "pin", "--update"], stdin: "222-22-222")
    try first.expect("wrote")
    try end(first)
    #expect(try !FileManager.default.contentsOfDirectory(atPath: sandbox.home).contains("out.displaced"))
  }

  @Test("a problem while no file is there does not say that one stays") func noFile() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let terminal = try begin(sandbox)
    try terminal.expect("wrote")
    // The keeper finds neither file when it looks.
    terminal.signal(SIGSTOP)
    let pid = terminal.pid
    try wait(for: "the stop") {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task").allSatisfy { task in
        try String(contentsOfFile: "/proc/\(pid)/task/\(task)/stat", encoding: .utf8).contains(") T ")
      }
    }
    #expect(unsafe unlink(sandbox.home + "/t") == 0 && unlink(sandbox.home + "/out") == 0)
    terminal.signal(SIGCONT)
    try terminal.expect("out is not written for now")
    try end(terminal)
  }

  @Test("what waiting does not help ends it at the start") func start() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    try sandbox.write("{{ vault \"nothing\" }}", to: "t")
    let terminal = try begin(sandbox)
    try terminal.expect("no item `nothing`")
    #expect(try terminal.wait() == 66)
  }

  @Test("a command that fails runs again, and SIGTERM ends it") func retries() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let terminal = try begin(sandbox, "--exec", "test -e \(sandbox.home)/mark && echo ran && sleep 71717")
    try terminal.expect("exit code 1; it runs again in 1 s")
    try sandbox.write("", to: "mark")
    try terminal.expect("ran")
    while sandbox.processes(mentioning: "71717").isEmpty { sched_yield() }
    try end(terminal)
    for _ in 0..<1000 where !sandbox.processes(mentioning: "71717").isEmpty { sched_yield() }
    #expect(sandbox.processes(mentioning: "71717").isEmpty)
  }
}
