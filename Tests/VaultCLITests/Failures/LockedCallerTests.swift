import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultCLI

/// A user with a grant in the machine's vault who must not open the vault.
@Suite("A caller that may not open the vault", .enabled(if: Root.isAtHand, "needs root to be another user"))
struct LockedCallerTests {
  private static let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"]

  /// Makes a machine's vault, locked or not, with an item `a` for the user nobody and an item without a grant.
  ///
  /// - Parameter deposits: a pattern of items for which that user may leave deposits, too.
  private func sandbox(isLocked: Bool = true, deposits: String? = nil) throws -> Sandbox {
    let sandbox = try Sandbox()
    let settings = try sandbox.write("", to: "vaultd.conf")
    unsafe chmod(settings, 0o600)
    try sandbox.startDaemon(arguments: [
      "--system", "--store", sandbox.store, "--socket", sandbox.socket, "--config", settings,
    ])
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    for name in ["a", "b"] { try sandbox.must(["set", name], stdin: "value of \(name)") }
    try sandbox.must(["grant", "user:65534", "a", "--can", "get,set,find"])
    if let deposits { try sandbox.must(["grant", "user:65534", deposits, "--can", "deposit"]) }
    if isLocked { try sandbox.must(["lock"]) }
    for path in [sandbox.root, sandbox.runtime, sandbox.runtime + "/vault", sandbox.root + "/config"] {
      unsafe chmod(path, 0o755)
    }
    unsafe chmod(sandbox.socket, 0o666)
    return sandbox
  }

  private static func words(_ sandbox: Sandbox, _ arguments: [String]) -> [String] {
    nobody + [Sandbox.path(of: "vault")] + arguments + ["--socket", sandbox.socket]
  }

  @Test("reaches a machine's daemon at a socket of its own, whose open folder doctor finds right")
  func openFolder() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let folder = sandbox.runtime + "/vault"
    let outcome = try sandbox.run("doctor", "--socket", sandbox.socket)
    #expect(outcome.output.contains("ok    socket directory: \(folder), mode 755\n"), "\(outcome)")
    #expect(outcome.output.contains("ok    socket: \(sandbox.socket), mode 666\n"), "\(outcome)")
    unsafe chmod(folder, 0o775)
    let wide = try sandbox.run("doctor", "--socket", sandbox.socket)
    #expect(wide.output.contains("fail  socket directory: \(folder) has mode 775, which is open to others; chmod 755 "))
    // The caller is not told of a vault of its own, which this is not.
    unsafe chmod(folder, 0o755)
    let home = ["/usr/bin/env", "HOME=/nonexistent", "XDG_DATA_HOME=", "XDG_CONFIG_HOME="]
    let doctor = Self.nobody + home + [Sandbox.path(of: "vault"), "doctor", "--socket", sandbox.socket]
    let other = try sandbox.run(doctor, program: "/usr/bin/setpriv")
    #expect(other.output.contains("answers; the vault is locked\n"), "\(other)")
    #expect(!other.output.contains("  store: ") && !other.output.contains("vault init"), "\(other)")
    unsafe chmod(folder, 0o700)
    let closed = try sandbox.run(doctor, program: "/usr/bin/setpriv")
    let way = "run this as the user whose vault it is; for the machine's vault, see `The system vault` in vaultd(8)\n"
    #expect(closed.output.contains(way) && !closed.output.contains("vault init"), "\(closed)")
    // Without an answer, nobody knows whom the daemon serves there.
    unsafe chmod(folder, 0o755)
    try sandbox.stopDaemon()
    let silent = try sandbox.run("doctor", "--socket", sandbox.socket)
    let advice = "chmod 700 \(folder), unless the daemon serves other users there, see vaultd(8)\n"
    #expect(silent.output.contains("warn  socket directory: \(folder) has mode 755"), "\(silent)")
    #expect(silent.output.contains(advice), "\(silent)")
  }

  @Test(
    "is told on a terminal that the vault is locked, and who opens it",
    arguments: [["get", "a"], ["run", "-e", "A=a", "--", "true"], ["set", "a", "--update"]])
  func terminal(arguments: [String]) throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    var words = Self.words(sandbox, arguments)
    // The words behind `--` belong to another program, so move the socket option before them.
    if let dashes = words.firstIndex(of: "--") {
      words = Array(words[..<dashes] + words.suffix(2) + words[dashes...].dropLast(2))
    }
    let terminal = try Terminal(sandbox, words, program: "/usr/bin/setpriv")
    #expect(try terminal.wait() == 75, "\(terminal.screen)")
    #expect(terminal.screen.contains("the vault was locked by `vault lock`; the owner of the vault opens it"))
    #expect(!terminal.screen.contains("denied") && !terminal.screen.contains("assword"), "\(terminal.screen)")
  }

  @Test("is told the same where nobody is there, and of what no grant is for that it is denied")
  func redirected() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let locked = try sandbox.run(Self.words(sandbox, ["get", "a"]), program: "/usr/bin/setpriv")
    let told = "the vault was locked by `vault lock`; the owner of the vault opens it with"
    #expect(locked.status == 75 && locked.errors.contains(told), "\(locked)")
    let denied = try sandbox.run(Self.words(sandbox, ["get", "b"]), program: "/usr/bin/setpriv")
    #expect(denied.status == 77 && denied.errors.contains("denied"), "\(denied)")
    let terminal = try Terminal(sandbox, Self.words(sandbox, ["get", "b"]), program: "/usr/bin/setpriv")
    #expect(try terminal.wait() == 77, "\(terminal.screen)")
    // `unlock` itself asks to open the vault, so it is denied.
    let unlock = try sandbox.run(Self.words(sandbox, ["unlock"]), program: "/usr/bin/setpriv")
    #expect(unlock.status == 77, "\(unlock)")
  }

  @Test("is denied a deposit before a value is asked for, if no grant is for one") func deposit() throws {
    let sandbox = try sandbox(isLocked: false)
    defer { sandbox.close() }
    let words = Self.words(sandbox, ["deposit", "new/x"])
    let denied = try Terminal(sandbox, words, program: "/usr/bin/setpriv")
    #expect(try denied.wait() == 77, "\(denied.screen)")
    #expect(denied.screen.contains("denied: you may not deposit anything here"), "\(denied.screen)")
    #expect(!denied.screen.contains("Value of"), "\(denied.screen)")
    // A deposit for another item than the grant's is kept aside.
    let other = try self.sandbox(isLocked: false, deposits: "other/*")
    defer { other.close() }
    let asked = try Terminal(other, Self.words(other, ["deposit", "new/x"]), program: "/usr/bin/setpriv")
    try asked.expect("Value of `new/x`: ")
    asked.control("c")
    _ = try asked.wait()
  }

  @Test(
    "is denied at once what only administrators may, so that nobody opens the vault for it",
    arguments: [["rekey"], ["deposits", "accept", "1"], ["deposits", "drop", "1", "--yes"]], [false, true])
  func administration(arguments: [String], isLocked: Bool) throws {
    let sandbox = try sandbox(isLocked: isLocked)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, Self.words(sandbox, arguments), program: "/usr/bin/setpriv")
    #expect(try terminal.wait() == 77, "\(terminal.screen)")
    #expect(terminal.screen.contains("denied: this is for the vault's administrators"), "\(terminal.screen)")
    #expect(!terminal.screen.contains("locked") && !terminal.screen.contains("assword"), "\(terminal.screen)")
  }
}

