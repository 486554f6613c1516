import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultCLI

@Suite("vault backup and vault restore") struct BackupTests {
  /// Returns the names of the files in a folder, sorted.
  private func files(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }

  @Test("fits beside the store without the room for deletions, whether or not the daemon has given that up")
  func room() {
    for (need, free, isReserved, holds) in [
      (100, 100, true, true), (101, 100, true, false), (100, 100, false, false),
      (100, 100 + (6 << 20), false, true), (101, 100 + (6 << 20), false, false),
    ] {
      #expect(BackupRoom.holds(need, free: free, isReserved: isReserved) == holds, "\(need) \(free)")
    }
  }

  @Test("a vault that is there is told before standard input is waited for")
  func piped() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["restore", "-"])
    try terminal.expect("there is already a vault, and it stays as it is")
    #expect(try terminal.wait() == 73)
  }

  @Test(
    "under a limit of the size of files it says so, and leaves nothing",
    .disabled(if: Sanitizer.needsFiles, "a program of ThreadSanitizer's writes one when it begins"))
  func limitedSize() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try FileManager.default.createDirectory(atPath: sandbox.home + "/backups", withIntermediateDirectories: false)
    let file = sandbox.home + "/backups/vault.backup"
    let outcome = try sandbox.run(
      "--fsize=1024", Sandbox.path(of: "vault"), "backup", file, program: "/usr/bin/prlimit")
    #expect(outcome.status == 74 && outcome.errors.contains("File too large"), "\(outcome)")
    #expect(try files(sandbox.home + "/backups") == [])
  }

  @Test("a backup that was not written to its end is not the last one, however small it is") func uncounted() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let last = { try sandbox.must(["status"]).split(separator: "\n").first { $0.hasPrefix("backup:") } ?? "" }
    let before = try last()
    #expect(before.contains("never"), "\(before)")
    let vault = Sandbox.path(of: "vault")
    for reader in ["exit 255", "head -c 100 >/dev/null"] {
      let script = "'\(vault)' backup - | sh -c '\(reader)'; test ${PIPESTATUS[0]} != 0"
      let outcome = try sandbox.run("-c", script, program: "/bin/bash")
      #expect(outcome.status == 0, "\(reader): \(outcome)")
      #expect(try last() == before, "\(reader)")
    }
    #expect(try sandbox.run("-c", "'\(vault)' backup - >/dev/full", program: "/bin/bash").status == 74)
    #expect(try last() == before)
    #expect(try sandbox.run("-c", "'\(vault)' backup - | cat >'\(sandbox.home)/b'", program: "/bin/bash").status == 0)
    #expect(try last() != before)
  }

  @Test("the backup of another vault is replaced by --force only if a person says so") func ofAnother() throws {
    let (old, new) = (try Sandbox.withVault(unlocked: true), try Sandbox.withVault(unlocked: true))
    defer {
      old.close()
      new.close()
    }
    let file = new.home + "/usb.backup"
    try old.must(["backup", file])
    let before = try Data(contentsOf: URL(fileURLWithPath: file))
    for command in ["backup", "salvage"] {
      let refused = try new.run(command, "--force", file)
      #expect(refused.status == 73 && refused.output.isEmpty, "\(refused)")
      #expect(
        refused.errors.hasPrefix("vault: `\(file)` is a backup of another vault, made ")
          && refused.errors.hasSuffix(
            ", so it stays; if it is not needed any more, move it away or delete it; or name another file\n"),
        "\(refused)")
    }
    for (answer, status) in [("n", Int32(77)), ("y", 0)] {
      #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
      let terminal = try Terminal(new, ["backup", "--force", file])
      try terminal.expect("Replace it? Whatever only that backup has would be gone. [y/N] ")
      terminal.type(answer)
      #expect(try terminal.wait() == status)
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)) != before)
    // From then on it is this vault's own, and a key that was changed makes it no other vault's.
    try new.must(["rekey", "--password-stdin"], stdin: password + "\n")
    try new.must(["backup", "--force", file])
    // A file that begins otherwise, or is cut within the id, is no backup of anybody.
    for content in ["", "vaultbk\n", "anything at all, but longer than the beginning of a backup"] {
      try content.write(toFile: file, atomically: false, encoding: .utf8)
      try new.must(["backup", "--force", file])
    }
  }

  @Test("a backup goes to a file and to standard output, and restores from a file and from standard input")
  func roundTrip() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let file = sandbox.home + "/vault.backup"
    let outcome = try sandbox.run(["backup", file, "--json"])
    #expect(outcome.status == 0, "\(outcome)")
    let bytes = try #require(FileManager.default.contents(atPath: file))
    let said = try #require(try JSONSerialization.jsonObject(with: Data(outcome.stdout)) as? [String: Any])
    #expect(said["size"] as? Int == bytes.count)
    #expect(said["file"] as? String == file)
    #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
    let piped = try sandbox.run(["backup", "-"])
    #expect(piped.status == 0 && piped.stdout.count == bytes.count && piped.errors.isEmpty)

    let first = try Sandbox()
    defer { first.close() }
    try first.must(["restore", file, "--password-stdin"], stdin: password + "\n")
    try first.must(["unlock", "--password-stdin"], stdin: password + "\n")
    #expect(try first.must(["get", "web"]) == "hunter2")

    // The backup comes from standard input, and the password from the terminal.
    let second = try Sandbox()
    defer { second.close() }
    try Data(piped.stdout).write(to: URL(fileURLWithPath: second.home + "/piped"))
    let terminal = try Terminal(second, ["restore", "-"], stdin: second.home + "/piped")
    try terminal.expect("Password of the backup: ")
    #expect(!terminal.echoes)
    terminal.type(password)
    try terminal.expect("the vault is restored; open it with `vault unlock`")
    try terminal.expect("no grant that it had is in effect before `vault grants confirm`")
    #expect(try terminal.wait() == 0)
    try second.must(["unlock", "--password-stdin"], stdin: password + "\n")
    #expect(try second.must(["get", "web"]) == "hunter2")
  }

  @Test("its grants are in effect again once a person confirms them") func grants() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let file = sandbox.home + "/copy"
    try Terminal.grant(sandbox, "unit:a.service", "web")
    #expect(try !sandbox.must(["status"]).contains("grants:"))
    try sandbox.must(["backup", file])
    let restored = try Sandbox()
    defer { restored.close() }
    try restored.must(["restore", file, "--password-stdin"], stdin: password + "\n")
    try restored.must(["unlock", "--password-stdin"], stdin: password + "\n")
    let waiting = "grants:     none is in effect, because the vault came from a backup; `vault grants confirm` puts"
    #expect(try restored.must(["status"]).contains(waiting))
    let doctor = try restored.run(["doctor"]).output
    #expect(doctor.contains("so no grant is in effect; look at them with `vault grants`"), "\(doctor)")
    // The terminal is a session of its own, in which nobody has shown presence.
    let terminal = try Terminal(restored, ["grants", "confirm"])
    try terminal.expect("assword")
    terminal.type(password)
    try terminal.expect("vault: 1 grant is in effect again")
    #expect(try terminal.wait() == 0)
    #expect(try !restored.must(["status"]).contains("grants:"))
  }

  @Test("a file that is there stays, unless it is told to go") func existing() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let file = try sandbox.write("precious", to: "there")
    #expect(try sandbox.run(["backup", file]).status == 73)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "precious")
    try sandbox.must(["backup", file, "--force"])
    #expect(FileManager.default.contents(atPath: file)?.starts(with: Data("vaultbk\n".utf8)) == true)
    // Even `--force` does not replace something that is not a regular file. The pipe belongs to the sandbox: a device
    // of the machine could be lost.
    let pipe = sandbox.home + "/pipe"
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    #expect(try sandbox.run(["backup", sandbox.home, "--force"]).status == 73)
    #expect(try sandbox.run(["backup", sandbox.home + "/none/vault.backup"]).status == 74)
    #expect(try sandbox.run(["backup", pipe, "--force"]).status == 73)
    #expect(try files(sandbox.home) == ["pipe", "there"])
  }

  @Test("a file that comes while the backup is made stays, too") func comesMeanwhile() throws {
    let folder = try ScratchFolder.make()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = folder + "/vault.backup"
    do {
      let file = try NewFile(path, replaces: false)
      try file.write(unsafe [UInt8]("backup".utf8).span.bytes)
      try Data("precious".utf8).write(to: URL(fileURLWithPath: path))
      let failure = #expect(throws: Failure.self) { try file.finish() }
      #expect(failure?.exit == .exists)
    }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    #expect(try files(folder) == ["vault.backup"])
  }

  @Test(
    "a backup is on the disk before it has its name, and has it on the disk before the command ends",
    arguments: [[], ["--force"]])
  func synced(options: [String]) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let trace = sandbox.root + "/trace"
    let file = sandbox.home + "/vault.backup"
    let outcome = try sandbox.run(
      ["-y", "-qq", "-o", trace, "-e", "trace=write,fsync,linkat,renameat", Sandbox.path(of: "vault"), "backup", file]
        + options, program: "/usr/bin/strace")
    #expect(outcome.status == 0, "\(outcome)")
    let calls = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
    let written = try #require(calls.lastIndex { $0.hasPrefix("write(") && $0.contains("<\(sandbox.home)/") })
    let synced = try #require(calls.firstIndex { $0.hasPrefix("fsync(") && $0.contains("<\(sandbox.home)/") })
    let named = try #require(calls.firstIndex { $0.hasPrefix("linkat(") || $0.hasPrefix("renameat(") })
    let folder = try #require(calls.firstIndex { $0.hasPrefix("fsync(") && $0.contains("<\(sandbox.home)>") })
    #expect(written < synced && synced < named && named < folder, "\(calls)")
  }

  @Test("a vault that is there is never touched by a restore") func vaultExists() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let file = sandbox.home + "/vault.backup"
    try sandbox.must(["backup", file])
    let before = try sandbox.everything()
    let outcome = try sandbox.run(["restore", file, "--password-stdin"], stdin: Array("\(password)\n".utf8))
    #expect(outcome.status == 73 && outcome.errors.contains("there is already a vault"), "\(outcome)")
    #expect(try sandbox.everything() == before)
  }

  @Test(
    "a full disk is an error of its own, and leaves no part of a file",
    .disabled(if: Sanitizer.needsFiles, "a program of ThreadSanitizer's writes one when it begins"))
  func fullDisk() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    // A limit on the size of files simulates a full disk: the write fails after a part of the backup.
    let file = sandbox.home + "/vault.backup"
    let outcome = try sandbox.run(
      ["-c", "trap '' XFSZ; ulimit -f 16; exec \(Sandbox.path(of: "vault")) backup \(file)"], program: "/bin/sh")
    #expect(outcome.status == 74, "\(outcome)")
    #expect(outcome.errors.contains("cannot write"), "\(outcome)")
    #expect(try files(sandbox.home).isEmpty)
  }

  @Test("control-C while a backup is made leaves no file", arguments: [SIGINT, SIGTERM, SIGHUP]) func interrupted(
    _ signal: Int32
  ) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let folder = sandbox.home + "/folder"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    // A daemon that sends nothing, for which the command waits.
    let daemon = try ScriptedDaemon(sandbox, ["Backup": [""]])
    defer {
      daemon.goOn()
      daemon.close()
    }
    let terminal = try Terminal(sandbox, ["backup", folder + "/file", "--socket", daemon.socket])
    // The file has no name before it is whole.
    let opened = "/proc/\(terminal.pid)/fd"
    func isBegun() throws -> Bool {
      try FileManager.default.contentsOfDirectory(atPath: opened).contains {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(opened)/\($0)").hasPrefix(folder)) == true
      }
    }
    while try !isBegun() { sched_yield() }
    terminal.signal(signal)
    #expect(try terminal.wait() == 128 + signal)
    #expect(try files(folder).isEmpty)
  }

  @Test("on a terminal a backup is refused, and a locked vault is asked for before the first unlock only")
  func terminal()
    throws
  {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon()
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    try sandbox.must(["lock"])
    let refused = try Terminal(sandbox, ["backup", "-"])
    try refused.expect("a backup is not for a terminal")
    #expect(try refused.wait() == 64)
    // A backup of a locked vault needs no person.
    try sandbox.must(["backup", sandbox.home + "/locked"])
    try sandbox.stopDaemon()
    try sandbox.startDaemon()
    let cold = try sandbox.run(["backup", sandbox.home + "/cold"])
    #expect(cold.status == 75, "\(cold)")
    let asked = try Terminal(sandbox, ["backup", sandbox.home + "/cold"])
    try asked.expect("Vault password")
    asked.type(password)
    try asked.expect("the backup is made")
    #expect(try asked.wait() == 0)
    #expect(try files(sandbox.home) == ["cold", "locked"])
  }

  @Test("a wrong password is 77, a file that is no backup 65, one that is not there 74") func errors() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let file = sandbox.home + "/vault.backup"
    try sandbox.must(["backup", file])
    let other = try Sandbox()
    defer { other.close() }
    func restore(_ path: String, _ secret: String = password) throws -> Outcome {
      try other.run(["restore", path, "--password-stdin"], stdin: Array("\(secret)\n".utf8))
    }
    let text = try other.write("no backup at all, but long enough", to: "text")
    #expect(try restore(text).status == 65)
    #expect(try restore(other.home + "/none").status == 74)
    var bytes = try #require(FileManager.default.contents(atPath: file))
    let damaged = other.home + "/damaged"
    bytes[bytes.count - 1] ^= 1
    try bytes.write(to: URL(fileURLWithPath: damaged))
    let outcome = try restore(damaged)
    #expect(outcome.status == 65, "\(outcome)")
    #expect(outcome.errors.contains("it is damaged"), "\(outcome)")
    for count in [0, 5, 13, 40, bytes.count - 1] {
      try bytes.prefix(count).write(to: URL(fileURLWithPath: damaged))
      #expect(try restore(damaged).status == 65, "\(count)")
    }
    #expect(try restore(file, "wrong horse battery").status == 77)
    #expect(try other.run(["restore", file, "-", "--password-stdin"]).status == 64)
    #expect(try other.run(["restore", "-", "--password-stdin"]).status == 64)
    #expect(!FileManager.default.fileExists(atPath: other.store + "/vault.db"))
  }

  @Test("a check without a password finds each file that is longer or shorter than its header says, however little")
  func checkedLength() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let file = sandbox.home + "/vault.backup"
    try sandbox.must(["backup", file])
    let whole = [UInt8](try #require(FileManager.default.contents(atPath: file)))
    let (short, long) = ("it is cut short", "there is data after its end")
    for (bytes, said) in [
      (whole, nil), (whole + [0], long), (whole + whole, long), (whole + [UInt8](repeating: 0, count: 600_000), long),
      (Array(whole.dropLast()), short), (Array(whole.prefix(whole.count / 2)), short),
    ] as [([UInt8], String?)] {
      try Data(bytes).write(to: URL(fileURLWithPath: file))
      // A file's length could be known before it is read; that of a pipe cannot.
      for outcome in [
        try sandbox.run(["backup", "--check", file]), try sandbox.run(["backup", "--check", "-"], stdin: bytes),
      ] {
        let known = "\(bytes.count) of \(whole.count) bytes: \(outcome)"
        #expect(outcome.status == (said == nil ? 75 : 65), "\(known)")
        #expect(outcome.errors.contains(said ?? "nothing was found wrong"), "\(known)")
        #expect(outcome.output.isEmpty == (said != nil), "\(known)")
      }
    }
  }
}
