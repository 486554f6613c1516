import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("The sandbox") struct SandboxTests {
  @Test("it ends the daemon that a client started in it, and leaves nothing behind")
  func ends() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    let pid = try #require(sandbox.daemonPid)
    #expect(FileManager.default.fileExists(atPath: "/proc/\(pid)/exe"))
    sandbox.close()
    // The parent that inherited the daemon may not have reaped it yet; a process that has ended has no program in
    // /proc.
    var isThere = true
    while isThere { isThere = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe")) != nil }
    #expect(!FileManager.default.fileExists(atPath: sandbox.root))
  }

  @Test("what a run that has ended left behind is removed, and nothing of one that runs")
  func leftovers() throws {
    let place = try ScratchFolder.make()
    defer { try? FileManager.default.removeItem(atPath: place) }
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let ended = try sandbox.run("-c", "echo $$", program: "/bin/sh").output.filter(\.isNumber)
    let kept = ["v-\(getpid())-abcdef", "v-1-abcdef", "v-abcdef", "v-\(ended)-abcdef-g", "w-\(ended)-abcdef"]
    for name in kept + ["v-\(ended)-abcdef"] {
      try FileManager.default.createDirectory(
        atPath: "\(place)/\(name)/home/deep", withIntermediateDirectories: true)
    }
    ScratchFolder.removeLeftovers(in: place)
    #expect(try FileManager.default.contentsOfDirectory(atPath: place).sorted() == kept.sorted())
  }

  @Test(
    "users and PAM services that a killed run has left are removed by the next, and none of one that runs",
    .enabled(if: TestUser.canBeMade, "makes users of the machine, which needs root"))
  func leftUsers() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let (user, service) = (try TestUser(in: sandbox), try PAMService(PAMService.password))
    let ended = try sandbox.run("-c", "echo $$", program: "/bin/sh").output.filter(\.isNumber)
    // The second of them had the process ID that this process has now.
    let left = ["test-\(ended)-1", "test-\(getpid())-1"].map { tag in
      let word = String(UInt32.random(in: 0...UInt32.max), radix: 36)
      return (tag: tag, user: "vt" + word, file: "/etc/pam.d/vault-test-\(tag)-\(word)")
    }
    for run in left {
      try Data(PAMService.password.utf8).write(to: URL(fileURLWithPath: run.file))
      // The tests' users are made and removed under this lock.
      let made = try sandbox.run(
        ["/usr/sbin/useradd", "useradd", "--no-create-home", "--no-log-init", "--comment", run.tag, run.user],
        program: "/usr/bin/flock")
      try #require(made.status == 0, "\(made)")
    }
    let next = (try TestUser(in: sandbox), try PAMService(PAMService.password))
    let users = try String(contentsOfFile: "/etc/passwd", encoding: .utf8).split(separator: "\n")
      .map { $0.prefix { $0 != ":" } }
    for run in left {
      #expect(!users.contains(run.user[...]), "\(run.tag)")
      #expect(!FileManager.default.fileExists(atPath: run.file), "\(run.tag)")
    }
    #expect(users.contains(user.name[...]))
    #expect(FileManager.default.fileExists(atPath: "/etc/pam.d/" + service.name))
    withExtendedLifetime((user, service, next)) {}
  }

  @Test("its daemon starts with a configuration, logs, and stops")
  func daemon() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon(config: "idle = 1h\n")
    #expect(try sandbox.must(["status", "--json"]).contains(#""state":"new""#))
    #expect(try sandbox.stopDaemon() == 0)
    #expect(throws: SandboxError.self) { try sandbox.startDaemon(config: "no such setting\n") }
  }

  @Test("a program has no terminal, and its end and output come as they are")
  func run() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let outcome = try sandbox.run(
      ["-c", "cat; echo e >&2; (: </dev/tty) 2>/dev/null || exit 7"], program: "/bin/sh", stdin: Array("in".utf8))
    #expect(outcome.status == 7 && outcome.output == "in" && outcome.errors == "e\n", "\(outcome)")
    #expect(try sandbox.run(["-c", "kill -TERM $$"], program: "/bin/sh").status == 143)
    // More bytes than a pipe holds, in both directions.
    let bytes = [UInt8](repeating: 120, count: 1 << 20)
    #expect(try sandbox.run([], program: "/bin/cat", stdin: bytes).stdout == bytes)
  }
}