/// The same caller with a scripted daemon.
@Suite("Who may not open the vault") struct LockedSearchTests {
  private static let replies = [
    "Status": [
      #"{"parameters":{"state":"cold","cause":"start","since":1,"locks_on":[],"methods":[],"warnings":[],"#
        + #""version":"0.0.9","pid":4711}}"#
    ],
    "Unlock": [#"{"error":"io.vaultd.Vault.Denied","parameters":{"reason":"this is for others"}}"#],
    "Find": [#"{"parameters":{"items":[]}}"#],
  ]

  @Test("is shown before the first unlock what a search finds, and what needs all names says that the vault is locked")
  func search() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let daemon = try ScriptedDaemon(sandbox, Self.replies)
    defer { daemon.close() }
    let list = try Terminal(sandbox, ["list", "--socket", daemon.socket])
    #expect(try list.wait() == 0, "\(list.screen)")
    let told = "so no names can be shown; the owner of the vault opens it with `vault unlock"
    #expect(list.screen.contains(told), "\(list.screen)")
    for command in [["trash"], ["rm", "kind=note", "--yes"], ["set", "web"]] {
      let terminal = try Terminal(sandbox, command + ["--socket", daemon.socket])
      #expect(try terminal.wait() == 75, "\(terminal.screen)")
      #expect(terminal.screen.contains("the vault is locked (not unlocked since the daemon started); the owner of"))
    }
  }

  @Test("is told of the machine's vault who opens it, also where nobody is there to be asked")
  func system() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let daemon = try ScriptedDaemon(sandbox, Self.replies)
    defer { daemon.close() }
    let trash = try sandbox.run("trash", "--socket", daemon.socket)
    #expect(trash.status == 75 && trash.errors.contains("open it with `vault unlock`"), "\(trash)")
  }
}

/// Lists on a terminal while a lock hides the names.
@Suite("Where a lock hides names") struct HiddenListTests {
  @Test(
    "everything that lists asks for the unlock first",
    arguments: [
      ["list"], ["list", "iot"], ["list", "--expiring"], ["list", "--unused", "1h"], ["find", "kind=password"],
      ["pick"],
      ["rm", "iot/"], ["rm", "kind=password"], ["mv", "iot/", "home/"], ["cp", "iot/", "home/"], ["trash"],
      ["trash", "empty"],
    ])
  func asks(command: [String]) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon(config: "hide-names = true\n")
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    for name in ["iot/door", "web"] { try sandbox.must(["set", name], stdin: "v") }
    try sandbox.must(["set", "always", "--accessible", "always"], stdin: "v")
    try sandbox.must(["rm", "web"])
    try sandbox.must(["lock"])
    let terminal = try Terminal(sandbox, command, environment: ["TERM": "xterm"])
    try terminal.expect("Vault password")
    #expect(!terminal.screen.contains("nothing") && !terminal.screen.contains("no items"), "\(terminal.screen)")
    terminal.control("c")
    _ = try terminal.wait()
  }
}
