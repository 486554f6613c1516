import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("What a daemon keeps of its starter") struct HardeningTests {
  private let password = "correct horse battery"

  private func limited(_ limits: String...) -> [String] {
    ["/usr/bin/prlimit"] + limits + [Sandbox.path(of: "vaultd")]
  }

  private func fileSize(_ sandbox: Sandbox) throws -> [Substring] {
    let pid = try #require(sandbox.daemonPid)
    let limits = try String(contentsOfFile: "/proc/\(pid)/limits", encoding: .utf8)
    let line = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max file size") })
    return Array(line.split(separator: " ").dropFirst(3).prefix(2))
  }

  @Test("no time zone: its log is in UTC, and a file that never answers holds nothing up") func timeZone() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let zone = sandbox.root + "/zone"
    unsafe mkfifo(zone, 0o600)
    try sandbox.startDaemon(
      environment: ["TZ": ":" + zone], through: ["/usr/bin/timeout", "30", Sandbox.path(of: "vaultd")])
    try sandbox.converse("Init", ["kdf_memory": 19 << 20, "kdf_passes": 2]) { _ in password }
    try sandbox.unlock(password)
    #expect(try sandbox.stopDaemon() == 0)
    #expect(sandbox.daemonLog.contains("+0000 info "), "\(sandbox.daemonLog)")
  }

  @Test("a service manager's limits, and no script's") func serviceManager() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon(through: limited("--fsize=9000000:10000000"))
    #expect(try fileSize(sandbox) == ["10000000", "10000000"])
    #expect(try sandbox.stopDaemon() == 0)
    try sandbox.startDaemon(
      environment: ["NOTIFY_SOCKET": sandbox.root + "/notify"], through: limited("--fsize=9000000:10000000"))
    #expect(try fileSize(sandbox) == ["9000000", "10000000"])
  }

  @Test("where files may grow no more, a value is refused and the daemon goes on") func fullFile() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon(through: limited("--fsize=400000:400000"))
    try sandbox.converse("Init", ["kdf_memory": 19 << 20, "kdf_passes": 2]) { _ in password }
    try sandbox.unlock(password)
    let client = try sandbox.client()
    #expect(try client.call("Set", ["name": "a", "value": "small"]).error == nil)
    let large = String(repeating: "x", count: 1_000_000)
    #expect(try client.call("Set", ["name": "b", "value": large]).error == "StorageFailed")
    #expect(try client.call("Get", ["name": "a"]).string("value") == "small")
  }
}
