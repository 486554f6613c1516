import Foundation
import Glibc
import Testing
import VaultBytes
import VaultModel
import VaultTesting
import VaultWire

@testable import VaultCLI

@Suite("Editing a value") struct EditTests {
  /// Makes a sandbox with an unlocked vault, and an editor that is this sh(1) script.
  private func sandbox(_ script: String) throws -> Sandbox {
    let sandbox = try Sandbox.withVault(unlocked: true)
    try sandbox.write(script, to: "editor")
    return sandbox
  }

  private func editor(_ sandbox: Sandbox) -> [String: String?] {
    ["VISUAL": nil, "EDITOR": "sh \(sandbox.home)/editor"]
  }

  /// Reads a file in the sandbox's home.
  private func text(_ name: String, _ sandbox: Sandbox) throws -> String {
    try String(contentsOfFile: "\(sandbox.home)/\(name)", encoding: .utf8)
  }

  /// Returns true if the edited file and its folder are gone. The editor's script wrote down the file's place.
  private func isGone(_ sandbox: Sandbox) throws -> Bool {
    let place = try text("place", sandbox)
    try #require(place.hasPrefix("/"))
    return !FileManager.default.fileExists(atPath: (place as NSString).deletingLastPathComponent)
  }

  private func writePlace(_ sandbox: Sandbox) -> String { "printf %s \"$1\" >\(sandbox.home)/place\n" }

  @Test("the file is its owner's alone, in memory, in a folder of its own, and gone with all beside it") func place()
    throws
  {
    let sandbox = try sandbox("")
    defer { sandbox.close() }
    let script = """
      \(writePlace(sandbox))folder=$(dirname "$1")
      { stat -c %a "$1" "$folder"; stat -f -c %T "$folder"; ls "$folder"; cat "$1"; echo; pwd; ulimit -c; } \
      >\(sandbox.home)/facts
      cp "$1" "$1~"; mkdir "$folder/deeper"; cp "$1" "$folder/deeper/.swap"; mkfifo "$folder/pipe"
      ln -s \(sandbox.home)/mine "$folder/link"; ln -s \(sandbox.home)/theirs "$folder/deeper/folder"
      sed -i s/2/3/ "$1"
      """
    try sandbox.write(script, to: "editor")
    try sandbox.write("mine", to: "mine")
    try #require(unsafe mkdir(sandbox.home + "/theirs", 0o700) == 0)
    try sandbox.write("theirs", to: "theirs/file")
    let run = "cd \(sandbox.home) && ulimit -S -c 1; \(Sandbox.path(of: "vault")) edit web"
    let outcome = try sandbox.run(["-c", run], program: "/bin/sh", environment: editor(sandbox))
    #expect(outcome.status == 0, "\(outcome)")
    #expect(try text("facts", sandbox) == "600\n700\ntmpfs\nvalue.txt\nhunter2\n\(sandbox.home)\n0\n")
    #expect(try isGone(sandbox))
    #expect(try sandbox.must(["get", "web"]) == "hunter3")
    #expect(try text("mine", sandbox) == "mine" && text("theirs/file", sandbox) == "theirs")
  }

  @Test("a file that was put in its place elsewhere is not read, nor written to") func link() throws {
    let sandbox = try sandbox("ln -sf \"$HOME/mine\" \"$1\"\n")
    defer { sandbox.close() }
    try sandbox.write("mine", to: "mine")
    let outcome = try sandbox.run(["edit", "web"], environment: editor(sandbox))
    #expect(outcome.status == 74 && outcome.errors.contains("has replaced the file that it was given"), "\(outcome)")
    #expect(try sandbox.must(["get", "web"]) == "hunter2")
    #expect(try text("mine", sandbox) == "mine")
  }

  @Test("what is no file any more is not taken for an empty value") func special() throws {
    let sandbox = try sandbox("rm \"$1\"; mkfifo \"$1\"\n")
    defer { sandbox.close() }
    let outcome = try sandbox.run(["edit", "web"], environment: editor(sandbox))
    #expect(outcome.status == 74 && outcome.errors.contains("has replaced the file that it was given"), "\(outcome)")
    #expect(try sandbox.must(["get", "web"]) == "hunter2")
  }

