import CLinux
import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("vault inject") struct InjectTests {
  @Test(
    "a file that has room on no disk is given up whole, and the old one stays",
    .enabled(if: Root.isAtHand, "needs root to mount one"))
  func fullDisk() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let disk = sandbox.home + "/disk"
    try #require(unsafe mkdir(disk, 0o700) == 0)
    let mounted = try sandbox.run("-t", "tmpfs", "-o", "size=256k", "vault-test", disk, program: "/usr/bin/mount")
    try #require(mounted.status == 0, "\(mounted)")
    defer { _ = try? sandbox.run("--lazy", disk, program: "/usr/bin/umount") }
    let template = try sandbox.write(String(repeating: "x", count: 300_000) + #"{{ vault "web" }}"#, to: "t")
    try Data("old".utf8).write(to: URL(fileURLWithPath: disk + "/out"))
    let outcome = try sandbox.run("inject", "-i", template, "-o", disk + "/out")
    #expect(outcome.status == 74 && outcome.errors.contains("No space left on device"), "\(outcome)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk) == ["out"])
    #expect(try String(contentsOfFile: disk + "/out", encoding: .utf8) == "old")
  }

  @Test(
    "the file is closed to others before its first byte, and has its own mode before its name",
    arguments: ["0600", "0644"])
  func mode(mode: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let template = try sandbox.write(#"{{ vault "web" }}"#, to: "t")
    let (out, trace) = (sandbox.home + "/out", sandbox.home + "/trace")
    let outcome = try sandbox.run(
      ["-s", "100", "-o", trace, Sandbox.path(of: "vault"), "inject", "-i", template, "-o", out, "--mode", mode],
      program: "/usr/bin/strace", environment: ["PATH": "/usr/bin:/bin"])
    try #require(outcome.status == 0, "\(outcome)")
    let calls = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n").map(String.init)
    let made = try #require(
      calls.firstIndex { $0.contains(".vault-new-") && $0.contains("O_EXCL") && $0.contains(", 0600)") }, "\(calls)")
    let written = try #require(calls.firstIndex { $0.hasPrefix("write(") && $0.contains("hunter2") })
    let synced = try #require(calls.firstIndex { $0.hasPrefix("fsync(") })
    let named = try #require(calls.firstIndex { $0.hasPrefix("renameat(") })
    #expect(made < written && written < synced && synced < named)
    let changed = calls.firstIndex { $0.hasPrefix("fchmod(") }
    #expect(mode == "0600" ? changed == nil : changed.map { written < $0 && $0 < synced } == true)
    var status = stat()
    #expect(unsafe stat(out, &status) == 0 && status.st_mode & 0o7777 == mode_t(mode, radix: 8))
  }

  @Test("rights that the file loses which is replaced are told, unless they were asked for") func lostRights() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let template = try sandbox.write(#"{{ vault "web" }}"#, to: "t")
    let out = try sandbox.write("old", to: "out")
    func inject(_ mode: mode_t, _ more: String...) throws -> String {
      try #require(unsafe chmod(out, mode) == 0)
      return try sandbox.run(["inject", "-i", template, "-o", out] + more).errors
    }
    #expect(try inject(0o640).contains("had mode 0640 and has 0600 now; --mode sets that"))
    for (mode, more) in [(0o600, []), (0o400, []), (0o644, ["--mode", "0640"])] as [(mode_t, [String])] {
      #expect(try more.isEmpty ? inject(mode).isEmpty : inject(mode, more[0], more[1]).isEmpty)
    }
    guard Root.isAtHand else { return }
    try #require(unsafe chown(out, 65534, 65534) == 0)
    #expect(try inject(0o600).contains("belonged to 65534:65534 and belongs to 0:0 now; --owner sets that"))
  }

  @Test("a file that has the content already is written again where its mode or its owner is not the right one")
  func wrongMode() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let template = try sandbox.write(#"{{ vault "web" }}"#, to: "t")
    let out = sandbox.home + "/out"
    func status() throws -> stat {
      var status = stat()
      try #require(unsafe stat(out, &status) == 0)
      return status
    }
    func inject(_ more: String...) throws -> String {
      let told = try sandbox.must(["inject", "-i", template, "-o", out, "--json"] + more)
      return told.contains(#""changed":true"#) ? "changed" : "as it was"
    }
    #expect(try inject() == "changed" && inject() == "as it was")
    for mode in [0o644, 0o640, 0o400, 0o4600] as [mode_t] {
      try #require(unsafe chmod(out, mode) == 0)
      #expect(try inject() == "changed" && status().st_mode & 0o7777 == 0o600, "\(String(mode, radix: 8))")
    }
    #expect(try inject("--mode", "0640") == "changed" && status().st_mode & 0o7777 == 0o640)
    #expect(try inject("--mode", "0640") == "as it was")
    #expect(try String(contentsOfFile: out, encoding: .utf8) == "hunter2")
    // A file of another owner is replaced, whatever is in it.
    guard Root.isAtHand else { return }
    try #require(unsafe chmod(out, 0o600) == 0)
    try #require(unsafe chown(out, 65534, 65534) == 0)
    #expect(try inject() == "changed" && status().st_uid == geteuid())
  }

  @Test("a mount point is called one", .enabled(if: Root.isAtHand, "needs root to mount")) func mountPoint() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    for name in ["a", "b"] { try sandbox.write("", to: name) }
    try sandbox.write(#"{{ vault "web" }}"#, to: "t")
    let vault = Sandbox.path(of: "vault")
    let script = "cd && mount --bind a b && exec \(vault) inject -i t -o b"
    let outcome = try sandbox.run("--mount", "/bin/sh", "-c", script, program: "/usr/bin/unshare")
    #expect(outcome.status == 74 && outcome.errors.contains("b: it is a mount point"), "\(outcome)")
    #expect(outcome.errors.contains("mount its folder instead"), "\(outcome)")
  }

  @Test(
    "a signal while the file is written leaves no part of it, and ends vault",
    arguments: ["TERM", "INT", "HUP", "USR1"],
    [[], ["--watch"]] as [[String]])
  func signals(name: String, watch: [String]) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let template = try sandbox.write(#"{{ vault "web" }}"#, to: "t")
    let folder = sandbox.home + "/folder"
    try #require(unsafe mkdir(folder, 0o700) == 0)
    let outcome = try sandbox.run(
      [
        "-o", sandbox.home + "/trace", "-e", "inject=fsync:signal=SIG\(name):when=1", Sandbox.path(of: "vault"),
        "inject",
        "-i", template, "-o", folder + "/out",
      ] + watch, program: "/usr/bin/strace", environment: ["PATH": "/usr/bin:/bin"])
    let numbers: [String: Int32] = ["TERM": SIGTERM, "INT": SIGINT, "HUP": SIGHUP, "USR1": SIGUSR1]
    #expect(outcome.status == numbers[name].map { 128 + $0 }, "\(outcome)")
    let own = [".out.vault-mark", ".out.vault-lock"]
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).filter { !own.contains($0) } == ["out"])
  }

  @Test("a hundred values come over one connection") func connection() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let daemon = try ScriptedDaemon(sandbox, ["Get": [#"{"parameters":{"name":"x","version":1,"value":"v"}}"#]])
    defer { daemon.close() }
    let template = try sandbox.write(
      (0..<100).map { "{{ vault \"x/\($0)\" }}{{ vault \"x/\($0)\" | json }}" }.joined(), to: "t")
    let trace = sandbox.home + "/trace"
    let outcome = try sandbox.run(
      [
        "-e", "trace=connect,sendto", "-o", trace, Sandbox.path(of: "vault"), "inject", "-i", template, "--socket",
        daemon.socket,
      ],
      program: "/usr/bin/strace")
    #expect(outcome.output == String(repeating: "v\"v\"", count: 100), "\(outcome)")
    let calls = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
    #expect(calls.filter { $0.contains("connect(") }.count == 1)
    #expect(calls.filter { $0.contains("sendto(") }.count == 100)
  }

  @Test("only root becomes somebody else", .enabled(if: Root.isAtHand, "needs root to be another user"))
  func notRoot() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let outcome = try sandbox.run(
      [
        "--reuid=65534", "--regid=65534", "--clear-groups", Sandbox.path(of: "vault"), "inject", "-i", "/dev/null",
        "-o", "/tmp/x",
        "--owner", "root",
      ], program: "/usr/bin/setpriv")
    #expect(
      outcome.status == 77 && outcome.errors.hasPrefix("vault: only root can write a file as somebody else"),
      "\(outcome)")
  }
}

