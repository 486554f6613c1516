import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("The limit of open files") struct OpenFilesTests {
  private static func limited(to limit: String) -> [String] {
    ["/usr/bin/prlimit", "--nofile=\(limit)", Sandbox.path(of: "vaultd")]
  }

  @Test("what clients may take follows from it, and leaves the daemon what it needs itself") func shares() {
    for limit: UInt64 in [64, 65, 100, 128, 256, 1024, 4096, 1 << 20, .max] {
      let files = OpenFiles(limit: limit)
      for configured in [4, 256, 10_000, 32_768] {
        let connections = files.connections(configured: configured)
        #expect(connections >= 4 && connections <= configured)
        #expect(files.lingering >= 4)
        // Each process that waits for a credential takes two descriptors, and as many refused processes take one each.
        #expect(files.credentials >= 1)
        let others = files.lingering + 3 * files.credentials + 2 * files.ssh + files.portal + files.given
        #expect(UInt64(connections + others) <= limit - 48)
      }
    }
    #expect(OpenFiles(limit: 2047).given == 0 && OpenFiles(limit: 2048).given == 634)
    #expect(OpenFiles(limit: 64).connections(configured: 256) == 8)
    #expect(OpenFiles(limit: 1024).connections(configured: 256) == 256)
    #expect(OpenFiles(limit: 20_000).connections(configured: 10_000) == 10_000)
    #expect(OpenFiles(limit: 20_000).credentials == 256)
    #expect(OpenFiles(limit: .max).connections(configured: 32_768) == 32_768)
  }

  @Test("with any, the daemon serves and ends, or says in one line that it is too low") func anyLimit() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    for limit in 3...70 {
      let before = sandbox.daemonLog.count
      do {
        try sandbox.startDaemon(through: Self.limited(to: "\(limit):\(limit)"))
        #expect(limit >= 64)
        #expect(try sandbox.client().call("Status").string("state") == "new")
        #expect(try sandbox.stopDaemon() == 0)
        #expect(sandbox.daemonLog.count == before)
      } catch let error as SandboxError {
        let said = sandbox.daemonLog.dropFirst(before)
        #expect(limit < 64 && said.filter { $0 == "\n" }.count == 1, "\(limit): \(said)")
        // With fewer descriptors than the dynamic linker needs, the program does not even start.
        let isRefused = "\(error)".hasPrefix("vaultd ended with 78: ") && said.contains("\(limit), and 64 are needed")
        #expect(isRefused || limit < 8 && "\(error)".hasPrefix("vaultd ended with 127: "), "\(limit): \(error)")
      }
    }
  }

  @Test("it is raised as far as it may be, and helpers get an ordinary one") func raised() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let daemon = try ScriptedHelper.daemon(in: sandbox)
    // The helper gets its limit before any request.
    try sandbox.write("head -c 1 <&0 >/dev/null; exec >\"$HOME/limits\"; ulimit -Sn; ulimit -Hn; exit 1", to: "script")
    try sandbox.startDaemon(
      config: "boot-key = tpm2:\(sandbox.home)/boot.key",
      through: ["/usr/bin/prlimit", "--nofile=40:2000", daemon])
    let pid = try #require(sandbox.daemonPid)
    let limits = try String(contentsOfFile: "/proc/\(pid)/limits", encoding: .utf8)
    let files = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max open files") })
    #expect(files.split(separator: " ").dropFirst(3).prefix(2) == ["2000", "2000"])
    try sandbox.converse("Init", ["kdf_memory": 19 << 20, "kdf_passes": 2]) { _ in "correct horse battery" }
    #expect(try String(contentsOfFile: sandbox.home + "/limits", encoding: .utf8) == "1024\n2000\n")
  }

  @Test("a helper that has ended leaves nothing open behind") func helpers() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let password = "correct horse battery"
    try sandbox.write("head -c 1 <&0 >/dev/null; exit 1", to: "script")
    try sandbox.startDaemon(
      config: "boot-key = tpm2:\(sandbox.home)/boot.key", through: [ScriptedHelper.daemon(in: sandbox)])
    let pid = try #require(sandbox.daemonPid)
    func open() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count }
    func useHelper() throws {
      let made = try sandbox.converse("Init", ["kdf_memory": 19 << 20, "kdf_passes": 2]) { _ in password }
      #expect(made?.error == "Misconfigured", "\(String(describing: made))")
    }
    // The daemon notices that clients have left only after their last reply.
    try useHelper()
    var least = try open()
    for _ in 0..<100 { least = min(least, try open()) }
    for _ in 0..<8 { try useHelper() }
    let deadline = Date(timeIntervalSinceNow: 30)
    while try open() > least + 2, Date() < deadline { sched_yield() }
    #expect(try open() <= least + 2)
  }

  @Test("a client takes one of them, also while a call of it waits") func each() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon()
    let pid = try #require(sandbox.daemonPid)
    func open() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count }
    func watch() throws -> WireClient {
      let client = try sandbox.client()
      #expect(try client.call("Monitor", more: true).error == nil)
      return client
    }
    // The daemon keeps descriptors of the last few client processes, so count only from here on.
    var clients = try (0..<4).map { _ in try watch() }
    let before = try open()
    for _ in 0..<100 { clients.append(try watch()) }
    #expect(try open() == before + 100)
    withExtendedLifetime(clients) {}
  }

  @Test("with the lowest and as many clients as there may be, everything can be done") func full() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon(through: Self.limited(to: "64:64"))
    var clients: [WireClient] = []
    func fill() throws {
      // More clients than there is room for: later clients displace others, and each client left has a waiting call.
      for _ in 0..<20 {
        let client = try sandbox.client()
        #expect(try client.call("Monitor", more: true).error == nil)
        clients.append(client)
      }
    }
    try fill()
    let password = "correct horse battery\n"
    func vault(_ arguments: String..., stdin: String = password) throws {
      let outcome = try sandbox.run(arguments, stdin: Array(stdin.utf8))
      #expect(outcome.status == 0, "\(arguments): \(outcome)")
      try fill()
    }
    try vault("init", "--password-stdin", "--kdf-memory", "19m", "--kdf-passes", "2", stdin: password + password)
    try vault("unlock", "--password-stdin")
    try vault("set", "a", stdin: "value")
    try vault("get", "a")
    try vault("backup", sandbox.home + "/backup")
    try vault("rekey", "--password-stdin")
    try vault("verify")
    #expect(try sandbox.stopDaemon() == 0)
    try FileManager.default.removeItem(atPath: sandbox.store)
    try sandbox.startDaemon(through: Self.limited(to: "64:64"))
    try fill()
    try vault("restore", sandbox.home + "/backup", "--password-stdin")
    #expect(try sandbox.stopDaemon() == 0)
    #expect(!sandbox.daemonLog.contains("Too many open files"), "\(sandbox.daemonLog)")
  }

  @Test(
    "other users cannot use them up: few of those who are refused may stay to read why",
    .enabled(if: Root.isAtHand, "needs root to be another user"))
  func foreigners() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon(through: Self.limited(to: "64:64"))
    try sandbox.admitEveryone()
    // Each client reads the refusal up to the end of the stream. Bytes that the client then sends succeed as long as
    // the daemon keeps the connection open.
    let other = try OtherProcess(in: sandbox, uid: OtherProcess.nobody, gid: getgid())
    let clients = try (0..<30).map { _ in
      let client = try other.connect()
      client.send(frame: "no call")
      _ = client.receiveRest()
      return client
    }
    let kept = clients.count { $0.send([0x78]) == 1 }
    #expect(kept <= 4)
    #expect(try sandbox.client().call("Status").error == nil)
  }

  @Test("the daemon keeps nothing open that it was handed and not told of, and has all standard streams")
  func handedOver() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let file = try sandbox.write("", to: "lock")
    try sandbox.startDaemon(through: [
      "/bin/sh", "-c", "exec 7<\(file) <&- >&- 2>&-; exec \"$0\" \"$@\"", Sandbox.path(of: "vaultd"),
    ])
    let pid = try #require(sandbox.daemonPid)
    let folder = "/proc/\(pid)/fd"
    let open = try FileManager.default.contentsOfDirectory(atPath: folder).map { name in
      (name, (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")) ?? "")
    }
    #expect(!open.contains { $0.1 == file }, "\(open)")
    for (stream, path) in [("0", "/dev/full"), ("1", "/dev/null"), ("2", "/dev/null")] {
      #expect(open.first { $0.0 == stream }?.1 == path, "\(open)")
    }
    #expect(try sandbox.client().call("Status").error == nil)
  }
}
