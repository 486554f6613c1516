import CLinux
import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("The mark of vault inject --watch") struct KeptMarkTests {
  @Test("without a mark the file is written, and what stood there lies beside it") func noMark() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    try stand.sandbox.write("by hand", to: "out")
    var terminal = try stand.begin()
    try terminal.expect("the file that was there before lies in")
    #expect(try stand.read("out.displaced") == "by hand" && stand.read() == stand.text("031-45-154"))
    try stand.end(terminal)
    // The displaced file stays, so the next foreign text is held.
    stand.remove(".out.vault-mark")
    try stand.replace(with: "by hand again")
    terminal = try stand.begin()
    try terminal.expect("is held")
    #expect(try stand.read("out.displaced") == "by hand" && stand.read() == "by hand again")
    try stand.end(terminal)
  }

  @Test(
    "a mark that is not the file's holds it",
    arguments: ["", "vault-mark 1\n", "vault-mark 1\nfile 1 2 3 4\n", "another's", "a folder", "a link"])
  func foreignMark(_ kind: String) throws {
    let stand = try KeptStand()
    defer { stand.close() }
    try stand.sandbox.must(["inject", "-i", stand.path("t"), "-o", stand.path("out")])
    let other = try Terminal(
      stand.sandbox, ["inject", "-i", stand.path("t"), "-o", stand.path("another"), "--watch"])
    try other.expect("wrote")
    try stand.end(other)
    let mark = stand.path(".out.vault-mark")
    switch kind {
    case "another's": #expect(unsafe rename(stand.path(".another.vault-mark"), mark) == 0)
    case "a folder": #expect(unsafe mkdir(mark, 0o700) == 0)
    case "a link": #expect(unsafe symlink(stand.path(".another.vault-mark"), mark) == 0)
    default: try stand.sandbox.write(kind, to: ".out.vault-mark")
    }
    try stand.replace(with: "other")
    let terminal = try stand.begin()
    try terminal.expect("is held")
    #expect(try stand.read() == "other")
    try stand.end(terminal)
  }

  @Test("a mark that cannot be written is tried again after a pause, although each try makes a file in the folder")
  func pauses() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    // The fourth mark says that the command has run.
    let terminal = try stand.traced(
      by: ["-e", "trace=renameat,?poll,?ppoll", "-e", "inject=renameat:error=ENOSPC:when=4+"], ["--exec", "true"])
    try terminal.expect("wrote")
    func tries() -> [Substring] {
      // The last part is no whole one yet.
      ((try? stand.read("trace")) ?? "").split(separator: "INJECTED", omittingEmptySubsequences: false).dropLast()
    }
    try wait(for: "the fifth try") { tries().count >= 5 }
    // A change beside the file may end a wait that has run out on a busy machine, but not each of them.
    #expect(tries().dropFirst().contains { $0.contains("Timeout") }, "\(tries())")
    try stand.end(terminal, traced: stand.keeper(of: terminal))
  }

  @Test(
    "a mark that somebody has made unreadable is read all the same, so that the own file stays the keeper's",
    .enabled(if: Root.isAtHand, "drops root's capabilities"))
  func unreadableMark() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let start = ["--inh-caps=-all", "--bounding-set=-all", Sandbox.path(of: "vault")] + stand.arguments([])
    for pin in ["111-11-111", "222-22-222"] {
      let terminal = try Terminal(stand.sandbox, start, program: "/usr/bin/setpriv")
      try terminal.expect("wrote")
      try stand.end(terminal)
      #expect(!terminal.screen.contains("another program"), "\(terminal.screen)")
      #expect(unsafe chmod(stand.path(".out.vault-mark"), 0) == 0)
      try stand.set(pin)
    }
  }

  @Test("a mark that others may write is none, and a file with other names keeps its mode") func openMark() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    try stand.sandbox.write("by hand", to: "out")
    var status = stat()
    #expect(unsafe stat(stand.path("out"), &status) == 0)
    let time = status.st_mtim
    let file = "file \(status.st_ino) \(status.st_size) \(time.tv_sec) \(time.tv_nsec)"
    try stand.sandbox.write("vault-mark 1\n\(file)\n", to: ".out.vault-mark")
    #expect(unsafe chmod(stand.path(".out.vault-mark"), 0o666) == 0)
    #expect(unsafe chmod(stand.path("out"), 0o644) == 0 && link(stand.path("out"), stand.path("shared")) == 0)
    let terminal = try stand.begin()
    try terminal.expect("the file that was there before lies in")
    #expect(try stand.read("out.displaced") == "by hand" && stand.mode("shared") == 0o644)
    try stand.end(terminal)
  }

  @Test("a mark holds nothing but numbers, whatever the content is") func markText() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.begin()
    try terminal.expect("wrote")
    let lines = try stand.read(".out.vault-mark").split(separator: "\n")
    var status = stat()
    #expect(unsafe stat(stand.path("out"), &status) == 0)
    let time = status.st_mtim
    #expect(lines.first == "vault-mark 1" && lines.count == 3 && lines[2].hasPrefix("part .vault-new-"))
    #expect(lines[1] == "file \(status.st_ino) \(status.st_size) \(time.tv_sec) \(time.tv_nsec)")
    #expect(try stand.mode(".out.vault-mark") == 0o600)
    try stand.end(terminal)
  }

  @Test("a mark with a long path is read, and a path to which nothing is left leaves it") func longPath() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    var terminal = try stand.begin()
    try terminal.expect("wrote")
    try stand.end(terminal)
    let mark = try stand.read(".out.vault-mark")
    try stand.overwrite(".out.vault-mark", with: mark + "other /" + String(repeating: "p", count: 4090) + "\n")
    try stand.set("111-11-111")
    terminal = try stand.begin()
    try terminal.expect("wrote")
    #expect(try stand.read() == stand.text("111-11-111") && !stand.read(".out.vault-mark").contains("other"))
    try stand.end(terminal)
  }

  @Test(
    "a keeper that is killed before or after the files exchange their names is not taken for another program",
    arguments: [("out", "renameat2:signal=SIGKILL:when=2"), (".", "openat:signal=SIGKILL:when=7")])
  func killed(_ path: String, _ injection: String) throws {
    let stand = try KeptStand()
    defer { stand.close() }
    // The keeper takes the file's name for the second time in the second such call. It opens the folder after each name
    // taken: three times for the mark and once for the file.
    var terminal = try stand.traced(by: ["-P", path, "-e", "inject=" + injection], [])
    try terminal.expect("wrote")
    try stand.set("111-11-111")
    _ = try terminal.wait()
    #expect(try stand.leftovers.count == 1)
    try stand.set("222-22-222")
    terminal = try stand.begin()
    try terminal.expect("wrote")
    #expect(try stand.read() == stand.text("222-22-222") && !stand.has("out.displaced"))
    #expect(try stand.leftovers.isEmpty)
    try stand.end(terminal)
  }
}