@Suite("vault inject --owner", .enabled(if: TestUser.canBeMade, "needs root to make a user"))
struct InjectOwnerTests {
  /// Lends a user's vault with an item, and a folder that only this user can enter, with a template in it.
  private func withVault(_ body: (UserVault, _ folder: String) throws -> Void) throws {
    let vault = try UserVault(pam: PAMService.password)
    defer { vault.close() }
    try vault.make()
    try vault.unlock(["method": "password"], typing: [vault.password])
    let stored = try vault.run("set", "web", stdin: "hunter2")
    try #require(stored.status == 0, "\(stored)")
    let folder = vault.sandbox.home + "/own"
    try #require(unsafe mkdir(folder, 0o700) == 0)
    try vault.sandbox.write(#"{{ vault "web" }}"#, to: "own/t")
    try vault.giveAway(folder)
    try body(vault, folder)
  }

  private func inject(_ vault: UserVault, _ arguments: String...) throws -> Outcome {
    try vault.sandbox.run(
      ["inject", "--socket", vault.sandbox.socket] + arguments, program: vault.sandbox.root + "/bin/vault",
      environment: ["XDG_RUNTIME_DIR": "/nonexistent"])
  }

  @Test("the vault is asked by that user, and the file is that user's from its first byte") func becomes() throws {
    try withVault { vault, folder in
      let outcome = try inject(vault, "-i", folder + "/t", "-o", folder + "/out", "--owner", vault.user.name)
      try #require(outcome.status == 0, "\(outcome)")
      var status = stat()
      #expect(
        unsafe stat(folder + "/out", &status) == 0 && status.st_uid == vault.user.uid && status.st_mode & 0o777 == 0o600
      )
      #expect(try String(contentsOfFile: folder + "/out", encoding: .utf8) == "hunter2")
      // The audit log names the uid that asked.
      let log = try vault.run("audit", "--json")
      #expect(log.output.contains("\"uid\":\(vault.user.uid)") && !log.output.contains("\"uid\":0,"), "\(log)")
    }
  }

