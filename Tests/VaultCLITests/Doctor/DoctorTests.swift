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

  @Test("a backup is missed where there is none, and after thirty days") func backup() {
    let now: Int64 = 1_800_000_000
    func level(_ time: Int64) -> Diagnosis.Level { BackupAge(time, now: now).diagnosis.level }
    #expect(level(now - 30 * 86_400) == .ok && level(now - 31 * 86_400) == .warn && level(0) == .warn)
    #expect(BackupAge(now - 31 * 86_400, now: now).diagnosis.text == "the last one is 31 d old")
  }

  @Test("the socket of the machine's vault is for everyone")
  func systemSocket() {
    let path = "/run/vault/socket"
    func found(_ state: FileState) -> Diagnosis? { Doctor.openness(state, path) }
    let closed = found(.there(.socket, owner: 4711, mode: 0o700, modified: 0))
    #expect(closed?.level == .warn && closed?.fix?.contains("chmod 666 \(path)") == true)
    #expect(found(.there(.socket, owner: 4711, mode: 0o666, modified: 0))?.level == .ok)
    #expect(found(.hidden(EACCES))?.fix?.contains("chmod 755 /run/vault") == true)
    #expect(found(.missing) == nil)
  }

  @Test("the holder of a lock is found by the file's number, and among equal numbers by the device")
  func heldLocks() {
    let text = """
      1: POSIX  ADVISORY  WRITE 10 fe:00:77 0 EOF
      2: FLOCK  ADVISORY  READ  11 fe:00:77 0 EOF
      3: FLOCK  ADVISORY  WRITE 12 fe:00:78 0 EOF
      3: -> FLOCK  ADVISORY  WRITE 13 fe:00:77 0 EOF
      4: FLOCK  ADVISORY  WRITE 14 00:1b:79 0 EOF
      5: FLOCK  ADVISORY  WRITE 15 fe:00:79 0 EOF
      6: FLOCK  ADVISORY  WRITE 0 fe:00:80 0 EOF

      """
    func holder(_ file: UInt, _ major: UInt32 = 254, _ minor: UInt32 = 0) -> pid_t? {
      HeldLocks.holder(of: file, on: (major, minor), in: text)
    }
    #expect(holder(77) == nil && holder(80) == nil && holder(81) == nil)
    // Some file systems name another device than stat(2).
    #expect(holder(78) == 12 && holder(78, 0, 99) == 12)
    #expect(holder(79) == 15 && holder(79, 0, 27) == 14 && holder(79, 1, 1) == nil)
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