  @Test("an editor that removes the file is told of, and nothing is stored") func removed() throws {
    let sandbox = try sandbox("rm \"$1\"\n")
    defer { sandbox.close() }
    let outcome = try sandbox.run(["edit", "web"], environment: editor(sandbox))
    #expect(outcome.status == 74 && outcome.errors.contains("the editor has removed the file"), "\(outcome)")
    #expect(try sandbox.must(["get", "web"]) == "hunter2")
  }

  @Test("what is too large is edited again as it was left") func large() throws {
    let script =
      "if grep -q y \"$1\"; then echo less >\"$1\"; else head -c 1048577 /dev/zero | tr '\\0' y >\"$1\"; fi\n"
    let sandbox = try sandbox(script)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["edit", "web"], environment: editor(sandbox))
    try terminal.expect("is longer than 1 MiB")
    try terminal.expect("Edit it again (e), or give up (n)? ")
    terminal.type("e")
    #expect(try terminal.wait() == 0)
    #expect(try sandbox.must(["get", "web"]) == "less")
  }

  @Test("the memory of what is removed is overwritten, so that who still has the file open reads nothing of it")
  func overwritten() throws {
    let sandbox = try sandbox("")
    defer { sandbox.close() }
    // After the editor has ended, a background process keeps the file open until the folder is gone.
    let script = """
      (exec 3<"$1"; echo open >\(sandbox.home)/held; while [ -e "$1" ]; do :; done; cat <&3 >\(sandbox.home)/seen.new
      mv \(sandbox.home)/seen.new \(sandbox.home)/seen) </dev/null >/dev/null 2>&1 &
      while ! [ -e \(sandbox.home)/held ]; do :; done
      """
    try sandbox.write(script, to: "editor")
    let outcome = try sandbox.run(["edit", "web"], environment: editor(sandbox))
    #expect(outcome.status == 0, "\(outcome)")
    while !FileManager.default.fileExists(atPath: sandbox.home + "/seen") {}
    #expect(try text("seen", sandbox) == String(repeating: "\0", count: 7))
  }

  @Test("nothing that an editor leaves beside the file stays for its name or its mode") func left() throws {
    let sandbox = try sandbox("")
    defer { sandbox.close() }
    let script = """
      \(writePlace(sandbox))cd "$(dirname "$1")"
      cp value.txt "$(printf 'caf\\351~')"; mkdir locked deeper; cp value.txt locked; cp value.txt deeper
      chmod 0 locked; chmod 0500 deeper .
      """
    try sandbox.write(script, to: "editor")
    // The program runs without the capabilities that let root ignore file modes.
    let caps = geteuid() == 0 ? ["/usr/bin/setpriv", "--bounding-set", "-dac_override,-dac_read_search"] : []
    let command = caps + [Sandbox.path(of: "vault"), "edit", "web"]
    let outcome = try sandbox.run(Array(command.dropFirst()), program: command[0], environment: editor(sandbox))
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
    #expect(try isGone(sandbox))
  }

  @Test("of a folder that cannot be removed is told", .enabled(if: Root.isAtHand, "mounts something there"))
  func stays() throws {
    let sandbox = try sandbox("")
    defer { sandbox.close() }
    let script = """
      \(writePlace(sandbox))folder=$(dirname "$1"); mkdir "$folder/mount"; mount -t tmpfs none "$folder/mount"
      """
    try sandbox.write(script, to: "editor")
    let outcome = try sandbox.run(["edit", "web"], environment: editor(sandbox))
    let folder = (try text("place", sandbox) as NSString).deletingLastPathComponent
    #expect(outcome.status == 0, "\(outcome)")
    #expect(
      outcome.errors == "vault: cannot remove \(folder): Directory not empty; remove it by hand\n", "\(outcome)")
    _ = try sandbox.run(folder + "/mount", program: "/usr/bin/umount")
    try FileManager.default.removeItem(atPath: folder)
  }

  @Test("nothing but the folder itself is emptied, wherever an editor has moved it") func moved() throws {
    let sandbox = try sandbox("")
    defer { sandbox.close() }
    try sandbox.write("mine", to: "victim")
    let script = """
      \(writePlace(sandbox))folder=$(dirname "$1"); mkdir \(sandbox.home)/there; cp \(sandbox.home)/victim \
      \(sandbox.home)/there
      ln \(sandbox.home)/there/victim "$folder/link" 2>/dev/null
      mv "$folder" "$folder.moved"; ln -s \(sandbox.home)/there "$folder"
      """
    try sandbox.write(script, to: "editor")
    _ = try sandbox.run(["edit", "web"], environment: editor(sandbox))
    #expect(try text("there/victim", sandbox) == "mine")
    let folder = (try text("place", sandbox) as NSString).deletingLastPathComponent
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder + ".moved").isEmpty)
    try FileManager.default.removeItem(atPath: folder)
    try FileManager.default.removeItem(atPath: folder + ".moved")
    // An empty folder that now stands in the folder's place belongs to another program, too.
    let other = writePlace(sandbox) + "folder=$(dirname \"$1\"); mv \"$folder\" \"$folder.moved\"; mkdir \"$folder\"\n"
    try sandbox.write(other, to: "editor")
    _ = try sandbox.run(["edit", "web"], environment: editor(sandbox))
    let second = (try text("place", sandbox) as NSString).deletingLastPathComponent
    #expect(FileManager.default.fileExists(atPath: second))
    for path in [second, second + ".moved"] { try FileManager.default.removeItem(atPath: path) }
  }

  @Test(
    "the file is gone, too, when a signal ends the program, and the editor with it",
    arguments: [SIGTERM, SIGHUP, SIGUSR1, SIGABRT])
  func signals(number: Int32) throws {
    let sandbox = try sandbox("")
    defer { sandbox.close() }
    try sandbox.write(writePlace(sandbox) + "cp \"$1\" \"$1~\"; echo ready $$; exec sleep 1000\n", to: "editor")
    let terminal = try Terminal(sandbox, ["edit", "web"], environment: editor(sandbox))
    try terminal.expect("ready ")
    let pid = try #require(pid_t(try terminal.expect("\r\n").dropLast(1)))
    terminal.signal(number)
    #expect(try terminal.wait() == 128 + number)
    #expect(try isGone(sandbox))
    #expect(kill(pid, 0) != 0)
    #expect(try sandbox.must(["get", "web"]) == "hunter2")
  }

  @Test("a signal reaches an editor that is stopped, too, before its file is gone") func stoppedEditor() throws {
    let sandbox = try sandbox("")
    defer { sandbox.close() }
    let script = """
      \(writePlace(sandbox))trap 'ls "$(dirname "$1")" >\(sandbox.home)/seen; exit' TERM
      echo ready $$; kill -STOP $$; while :; do sleep 0.01; done
      """
    try sandbox.write(script, to: "editor")
    let terminal = try Terminal(sandbox, ["edit", "web"], environment: editor(sandbox))
    try terminal.expect("ready ")
    let pid = try #require(pid_t(try terminal.expect("\r\n").dropLast(1)))
    func isStopped() -> Bool {
      (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8))?.contains(") T ") == true
    }
    while !isStopped() {}
    terminal.signal(SIGTERM)
    #expect(try terminal.wait() == 128 + SIGTERM)
    #expect(try text("seen", sandbox) == "value.txt\n")
    #expect(try isGone(sandbox))
    #expect(kill(pid, 0) != 0)
  }

  @Test("control-C is the editor's, which may go on") func interrupt() throws {
    let sandbox = try sandbox("")
    defer { sandbox.close() }
    let script =
      writePlace(sandbox)
      + "trap 'echo interrupted' INT; echo ready; while ! read word; do :; done; printf %s $word >\"$1\"\n"
    try sandbox.write(script, to: "editor")
    let terminal = try Terminal(sandbox, ["edit", "web"], environment: editor(sandbox))
    try terminal.expect("ready")
    terminal.control("c")
    try terminal.expect("interrupted")
    terminal.type("hunter5")
    try terminal.expect("vault: stored `web`, version 2")
    #expect(try terminal.wait() == 0)
    #expect(try isGone(sandbox))
    #expect(try sandbox.must(["get", "web"]) == "hunter5")
  }

  @Test("a value that its kind does not take is edited again as it was left, or not stored", arguments: [true, false])
  func again(isWanted: Bool) throws {
    let script = "if grep -q x \"$1\"; then sed -i s/x/2/ \"$1\"; else sed -i s/1/x/ \"$1\"; fi\n"
    let sandbox = try sandbox(script)
    defer { sandbox.close() }
    try sandbox.must(["set", "code", "--kind", "pairing-code"], stdin: "031-45-154")
    let terminal = try Terminal(sandbox, ["edit", "code"], environment: editor(sandbox))
    try terminal.expect("vault: not a valid value")
    try terminal.expect("Edit it again (e), or give up (n)? ")
    terminal.type(isWanted ? "e" : "n")
    #expect(try terminal.wait() == (isWanted ? 0 : 65))
    #expect(try sandbox.must(["get", "code"]) == (isWanted ? "032-45-154" : "031-45-154"))
  }

  @Test("what somebody else has stored meanwhile is replaced only when that is wanted", arguments: [true, false])
  func meanwhile(isWanted: Bool) throws {
    let sandbox = try sandbox("")
    defer { sandbox.close() }
    let script = "printf theirs | \(Sandbox.path(of: "vault")) set web --update; printf mine >\"$1\"\n"
    try sandbox.write(script, to: "editor")
    let terminal = try Terminal(sandbox, ["edit", "web"], environment: editor(sandbox))
    try terminal.expect("vault: `web` was changed meanwhile and has version 2; nothing was stored")
    try terminal.expect("Store yours as the next version (y), edit it again (e), or give up (n)? ")
    terminal.type(isWanted ? "y" : "n")
    #expect(try terminal.wait() == (isWanted ? 0 : 73))
    #expect(try sandbox.must(["get", "web"]) == (isWanted ? "mine" : "theirs"))
  }

  @Test("the vault is unlocked first, and a person is told what came of it") func told() throws {
    let sandbox = try sandbox("printf x >>\"$1\"\n")
    defer { sandbox.close() }
    try sandbox.must(["lock"])
    let first = try Terminal(sandbox, ["edit", "web"], environment: editor(sandbox))
    try first.expect("Vault password (asked by: vault edit web): ")
    first.type(password)
    try first.expect("vault: stored `web`, version 2")
    #expect(try first.wait() == 0)
    let second = try Terminal(sandbox, ["edit", "web"], environment: ["VISUAL": "true"])
    try second.expect("vault: unchanged, so nothing was stored")
    #expect(try second.wait() == 0)
    #expect(try sandbox.must(["get", "web"]) == "hunter2x")
  }

  @Test("without a name for one, the editor is the first that is there, and none is an error") func missing() throws {
    let sandbox = try sandbox("")
    defer { sandbox.close() }
    let none = ["VISUAL": nil, "EDITOR": " ", "PATH": sandbox.home + "/bin"] as [String: String?]
    let outcome = try sandbox.run("edit", "web", environment: none)
    #expect(outcome.status == 78)
    #expect(outcome.errors == "vault: there is no editor; name one in $VISUAL or $EDITOR\n", "\(outcome)")
    let made = try sandbox.run(["-c", "mkdir ~/bin && ln -s /bin/true ~/bin/vi"], program: "/bin/sh")
    try #require(made.status == 0)
    let unseen = try sandbox.run("edit", "web", environment: none)
    #expect(unseen.status == 75)
    #expect(unseen.errors.contains("name an editor that needs no terminal in $VISUAL"), "\(unseen)")
    let terminal = try Terminal(sandbox, ["edit", "web"], environment: none)
    try terminal.expect("vault: unchanged, so nothing was stored")
    #expect(try terminal.wait() == 0)
  }

  @Test(
    "a line break or a byte order mark that an editor adds is none of the value, and any other is",
    arguments: [
      ("v", "w\n", ItemKind.password, "w"), ("v", "v\n", .password, "v"), ("v", "w\r\n", .password, "w"),
      ("v", "w\n\n", .password, "w\n"), ("v\n", "w\n", .password, "w\n"), ("v\n", "w", .password, "w"),
      ("a\nb", "a\nc\n", .note, "a\nc"), ("a\nb\n", "a\nc\n", .note, "a\nc\n"), ("", "a\n", .note, "a\n"),
      ("", "a\n", .wifi, "a"), ("v", "", .note, ""), ("v", "\n", .note, ""),
      ("v", "\u{FEFF}w\n", .password, "w"), ("\u{FEFF}v", "\u{FEFF}w", .password, "\u{FEFF}w"),
      ("v", "w\u{FEFF}", .password, "w\u{FEFF}"), ("v", "\u{FEFF}", .password, ""),
    ])
  func finalBreak(old: String, text: String, kind: ItemKind, expected: String) {
    func buffer(_ text: String) -> SecretBuffer {
      var buffer = SecretBuffer()
      buffer.append(utf8: text)
      return buffer
    }
    let value = EditRequest.value(buffer(text), editedFrom: buffer(old), kind: kind)
    let isExpected = value.isEqual(to: buffer(expected))
    #expect(isExpected)
  }
}
