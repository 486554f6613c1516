import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultCLI

@Suite("What `vault doctor` finds") struct DoctorTests {
  @Test("a file of another user's is a failure, whatever its mode is") func owner() throws {
    let folder = try ScratchFolder.make()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let own = Diagnosis.permissions("store", folder, is: .directory, owner: geteuid(), mode: 0o700)
    #expect(own?.level == .ok)
    let other = Diagnosis.permissions("store", folder, is: .directory, owner: geteuid() + 1, mode: 0o700)
    #expect(other?.level == .fail && other?.text.contains("belongs to uid \(geteuid()), not \(geteuid() + 1)") == true)
  }

  @Test("settings of another user's are a failure, root's are not", .enabled(if: Root.isAtHand, "gives a file away"))
  func settings() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.configure("idle = 5m\n")
    try sandbox.must(["doctor"])
    try #require(unsafe chown(sandbox.configuration, 65534, 65534) == 0)
    let outcome = try sandbox.run("doctor")
    #expect(outcome.status == 78, "\(outcome)")
    #expect(outcome.output.contains("fail  settings: \(sandbox.configuration) belongs to uid 65534; chown it to root"))
  }

  @Test(
    "each file of the store that others may read is a failure", arguments: ["vault.db", "vault.db-wal", "vault.lock"])
  func modes(name: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let path = sandbox.store + "/" + name
    try #require(unsafe chmod(path, 0o640) == 0)
    let outcome = try sandbox.run("doctor")
    #expect(outcome.status == 78, "\(outcome)")
    #expect(
      outcome.output.contains("fail  store: \(path) has mode 640, which is open to others; chmod 600 \(path)\n"),
      "\(outcome)")
  }

  @Test("a daemon that hangs up is a failure, and not one that does not run")
  func hangsUp() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try #require(unsafe mkdir(sandbox.runtime + "/vault", 0o700) == 0)
    let daemon = try Activation(sandbox.socket, in: sandbox, command: ["/bin/true"])
    let outcome = try sandbox.run("doctor")
    #expect(outcome.status == 78 && outcome.output.contains("fail  daemon: the daemon went away"), "\(outcome)")
    // The client cannot know which keys that daemon still holds.
    let lock = try sandbox.run("lock", "--json")
    #expect(lock.status == 69 && lock.output.isEmpty && lock.errors.contains("the daemon went away"), "\(lock)")
    withExtendedLifetime(daemon) {}
  }

  @Test("a daemon that may write core files is a failure", arguments: [("8", Diagnosis.Level.fail), ("0", .ok)])
  func coreFiles(limit: String, level: Diagnosis.Level) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let process = try Terminal(
      sandbox, ["-c", "ulimit -S -c \(limit) && echo ready && exec sleep 1000"], program: "/bin/bash")
    try process.expect("ready")
    #expect(CoreLimit.diagnoses(pid: Int(process.pid)).map(\.level) == [level])
  }
}
