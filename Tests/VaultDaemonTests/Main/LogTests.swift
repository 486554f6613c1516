import CLinux
import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultDaemon

@Suite("The daemon's log") struct LogTests {
  @Test("a file has mode 0600 in folders of 0700, and at its limit becomes the older one") func bounded() throws {
    let root = try ScratchFolder.make()
    defer { try? FileManager.default.removeItem(atPath: root) }
    let path = root + "/state/vault/log"
    let file = try #require(LogFile(path))
    let modes: [(path: String, mode: mode_t)] = [
      (root + "/state", S_IFDIR | 0o700), ("\(root)/state/vault", S_IFDIR | 0o700), (path, S_IFREG | 0o600),
    ]
    for (path, mode) in modes {
      var status = stat()
      #expect(unsafe lstat(path, &status) == 0 && status.st_mode == mode, "\(path)")
    }
    let line = String(repeating: "x", count: 4095) + "\n"
    for number in 0..<600 { file.append("\(number) \(line)") }
    func size(_ path: String) -> Int { FileManager.default.contents(atPath: path)?.count ?? -1 }
    #expect(size(path) > 0 && size(path) < LogFile.limit)
    #expect((Int(LogFile.limit)..<Int(LogFile.limit) + 5000).contains(size(path + ".1")))
    #expect(try FileManager.default.contentsOfDirectory(atPath: root + "/state/vault").sorted() == ["log", "log.1"])
  }

  @Test("what is no file of ours is not written to") func foreign() throws {
    let root = try ScratchFolder.make()
    defer { try? FileManager.default.removeItem(atPath: root) }
    let target = root + "/target"
    try Data().write(to: URL(fileURLWithPath: target))
    #expect(unsafe symlink(target, root + "/link") == 0 && mkfifo(root + "/pipe", 0o600) == 0)
    for name in ["link", "pipe", "target/log"] { #expect(LogFile(root + "/" + name) == nil, "\(name)") }
    // A reader does not turn the pipe into a regular file.
    let reader = unsafe open(root + "/pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    defer { close(reader) }
    #expect(LogFile(root + "/pipe") == nil)
    guard Root.isAtHand else { return }
    #expect(unsafe chown(target, 1, 1) == 0)
    #expect(LogFile(target) == nil)
  }

  @Test("a file stays bounded, too, where something keeps it from becoming the older one") func inTheWay() throws {
    let root = try ScratchFolder.make()
    defer { try? FileManager.default.removeItem(atPath: root) }
    let file = try #require(LogFile(root + "/log"))
    try FileManager.default.createDirectory(atPath: root + "/log.1", withIntermediateDirectories: false)
    let line = String(repeating: "x", count: 4095) + "\n"
    for _ in 0..<600 { file.append(line) }
    let size = FileManager.default.contents(atPath: file.path)?.count ?? -1
    #expect(size > 0 && size < LogFile.limit)
  }

  @Test("of a line for which there is no room no part stays", .enabled(if: Root.isAtHand, "mounts a small disk"))
  func noRoom() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let disk = ["-t", "tmpfs", "-o", "size=8k", "vault-test", sandbox.home]
    try #require(try sandbox.run(disk, program: "/usr/bin/mount").status == 0)
    defer { _ = try? sandbox.run("--lazy", sandbox.home, program: "/usr/bin/umount") }
    let file = try #require(LogFile(sandbox.home + "/log"))
    let line = String(repeating: "x", count: 2999) + "\n"
    for _ in 0..<4 { file.append(line) }
    #expect(try String(contentsOfFile: file.path, encoding: .utf8) == line + line)
  }

  @Test("it goes to the journal where there is one, else to the file") func places() throws {
    let root = try ScratchFolder.make()
    defer { try? FileManager.default.removeItem(atPath: root) }
    func place(_ wanted: LogPlace.Wanted, file: String?, journal: String) -> LogPlace {
      LogPlace(wanted, file: file, journal: journal)
    }
    let file = try #require(LogFile(root + "/log"))
    #expect(place(.auto, file: file.path, journal: root + "/none") == .file(file))
    #expect(place(.auto, file: nil, journal: root + "/none") == .standardError)
    #expect(place(.auto, file: root + "/log/log", journal: root + "/none") == .standardError)
    #expect(place(.auto, file: file.path, journal: root) == .journal)
    #expect(place(.file, file: file.path, journal: root) == .file(file))
    #expect(place(.stderr, file: file.path, journal: root) == .standardError)
  }

  @Test("says who was refused, what was changed, each lock and each unlock, and no secret and no name")
  func events() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon(arguments: ["--log", "file"], environment: ["XDG_STATE_HOME": nil])
    let cheap = ["--kdf-memory", "19m", "--kdf-passes", "2"]
    func vault(_ arguments: [String], _ input: String) throws -> Int32 {
      try sandbox.run(arguments, stdin: Array(input.utf8)).status
    }
    let (old, new) = ("correct horse battery", "another horse battery")
    try #require(try vault(["init", "--password-stdin"] + cheap, old + "\n") == 0)
    #expect(try vault(["unlock", "--password-stdin"], old + "\n") == 0)
    #expect(try vault(["set", "hidden-name"], "hidden-value") == 0)
    #expect(try vault(["lock"], "") == 0)
    #expect(try vault(["passwd", "--password-stdin"] + cheap, "\(old)\n\(new)\n") == 0)
    #expect(try vault(["unlock", "--password-stdin"], new + "\n") == 0)
    #expect(try vault(["unlock", "--for", "1h", "--password-stdin"], "wrong horse battery\n") == 77)
    #expect(try sandbox.stopDaemon() == 0)

    let log = try String(contentsOfFile: sandbox.home + "/.local/state/vault/log", encoding: .utf8)
    let lines = log.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 1).last.map(String.init) ?? "" }
    let uid = geteuid()
    for expected in [
      "info: unlocked: by password", "info: locked: by `vault lock`",
      "info: wrong vault password, from uid \(uid)",
      "info: the vault password of slot 1 was changed by uid \(uid)", "info: locked: the daemon stops",
    ] {
      #expect(lines.contains(expected), "\(expected) is not in \(log)")
    }
    for secret in ["hidden", "horse"] { #expect(!log.contains(secret)) }
    #expect(sandbox.daemonLog.isEmpty, "\(sandbox.daemonLog)")
  }

  @Test("reaches the journal with its priority", .enabled(if: Root.isAtHand)) func journal() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let script = """
      mount -t tmpfs none /run/systemd && mkdir /run/systemd/journal || exit 1
      exec python3 - <<'END'
      import os, signal, socket, subprocess
      journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
      journal.bind("/run/systemd/journal/socket")
      ready = os.pipe()
      os.set_inheritable(ready[1], True)
      daemon = subprocess.Popen(["vaultd", "--log", "auto", "--ready-fd", str(ready[1])], close_fds=False)
      os.close(ready[1])
      os.read(ready[0], 1)
      daemon.send_signal(signal.SIGHUP)
      journal.settimeout(60)
      text = ""
      # Other daemons may have all instances of inotify(7), of which the log tells first.
      while not text or "watch" in text or "notice" in text:
          text = journal.recv(65536).decode()
      print(text)
      daemon.terminate()
      daemon.wait()
      END
      """
    let outcome = try sandbox.run("--mount", "/bin/sh", "-c", script, program: "/usr/bin/unshare")
    #expect(
      outcome.output.split(separator: "\n")
        == ["MESSAGE=settings reloaded", "PRIORITY=6", "SYSLOG_IDENTIFIER=vaultd"], "\(outcome)")
    #expect(outcome.errors.isEmpty)
  }
}