  @Test("a name, a number and two numbers mean the same user, and nothing of root is left") func rights() throws {
    try withVault { vault, folder in
      let (uid, name) = (vault.user.uid, vault.user.name)
      try vault.user.change("usermod", "--append", "--groups", "dialout")
      for (owner, hasGroup) in [(name, true), ("\(uid)", true), ("\(uid):\(uid)", false)] {
        unsafe unlink(folder + "/out")
        let terminal = try Terminal(
          vault.sandbox,
          [
            "inject", "--socket", vault.sandbox.socket, "-i", folder + "/t", "-o", folder + "/out", "--owner", owner,
            "--watch",
            "--exec",
            "grep -E '^(Uid|Gid|Groups|Cap...):' /proc/self/status; echo [$A_TOKEN$LC_TIME] $HOME $USER "
              + "$XDG_RUNTIME_DIR.",
          ], program: vault.sandbox.root + "/bin/vault", environment: ["A_TOKEN": "root's", "LC_TIME": "C"])
        try terminal.expect("Uid:\t\(uid)\t\(uid)\t\(uid)\t\(uid)")
        let rest = try terminal.expect(".")
        #expect(rest.contains("CapEff:\t0000000000000000") && rest.contains("CapPrm:\t0000000000000000"), "\(rest)")
        #expect(rest.contains("CapInh:\t0000000000000000") && rest.contains("[C] /nonexistent \(name) ."), "\(rest)")
        let groups = rest.split(whereSeparator: \.isNewline).first { $0.hasPrefix("Groups:") } ?? ""
        #expect((groups.split(whereSeparator: \.isWhitespace).count == 3) == hasGroup, "\(groups)")
        terminal.signal(SIGTERM)
        #expect(try terminal.wait() == 143)
      }
    }
  }

  @Test("a template of root is not read for the user, whatever leads to it") func template() throws {
    try withVault { vault, folder in
      let secret = try vault.sandbox.write("root's own", to: "rootfile")
      unsafe chmod(secret, 0o600)
      #expect(unsafe symlink(secret, folder + "/link") == 0)
      let outcome = try inject(vault, "-i", folder + "/link", "-o", folder + "/out", "--owner", vault.user.name)
      #expect(outcome.status == 74 && outcome.errors.contains("Permission denied"), "\(outcome)")
      #expect(unsafe access(folder + "/out", F_OK) != 0)
    }
  }

  @Test("what the user must not write stays") func folder() throws {
    try withVault { vault, folder in
      let own = vault.sandbox.root + "/roots"
      try #require(unsafe mkdir(own, 0o755) == 0)
      let outcome = try inject(vault, "-i", folder + "/t", "-o", own + "/out", "--owner", vault.user.name)
      #expect(outcome.status == 74 && outcome.errors.contains("Permission denied"), "\(outcome)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: own).isEmpty)
    }
  }

  @Test("nobody is nobody", arguments: ["no-such-user", "root", "0", "4294967295", "77777"]) func nobody(owner: String)
    throws
  {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let outcome = try sandbox.run("inject", "-i", "/dev/null", "-o", sandbox.home + "/out", "--owner", owner)
    #expect([64, 66].contains(outcome.status), "\(outcome)")
    #expect(unsafe access(sandbox.home + "/out", F_OK) != 0)
  }
}
