import Foundation
import Glibc
import Testing
import VaultBytes
import VaultTesting

@testable import VaultCLI

@Suite("Modes, times and signals under vault inject --watch") struct KeptModeTests {
  /// Arguments of setpriv(1) that take away root's right to read any file.
  private static let unable = ["--inh-caps=-all", "--bounding-set=-all", Sandbox.path(of: "vault")]

  /// True if an image of a file system can be made and mounted here.
  private static let canMount =
    Root.isAtHand
    && ["/usr/sbin/mke2fs", "/dev/loop-control"].allSatisfy { FileManager.default.fileExists(atPath: $0) }

  @Test(
    "a mode with which its owner cannot read the file makes no other program's text of it",
    .enabled(if: Root.isAtHand, "drops root's capabilities"), arguments: [[], ["--adopt"], ["--overwrite"]])
  func unreadable(more: [String]) throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try Terminal(stand.sandbox, Self.unable + stand.arguments(more), program: "/usr/bin/setpriv")
    try terminal.expect("wrote")
    #expect(unsafe chmod(stand.path("out"), 0) == 0)
    try terminal.expect("the mode 0000; it has 0600 again")
    try stand.set("111-11-111")
    try terminal.expect("wrote")
    #expect(try stand.read() == stand.text("111-11-111") && stand.mode("out") == 0o600)
    #expect(!stand.has("out.displaced") && !terminal.screen.contains("another program has written"))
    // A text of another program is told as one of which nothing is known.
    try stand.sandbox.write("other", to: "new")
    #expect(unsafe chmod(stand.path("new"), 0) == 0 && rename(stand.path("new"), stand.path("out")) == 0)
    try terminal.expect(
      more == ["--overwrite"] ? "nothing is known of its values: it cannot be read" : "cannot be read")
    #expect(!terminal.screen.contains("is no longer in it"))
    try stand.set("222-22-222")
    try terminal.expect(more == ["--overwrite"] ? "the file that was there before lies in" : "is held")
    let place = more == ["--overwrite"] ? "out.displaced" : "out"
    #expect(try stand.read(place) == "other")
    #expect(try stand.mode(place) == (more == ["--overwrite"] ? 0o600 : 0))
    try stand.end(terminal)
  }

  @Test(
    "such a mode in the middle of a write makes no other program's text of it either",
    .enabled(if: Root.isAtHand, "drops root's capabilities"))
  func unreadableAmid() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.traced(
      by: ["-P", ".out.vault-mark", "-e", "inject=renameat:signal=SIGSTOP:when=5", "/usr/bin/setpriv"]
        + Self.unable.dropLast(), [])
    try terminal.expect("wrote")
    try stand.set("111-11-111")
    let pid = try stand.stopped(terminal) { #expect(unsafe chmod(stand.path("out"), 0) == 0) }
    try terminal.expect("wrote")
    #expect(try stand.read() == stand.text("111-11-111") && stand.mode("out") == 0o600)
    #expect(!stand.has("out.displaced") && !terminal.screen.contains("another program wrote"))
    try stand.end(terminal, traced: pid)
  }

  @Test("a file that has only another mode is not written, at whatever moment it gets that") func onlyMode() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let path = sandbox.home + "/out"
    var file = KeptFile(OutputFile(path: path, mode: 0o600), runs: false)
    try file.begin()
    var text = SecretBuffer()
    text.append("text")
    func write(mindsMode: Bool) throws -> String {
      switch try file.write(text, isFirst: false, overwrites: false, mindsMode: mindsMode, isKnown: { _ in false }) {
      case nil: "other mode"
      case .right?: "right"
      case .written?: "written"
      case .held?: "held"
      }
    }
    #expect(try write(mindsMode: true) == "written")
    #expect(try write(mindsMode: true) == "right")
    for mode: mode_t in [0o640, 0] {
      #expect(unsafe chmod(path, mode) == 0)
      #expect(try write(mindsMode: true) == "other mode")
    }
    #expect(try write(mindsMode: false) == "written")
    #expect(try write(mindsMode: true) == "right")
  }

  @Test(
    "an owner that the file loses when it is written again is told",
    .enabled(if: Root.isAtHand, "gives the file to another user"), arguments: [[], ["--json"]])
  func owner(more: [String]) throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let told = "\(stand.path("out")) belonged to 65534:65534 and belongs to 0:0 now; --owner sets that"
    var terminal = try Terminal(stand.sandbox, stand.arguments(more))
    try terminal.expect(more.isEmpty ? "wrote" : "written")
    #expect(unsafe chown(stand.path("out"), 65534, 65534) == 0)
    try stand.set("111-11-111")
    // The change of owner alone may already make the keeper write the file, with the value from before.
    try terminal.expect(told)
    try wait(for: "the new value") { try stand.read() == stand.text("111-11-111") }
    try stand.end(terminal)
    // The next keeper says so, too.
    #expect(unsafe chown(stand.path("out"), 65534, 65534) == 0)
    try stand.set("222-22-222")
    terminal = try Terminal(stand.sandbox, stand.arguments(more))
    try terminal.expect(told)
    #expect(try stand.read() == stand.text("222-22-222") && !stand.has("out.displaced"))
    try stand.end(terminal)
  }

  @Test("the umask changes no mode", arguments: [[], ["--watch"]]) func umask(more: [String]) throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let line = (["vault", "inject", "-i", "t", "-o", "out"] + more).joined(separator: " ")
    let terminal = try Terminal(stand.sandbox, ["-c", "cd; umask 0777; exec \(line)"], program: "/bin/sh")
    guard more == ["--watch"] else {
      #expect(try terminal.wait() == 0)
      #expect(try stand.mode("out") == 0o600)
      return
    }
    try terminal.expect("wrote")
    #expect(try stand.mode("out") == 0o600 && stand.mode(".out.vault-lock") == 0o600)
    try stand.set("111-11-111")
    try terminal.expect("wrote")
    #expect(!terminal.screen.contains("the mode"))
    try stand.end(terminal)
  }

  @Test(
    "its own file is known after a restart where times have whole seconds",
    .enabled(if: canMount, "mounts a file system of that kind"))
  func wholeSeconds() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let (image, folder) = (stand.path("image"), stand.path("small"))
    func must(_ program: String, _ arguments: String...) throws {
      let outcome = try stand.sandbox.run(arguments, program: program)
      try #require(outcome.status == 0, "\(outcome)")
    }
    try must("/usr/bin/truncate", "-s", "4M", image)
    try must("/usr/sbin/mke2fs", "-q", "-F", "-I", "128", "-t", "ext4", image)
    #expect(unsafe mkdir(folder, 0o700) == 0)
    try must("/usr/bin/mount", "-o", "loop", image, folder)
    defer { _ = try? stand.sandbox.run("--lazy", folder, program: "/usr/bin/umount") }
    func keep() throws -> Terminal {
      try Terminal(stand.sandbox, ["inject", "-i", stand.path("t"), "-o", folder + "/out", "--watch"])
    }
    var terminal = try keep()
    try terminal.expect("wrote")
    try stand.end(terminal)
    try stand.set("111-11-111")
    terminal = try keep()
    try terminal.expect("wrote")
    #expect(try stand.read("small/out") == stand.text("111-11-111") && !stand.has("small/out.displaced"))
    try stand.end(terminal)
    // A text of the same size is another program's, even at the same moment.
    try stand.overwrite("small/out", with: stand.text("222-22-222"))
    terminal = try keep()
    try terminal.expect("is held")
    #expect(try stand.read("small/out") == stand.text("222-22-222"))
    try stand.end(terminal)
  }

  @Test("SIGTERM ends it at once while the daemon answers nobody") func frozen() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.begin()
    try terminal.expect("wrote")
    try stand.sandbox.signalDaemon(SIGSTOP)
    defer { try? stand.sandbox.signalDaemon(SIGCONT) }
    // After this report, the keeper calls the daemon, and would wait for it for five seconds.
    try stand.replace(with: "other")
    try terminal.expect("--adopt adopts such changes")
    let began = ContinuousClock.now
    try stand.end(terminal)
    #expect(ContinuousClock.now - began < .seconds(3))
  }

  @Test("SIGTERM ends it while it searches a long text for values") func searching() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.begin("--adopt")
    try terminal.expect("wrote")
    let memory = try ProcessMemory.bytes("VmRSS", of: terminal.pid)
    let lines = (0..<250_000).map { "# \($0 * 7919)\n" }.joined()
    try stand.replace(with: stand.text("031-45-154") + lines)
    // Nothing before the search takes so much memory, and the search goes on for a while from there.
    try wait(for: "the search") { try ProcessMemory.bytes("VmRSS", of: terminal.pid) > memory + 48 << 20 }
    terminal.signal(SIGTERM)
    #expect(try terminal.wait() == 143)
    // The search had no end, so the text was neither adopted nor reported.
    #expect(try stand.read("t") == KeptStand.template)
    #expect(!terminal.screen.contains("another program"))
  }

  @Test("SIGTERM within a write ends it after that") func whole() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try stand.stopped(before: 2)
    try terminal.expect("wrote")
    try stand.set("111-11-111")
    _ = try stand.stopped(terminal) {
      #expect(try stand.leftovers.count == 1)
      kill(try stand.keeper(of: terminal), SIGTERM)
    }
    #expect(try terminal.wait() == 143)
    #expect(try stand.read() == stand.text("111-11-111") && stand.leftovers.isEmpty)
  }

  @Test("of a held file those values are told as there that stand in it, also after a restart") func receipts() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    try stand.sandbox.must(["set", "key"], stdin: "secret")
    try stand.overwrite("t", with: "pin={{ vault \"pin\" }}\nkey={{ vault \"key\" }}\n")
    func waitFor(_ pin: String, _ key: String) throws {
      try wait(for: "the receipts") {
        try stand.sandbox.must(["receipts", "pin"]).contains("\t1\t" + pin)
          && stand.sandbox.must(["receipts", "key"]).contains("\t1\t" + key)
      }
    }
    var terminal = try stand.begin()
    try terminal.expect("wrote")
    try stand.replace(with: "pin=031-45-154\nkey=other\n")
    try waitFor("has it", "held")
    try stand.end(terminal)
    // Another keeper's receipts are others.
    try stand.sandbox.stopDaemon()
    try stand.sandbox.startDaemon()
    try stand.sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    terminal = try stand.begin()
    try terminal.expect("is held")
    let process = "[\(terminal.pid)]"
    func line(_ name: String) throws -> String {
      let lines = try stand.sandbox.must(["receipts", name]).split(separator: "\n")
      return lines.last { $0.contains(process) }.map(String.init) ?? ""
    }
    try wait(for: "the receipts") { try line("pin").contains("\t1\thas it") && line("key").contains("\t1\theld") }
    try stand.replace(with: "pin=000-00-000\nkey=secret\n")
    try wait(for: "the receipts") { try line("pin").contains("\t1\theld") && line("key").contains("\t1\thas it") }
    try stand.end(terminal)
  }
}
