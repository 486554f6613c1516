import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("The one keeper of a file") struct KeeperLockTests {
  private static let refusal = "is already kept by another process; end that process first"

  @Test("a second keeper is refused before the first one has written anything") func first() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    try stand.sandbox.must(["lock"])
    try #require(unsafe mkfifo(stand.path("end"), 0o600) == 0)
    // Without a terminal, the keeper asks nobody for the password.
    let begun = Begun(
      stand.sandbox, ["-c", "cd; vault inject -i t -o out --watch & pid=$!; read x <end; kill $pid; wait $pid"],
      program: "/bin/sh")
    try wait(for: "the first one") { stand.has(".out.vault-lock") }
    let second = try stand.begin()
    try second.expect(Self.refusal)
    #expect(try second.wait() == 73)
    try stand.sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    try wait(for: "the file") { stand.has("out") }
    #expect(try stand.mode(".out.vault-lock") == 0o600)
    try Data("\n".utf8).write(to: URL(fileURLWithPath: stand.path("end")))
    let outcome = try begun.outcome()
    // A signal is heard at once, perhaps before the report of the write.
    #expect(outcome.status == 143, "\(outcome)")
    #expect(try stand.read() == stand.text("031-45-154"))
  }

  @Test("a second keeper is refused whatever has become of the mark", arguments: ["nothing", "a folder", "a link"])
  func mark(_ kind: String) throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.begin()
    try terminal.expect("wrote")
    // The keeper writes the mark once more after its report.
    let mark = stand.path(".out.vault-mark")
    try wait(for: "the place of the mark") {
      unsafe unlink(mark)
      return switch kind {
      case "a folder": unsafe mkdir(mark, 0o700) == 0
      case "a link": unsafe symlink(stand.path("t"), mark) == 0
      default: true
      }
    }
    let second = try stand.begin()
    try second.expect(Self.refusal)
    #expect(try second.wait() == 73)
    try stand.end(terminal)
  }

  @Test("a second keeper is refused while the first one gives its mark the name") func moment() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.traced(by: ["-P", ".out.vault-mark", "-e", "inject=renameat:signal=SIGSTOP:when=4"], [])
    try terminal.expect("wrote")
    try stand.set("111-11-111")
    let pid = try stand.stopped(terminal) {
      let second = try stand.begin()
      try second.expect(Self.refusal)
      #expect(try second.wait() == 73)
    }
    try terminal.expect("wrote")
    try stand.end(terminal, traced: pid)
  }

  @Test("a keeper whose lock was removed writes nothing while another one has it") func removed() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.begin()
    try terminal.expect("wrote")
    // The first keeper must not lock the file again before the second one does.
    terminal.signal(SIGSTOP)
    stand.remove(".out.vault-lock")
    let second = try stand.begin()
    try wait(for: "the second one") {
      // The locks of one process: the list of all is long on a busy machine, and is not read at one moment.
      let folder = "/proc/\(second.pid)/fdinfo/"
      return try FileManager.default.contentsOfDirectory(atPath: folder).contains { name in
        (try? String(contentsOfFile: folder + name, encoding: .utf8))?.contains("FLOCK") == true
      }
    }
    terminal.signal(SIGCONT)
    // Stopping the second keeper makes the first one find the new value.
    second.signal(SIGSTOP)
    try stand.set("111-11-111")
    try terminal.expect("is already kept by another process")
    second.signal(SIGCONT)
    try second.expect("wrote")
    #expect(try stand.read() == stand.text("111-11-111") && !stand.has("out.displaced"))
    try stand.end(second)
    // To the first keeper, the second one's text is another program's.
    try stand.set("222-22-222")
    try terminal.expect("is held")
    #expect(try stand.read() == stand.text("111-11-111") && !stand.has("out.displaced"))
    try stand.end(terminal)
  }

  @Test("no keeper begins where there can be no lock", arguments: ["a folder", "a link"])
  func none(_ kind: String) throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let lock = stand.path(".out.vault-lock")
    #expect(unsafe (kind == "a folder" ? mkdir(lock, 0o700) : symlink(stand.path("t"), lock)) == 0)
    let terminal = try stand.begin()
    try terminal.expect("cannot be locked")
    #expect(try terminal.wait() == 74)
    #expect(!stand.has("out"))
  }
}
