import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("vault inject --watch beside a program that is still writing") struct KeptWriterTests {
  /// Opens a file for writing in place, as another program would.
  private func open(_ stand: KeptStand, _ name: String = "out") throws -> FileHandle {
    try FileHandle(forWritingTo: URL(fileURLWithPath: stand.path(name)))
  }

  private func write(_ text: String, to file: FileHandle) throws { try file.write(contentsOf: Data(text.utf8)) }

  @Test("where something lies beside the file already, one that a program has open stays where it is")
  func noRoom() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.begin()
    try terminal.expect("wrote")
    try stand.sandbox.write("an earlier one", to: "out.displaced")
    let file = try open(stand)
    try stand.set("111-11-111")
    try terminal.expect("is held")
    try write("late", to: file)
    try file.close()
    try terminal.expect("another program has written")
    #expect(try stand.read().hasPrefix("late") && stand.read("out.displaced") == "an earlier one")
    // Once the other program's change is undone, the file is the keeper's again.
    try stand.overwrite(with: stand.text("031-45-154"))
    try terminal.expect("wrote")
    #expect(try stand.read() == stand.text("111-11-111") && stand.leftovers.isEmpty)
    try stand.end(terminal)
  }

  @Test("what a program writes to the keeper's file while that is taken back stays, and the status names it")
  func takenBack() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    var terminal = try stand.stopped(
      before: 2, tracing: ["-P", "out", "-e", "inject=renameat2:signal=SIGSTOP:when=2"])
    try terminal.expect("wrote")
    try stand.sandbox.write("an earlier one", to: "out.displaced")
    try stand.set("111-11-111")
    _ = try stand.stopped(terminal) { try stand.replace(with: "other") }
    var file: FileHandle?
    let pid = try stand.stopped(terminal, times: 2) { file = try open(stand) }
    try terminal.expect("is held")
    try write("late", to: try #require(file))
    try #require(file).close()
    #expect(try stand.read() == "other" && stand.read("out.displaced") == "an earlier one")
    let left = try #require(stand.leftovers.first)
    #expect(try stand.leftovers.count == 1 && stand.read(left).hasPrefix("late"))
    try wait(for: "the status") { try stand.sandbox.must(["status"]).contains("lies in \(stand.path(left))") }
    // The keeper writes a new mark once the file is right.
    try stand.replace(with: stand.text("111-11-111"))
    try wait(for: "the receipt") { try stand.sandbox.must(["receipts", "pin"]).contains("\t2\thas it") }
    try stand.end(terminal, traced: pid)

    // The next start moves the leftover text to its place once that place is free.
    terminal = try stand.begin()
    try terminal.expect("examine both, and remove one")
    #expect(try terminal.wait() == 73)
    stand.remove("out.displaced")
    terminal = try stand.begin()
    try wait(for: "the status") {
      try stand.sandbox.must(["status"]).contains("lies in \(stand.path("out.displaced"))")
    }
    #expect(try stand.read("out.displaced").hasPrefix("late") && stand.leftovers.isEmpty)
    try stand.end(terminal)
  }

  @Test("another program's text that the next start cannot move to its place is told, and moved by a later one")
  func unmoved() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    // The keeper opens the folder after each name taken: three times for the mark and once for the file; then the
    // second writing begins.
    var terminal = try stand.traced(by: ["-P", ".", "-e", "inject=openat:signal=SIGKILL:when=7"], [])
    try terminal.expect("wrote")
    try stand.set("111-11-111")
    _ = try terminal.wait()
    let left = try #require(stand.leftovers.first)
    try stand.overwrite(left, with: "of another program")
    for pin in ["222-22-222", "333-33-333"] {
      terminal = try stand.traced(by: ["-P", stand.path(left), "-e", "inject=renameat2:error=EPERM"], [])
      try terminal.expect("the text of another program lies in \(stand.path(left)); examine it, and remove it")
      try wait(for: "the status") { try stand.sandbox.must(["status"]).contains("lies in \(stand.path(left))") }
      // Each write makes a new mark, which must go on naming the text.
      try stand.set(pin)
      try wait(for: "the write") { try stand.read() == stand.text(pin) }
      try stand.end(terminal, traced: stand.keeper(of: terminal))
      #expect(try stand.read(left) == "of another program")
    }
    terminal = try stand.begin()
    try wait(for: "the file beside it") { stand.has("out.displaced") }
    #expect(try stand.read("out.displaced") == "of another program" && stand.leftovers.isEmpty)
    try stand.end(terminal)
  }

  @Test("a program that has the file open when the keeper is killed amid its writing loses nothing") func killed()
    throws
  {
    let stand = try KeptStand()
    defer { stand.close() }
    // The keeper opens the folder after each name taken: three times for the mark and once for the file; then the
    // second writing begins.
    var terminal = try stand.traced(by: ["-P", ".", "-e", "inject=openat:signal=SIGKILL:when=7"], [])
    try terminal.expect("wrote")
    let file = try open(stand)
    try stand.set("111-11-111")
    _ = try terminal.wait()
    #expect(try stand.leftovers.count == 1)
    terminal = try stand.begin()
    try wait(for: "the file beside it") { stand.has("out.displaced") }
    try write("late", to: file)
    try file.close()
    #expect(try stand.read("out.displaced").hasPrefix("late") && stand.read() == stand.text("111-11-111"))
    try stand.end(terminal)
  }

  @Test("a keeper that is killed before its file is whole leaves nothing behind its next start") func part() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    // The keeper syncs the first mark, then the folder, then the file.
    var terminal = try stand.traced(by: ["-e", "inject=fsync:signal=SIGKILL:when=3"], [])
    _ = try terminal.wait()
    #expect(try stand.leftovers.count == 1 && !stand.has("out"))
    terminal = try stand.begin()
    try terminal.expect("wrote")
    #expect(try stand.leftovers.isEmpty && !stand.has("out.displaced"))
    try stand.end(terminal)
  }

  @Test(
    "an own file that cannot be removed is named until it is, at the next writing or the next start",
    arguments: [false, true])
  func undropped(isRestarted: Bool) throws {
    let stand = try KeptStand()
    defer { stand.close() }
    // The keeper's test of the file system removes two files, so the third removal is a leftover's.
    let terminal = try stand.traced(by: ["-e", "inject=unlinkat:error=EIO:when=3"], [])
    try terminal.expect("wrote")
    try stand.set("111-11-111")
    try terminal.expect("the remainder of an earlier write lies in")
    let left = try #require(stand.leftovers.first)
    #expect(try stand.read(left) == stand.text("031-45-154"))
    try wait(for: "the status") { try stand.sandbox.must(["status"]).contains(left) }
    let pid = try stand.keeper(of: terminal)
    if isRestarted {
      try stand.end(terminal, traced: pid)
      let next = try stand.begin()
      try wait(for: "the removal") { try stand.leftovers.isEmpty }
      try stand.end(next)
    } else {
      try stand.set("222-22-222")
      try terminal.expect("wrote")
      #expect(try stand.leftovers.isEmpty)
      try wait(for: "the status") { try !stand.sandbox.must(["status"]).contains(left) }
      try stand.end(terminal, traced: pid)
    }
    #expect(!stand.has("out.displaced"))
  }

  @Test("a file that stood there before the keeper was killed at its first writing makes room all the same")
  func firstKilled() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    try stand.sandbox.write("somebody's", to: "out")
    var terminal = try stand.traced(by: ["-e", "inject=fsync:signal=SIGKILL:when=3"], [])
    _ = try terminal.wait()
    #expect(try stand.read() == "somebody's" && stand.has(".out.vault-mark"))
    terminal = try stand.begin()
    try terminal.expect("the file that was there before lies in")
    #expect(try stand.read() == stand.text("031-45-154") && stand.read("out.displaced") == "somebody's")
    try stand.end(terminal)
  }

  @Test("a file that stood there before the first writing failed makes room at the next start") func firstFailed()
    throws
  {
    let stand = try KeptStand()
    defer { stand.close() }
    try stand.sandbox.write("somebody's", to: "out")
    var terminal = try stand.traced(by: ["-P", "out", "-e", "inject=renameat2:error=EPERM:when=1"], [])
    #expect(try terminal.wait() == 74)
    terminal = try stand.begin()
    try terminal.expect("the file that was there before lies in")
    #expect(try stand.read() == stand.text("031-45-154") && stand.read("out.displaced") == "somebody's")
    try stand.end(terminal)
  }

  @Test("--adopt takes what was displaced while it was written once that is over") func displacedOpen() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.begin("--adopt")
    try terminal.expect("wrote")
    let file = try open(stand)
    try stand.set("111-11-111")
    try terminal.expect("has adopted none of it: the program is still writing it")
    #expect(stand.has("out.displaced"))
    try file.truncate(atOffset: 0)
    try write(stand.text("031-45-154", name: "other"), to: file)
    try file.close()
    try terminal.expect("has adopted the text outside the values")
    try terminal.expect("wrote")
    #expect(try stand.read("t") == KeptStand.template.replacing("Homebridge", with: "other"))
    #expect(try stand.read() == stand.text("111-11-111", name: "other") && !stand.has("out.displaced"))
    try stand.end(terminal)
  }

  @Test("--adopt takes no text that is still being written, and no command runs on it") func halfWritten() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.begin("--adopt", "--exec", "echo ran")
    try terminal.expect("ran")
    let file = try open(stand)
    let text = stand.text("031-45-154", name: "other")
    try file.truncate(atOffset: 0)
    try write(String(text.prefix(30)), to: file)
    try stand.set("111-11-111")
    try terminal.expect("is held")
    #expect(try stand.read("t") == KeptStand.template)
    try write(String(text.dropFirst(30)), to: file)
    try file.close()
    let shown = try terminal.expect("ran")
    #expect(shown.contains("has adopted the text outside the values"), "\(shown)")
    #expect(try stand.read("t") == KeptStand.template.replacing("Homebridge", with: "other"))
    #expect(try stand.read() == stand.text("111-11-111", name: "other") && !stand.has("out.displaced"))
    try stand.end(terminal)
  }

  @Test("a template that is being written, or is no file, is waited for") func template() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.begin()
    try terminal.expect("wrote")
    let file = try open(stand, "t")
    try stand.set("111-11-111")
    try terminal.expect("another program is writing \(stand.path("t"))")
    try file.close()
    try terminal.expect("wrote")
    stand.remove("t")
    #expect(unsafe mkfifo(stand.path("t"), 0o600) == 0)
    try stand.set("222-22-222")
    try terminal.expect("is not a regular file")
    try stand.replace("t", with: KeptStand.template)
    try terminal.expect("wrote")
    #expect(try stand.read() == stand.text("222-22-222"))
    try stand.end(terminal)
  }

  // MARK: The command

  @Test("while the file is held no command runs, and the end of one that ran is not the last word") func heldCommand()
    throws
  {
    let stand = try KeptStand()
    defer { stand.close() }
    let fifo = stand.path("go")
    #expect(unsafe mkfifo(fifo, 0o600) == 0)
    let terminal = try stand.begin("--exec", "echo began; read -r word <\(fifo); exit $word")
    try terminal.expect("began")
    try stand.replace(with: "other")
    try terminal.expect("another program has written")
    try stand.set("111-11-111")
    try terminal.expect("is held")
    try stand.sandbox.run("-c", "echo 1 >\(fifo)", program: "/bin/sh")
    try terminal.expect("the command ended with")
    try wait(for: "the receipt") { try stand.sandbox.must(["receipts", "pin"]).contains("\t2\theld") }
    try stand.replace(with: stand.text("031-45-154"))
    let shown = try terminal.expect("wrote")
    #expect(!shown.contains("began"))
    try terminal.expect("began")
    try stand.sandbox.run("-c", "echo 0 >\(fifo)", program: "/bin/sh")
    try wait(for: "the receipt") { try stand.sandbox.must(["receipts", "pin"]).contains("\t2\thas it") }
    try stand.end(terminal)
  }

  @Test("a command that has not ended well runs at the next start, though the file is right") func owed() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    var terminal = try stand.begin("--exec", "echo began; exit 3")
    try terminal.expect("the command ended with")
    // The receipt follows the message.
    try wait(for: "the receipt") { try stand.sandbox.must(["receipts", "pin"]).contains("failed") }
    try stand.end(terminal)
    terminal = try stand.begin("--exec", "echo ran")
    try terminal.expect("ran")
    try wait(for: "the receipt") { try stand.sandbox.must(["receipts", "pin"]).contains("\t1\thas it") }
    try wait(for: "the mark") { try !stand.read(".out.vault-mark").contains("owed") }
    try stand.end(terminal)
    // The command ended well, so the next start owes it no run.
    terminal = try stand.begin("--exec", "echo again")
    try wait(for: "the receipt") { try stand.sandbox.must(["receipts", "pin"]).contains("\t1\thas it") }
    try stand.set("111-11-111")
    let shown = try terminal.expect("again")
    #expect(shown.contains("wrote"))
    try stand.end(terminal)
  }

  @Test("the command runs for the right text also where another program has written that") func written() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.begin("--exec", "echo ran")
    try terminal.expect("ran")
    try stand.replace(with: "other")
    try terminal.expect("another program has written")
    try stand.set("111-11-111")
    try terminal.expect("is held")
    try stand.replace(with: stand.text("111-11-111"))
    try terminal.expect("ran")
    try stand.end(terminal)
  }

  // MARK: Temporary obstacles

  @Test("while the vault is locked, a keeper whose file is right again only waits") func idle() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.traced(by: ["-e", "trace=inotify_add_watch"], ["--adopt"])
    try terminal.expect("wrote")
    try stand.set("111-11-111")
    try terminal.expect("wrote")
    try stand.replace(with: "other")
    try terminal.expect("has adopted none of it")
    try stand.set("222-22-222")
    try terminal.expect("is held")
    try stand.sandbox.must(["lock"])
    try stand.replace(with: stand.text("031-45-154", name: "other"))
    try terminal.expect("the vault was locked")
    try stand.replace(with: stand.text("111-11-111"))
    for _ in 1...20 { try stand.sandbox.must(["status"]) }
    // Each attempt looks at one folder in this way; some attempts are a second or more apart.
    #expect(try stand.read("trace").components(separatedBy: "IN_ONLYDIR").count < 50)
    try stand.sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    try terminal.expect("wrote")
    #expect(try stand.read() == stand.text("222-22-222"))
    try stand.end(terminal, traced: stand.keeper(of: terminal))
  }

  @Test("a text with an older value that a locked vault does not tell is taken after the unlock") func locked() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.begin("--adopt")
    try terminal.expect("wrote")
    try stand.set("111-11-111")
    try terminal.expect("wrote")
    try stand.sandbox.must(["lock"])
    try stand.replace(with: stand.text("031-45-154", name: "other"))
    try terminal.expect("has adopted none of it: the vault was locked")
    try stand.sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    try terminal.expect("has adopted the text outside the values")
    try terminal.expect("wrote")
    #expect(try stand.read() == stand.text("111-11-111", name: "other"))
    try stand.end(terminal)
  }
}
