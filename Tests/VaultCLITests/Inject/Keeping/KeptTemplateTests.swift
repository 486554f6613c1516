import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultCLI

@Suite("The template of vault inject --watch") struct KeptTemplateTests {
  @Test("a template that is emptied makes no empty file and runs nothing") func emptied() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.begin("--exec", "echo ran with $(wc -c <\(stand.path("out")))")
    try terminal.expect("ran with")
    try stand.overwrite("t", with: "")
    try terminal.expect("\(stand.path("t")) is empty; \(stand.path("out")) stays as it is")
    // With an empty template, a new value causes no writing, either.
    try stand.set("111-11-111")
    try stand.overwrite("t", with: KeptStand.template)
    try terminal.expect("ran with")
    #expect(try stand.read() == stand.text("111-11-111"))
    #expect(!terminal.screen.contains("ran with 0"))
    try stand.end(terminal)
    // A template that is empty at the start causes no writing, either.
    try stand.overwrite("t", with: "")
    let next = try stand.begin()
    try next.expect("is empty")
    #expect(try stand.read() == stand.text("111-11-111"))
    try stand.end(next)
    // The same holds if the file is gone: the mark records that the file was not empty.
    stand.remove("out")
    let last = try stand.begin("--exec", "echo ran with nothing")
    try last.expect("\(stand.path("t")) is empty; \(stand.path("out")) is not written")
    #expect(!stand.has("out") && !last.screen.contains("ran with nothing"))
    try stand.end(last)
  }

  @Test(
    "a keeper that is started while the disk is full waits for room",
    .enabled(if: Root.isAtHand, "needs root to mount one"))
  func startsOnFullDisk() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let disk = stand.path("disk")
    try #require(unsafe mkdir(disk, 0o700) == 0)
    let mounted = try stand.sandbox.run(
      "-t", "tmpfs", "-o", "size=64k", "vault-test", disk, program: "/usr/bin/mount")
    try #require(mounted.status == 0, "\(mounted)")
    defer { _ = try? stand.sandbox.run("--lazy", disk, program: "/usr/bin/umount") }
    func begin() throws -> Terminal {
      try Terminal(stand.sandbox, ["inject", "-i", stand.path("t"), "-o", disk + "/out", "--watch"])
    }
    let first = try begin()
    try first.expect("wrote")
    try stand.end(first)
    let fill = disk + "/fill"
    _ = try stand.sandbox.run("if=/dev/zero", "of=\(fill)", "bs=4096", program: "/usr/bin/dd")
    try stand.set("111-11-111")
    let second = try begin()
    try second.expect("No space left on device; make room on its disk")
    #expect(try String(contentsOfFile: disk + "/out", encoding: .utf8) == stand.text("031-45-154"))
    #expect(unsafe unlink(fill) == 0)
    try second.expect("wrote")
    #expect(try String(contentsOfFile: disk + "/out", encoding: .utf8) == stand.text("111-11-111"))
    try stand.end(second)
  }

  @Test(
    "a value that the item had while the keeper could not render comes not into the template, either",
    arguments: [true, false])
  func skippedVersions(isLocked: Bool) throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.begin("--adopt")
    try terminal.expect("wrote")
    try stand.overwrite("t", with: "{{ broken\n")
    try terminal.expect("stays as it is")
    for pin in ["skipped-1", "skipped-2", "111-11-111"] { try stand.set(pin) }
    try stand.replace("t", with: KeptStand.template)
    try terminal.expect("wrote")
    if isLocked { try stand.sandbox.must(["lock"]) }
    let text = stand.text("111-11-111", name: "was skipped-1")
    try stand.replace(with: text)
    try terminal.expect("has adopted none of it")
    if isLocked {
      try stand.sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    }
    try terminal.expect("an earlier value of `pin` stands at line 3, in the clear")
    #expect(try stand.read("t") == KeptStand.template && stand.read() == text)
    // A text without such a value is adopted.
    try stand.replace(with: stand.text("111-11-111", name: "other"))
    try wait(for: "the new template") { try stand.read("t").contains("other") }
    try stand.end(terminal)
  }

  @Test("an edit of the template is not lost where --adopt has not begun to write it") func editedEarly() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    // The first writing syncs the file once, the mark three times and the folder four times; the ninth sync is the
    // template's.
    let terminal = try stand.traced(by: ["-e", "inject=fsync:signal=SIGSTOP:when=9"], ["--adopt"])
    try terminal.expect("wrote")
    try stand.replace(with: stand.text("031-45-154", name: "other"))
    let pid = try stand.stopped(terminal) { try stand.replace("t", with: Self.edit) }
    try Self.expectEdit(stand, terminal)
    try stand.end(terminal, traced: pid)
  }

  @Test("nor where it has written it, and only the name is missing") func editedLate() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    // The keeper stops after each reading of the template, because the number of readings depends on the order of its
    // events.
    let stop = ["-P", stand.path("t"), "-e", "inject=close:signal=SIGSTOP"]
    let terminal = try stand.traced(by: stop, ["--adopt"])
    var (stops, isReplaced, isEdited) = (0, false, false)
    try wait(for: "the new template") {
      guard (try? stand.read("trace").components(separatedBy: "stopped by SIGSTOP").count) ?? 0 > stops + 1 else {
        return false
      }
      stops += 1
      if !isReplaced, stand.has("out") {
        try stand.replace(with: stand.text("031-45-154", name: "other"))
        isReplaced = true
      } else if try isReplaced && stand.leftovers.contains(where: { try stand.read($0).contains("{{ vault") }) {
        try stand.replace("t", with: Self.edit)
        isEdited = true
      }
      kill(try stand.keeper(of: terminal), SIGCONT)
      return isEdited
    }
    let pid = try stand.keeper(of: terminal)
    // Resume the keeper until it has ended.
    Thread.detachNewThread { while kill(pid, SIGCONT) == 0 { usleep(5_000) } }
    try Self.expectEdit(stand, terminal)
    try stand.end(terminal, traced: pid)
  }

  @Test("an item that the template names is waited for, although no attempt could fetch it yet") func absent() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let request = InjectRequest(
      input: stand.path("t"), output: OutputFile(path: stand.path("out"), mode: 0o600), fetch: Fetch())
    let session = try Session(socket: stand.sandbox.socket, system: false, startsDaemon: false)
    let output = try #require(request.output)
    let keeper = try Keeper(request, output, session, command: nil, Keeper.Ways(), json: false)
    try keeper.file.begin()
    keeper.attempt()
    #expect(try stand.read() == stand.text("031-45-154") && !keeper.isDue)
    #expect(keeper.concerns("pin") && !keeper.concerns("absent"))
    try stand.replace("t", with: #"{{ vault "absent" }}"#)
    keeper.attempt()
    #expect(keeper.retry != nil && keeper.concerns("absent") && keeper.concerns("pin") && !keeper.concerns("other"))
  }

  @Test("nor where the template's file system can exchange nothing") func noExchange() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let failing = ["-P", stand.path("t"), "-P", "t", "-e", "inject=renameat2:error=EINVAL:signal=SIGSTOP:when=1"]
    let terminal = try stand.traced(by: failing, ["--adopt"])
    try terminal.expect("wrote")
    try stand.replace(with: stand.text("031-45-154", name: "other"))
    let pid = try stand.stopped(terminal) { try stand.overwrite("t", with: Self.edit) }
    try terminal.expect("has adopted none of it")
    try terminal.expect("is held")
    #expect(try stand.read("t") == Self.edit && stand.leftovers.isEmpty)
    try stand.end(terminal, traced: pid)
  }

  @Test("--adopt refuses such a file system at its start") func noExchangeAtStart() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.traced(by: ["-e", "inject=renameat2:error=EINVAL:when=2"], ["--adopt"])
    try terminal.expect("its file system cannot exchange two files")
    #expect(try terminal.wait() == 78)
    #expect(try stand.leftovers.isEmpty && !stand.has("out"))
  }

  private static let edit = KeptStand.template.replacing("Homebridge", with: "by hand")

  private static func expectEdit(_ stand: KeptStand, _ terminal: Terminal) throws {
    try terminal.expect("has adopted none of it: the template was changed meanwhile")
    try terminal.expect("is held")
    #expect(try stand.read("t") == edit)
    #expect(try stand.read() == stand.text("031-45-154", name: "other"))
    // The keeper writes its mark after it has said so.
    try wait(for: "the end of all parts") { try stand.leftovers.isEmpty }
  }
}
