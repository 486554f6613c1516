import Foundation
import Glibc
import Testing
import VaultProcess
import VaultTesting

@testable import VaultCLI

@Suite(
  "A folder of another user in the environment, as after `sudo -E`", .enabled(if: Root.isAtHand, "gives folders away"))
struct ForeignFolderTests {
  private static let other: UInt32 = 4711

  /// Makes an empty folder of another user's, and returns its path.
  private func foreign(_ sandbox: Sandbox, _ name: String = "theirs") throws -> String {
    let path = sandbox.root + "/" + name
    try #require(unsafe mkdir(path, 0o700) == 0 && chown(path, Self.other, Self.other) == 0)
    return path
  }

  @Test(
    "is refused by the client and by the daemon before anything is made in it",
    arguments: ["XDG_RUNTIME_DIR", "XDG_DATA_HOME", "HOME"])
  func refused(variable: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let path = try foreign(sandbox)
    var environment: [String: String?] = [variable: path]
    if variable == "HOME" { environment["XDG_DATA_HOME"] = .some(nil) }
    let event = "\(variable) (\(path)) belongs to uid 4711, and you are \(geteuid() == 0 ? "root" : "uid")"
    for command in ["list", "unlock", "init"] {
      let outcome = try sandbox.run([command], environment: environment)
      #expect(outcome.status == 78, "\(outcome)")
      #expect(outcome.errors.contains("\(event): ") || outcome.errors.contains("\(event); run this as"), "\(outcome)")
    }
    let own = try sandbox.run([], program: Sandbox.path(of: "vaultd"), environment: environment)
    #expect(own.status == 78 && own.errors.contains(event), "\(own)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
    let doctor = try sandbox.run(["doctor"], environment: environment)
    let faults = doctor.output.split(separator: "\n").filter { $0.hasPrefix("fail") }
    #expect(doctor.status == 78 && faults.count == 1 && faults[0].contains(event), "\(doctor)")
    #expect(!doctor.output.contains("chown"), "\(doctor)")
  }

  @Test("is nothing to a socket that was named, and not if it belongs to root") func exceptions() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let path = try foreign(sandbox)
    func find(_ environment: [String: String], _ user: UInt32) -> ForeignFolder? {
      ForeignFolder.first(for: ForeignFolder.Purpose.allCases, user: user) { environment[$0] }
    }
    #expect(find(["HOME": path], 0)?.owner == Self.other)
    #expect(find(["HOME": path], Self.other) == nil && find(["HOME": sandbox.home], Self.other) == nil)
    // A folder that is not there yet belongs to the owner of the one above it.
    #expect(find(["XDG_DATA_HOME": path + "/a/b", "HOME": sandbox.home], 0)?.variable == "XDG_DATA_HOME")
    #expect(find(["XDG_RUNTIME_DIR": "relative", "HOME": "relative"], 0) == nil)
    #expect(find(["XDG_CONFIG_HOME": path, "HOME": sandbox.home], 0) == nil)
    try #require(unsafe mkdir(path + "/vault", 0o700) == 0)
    #expect(find(["XDG_DATA_HOME": path, "HOME": sandbox.home], 0) == nil, "root's own store")
    let named = try sandbox.run(["list", "--socket", sandbox.root + "/none"], environment: ["HOME": path])
    #expect(named.status == 69, "\(named)")
  }

  @Test("the sentences name the owner and the ways out") func sentences() {
    let folder = ForeignFolder(variable: "XDG_RUNTIME_DIR", path: "/run/user/7", owner: 7, user: 0)
    #expect(folder.event("ana") == "XDG_RUNTIME_DIR (/run/user/7) belongs to ana (uid 7), and you are root")
    #expect(folder.remedy("ana") == "run this as ana, or with --system")
    let users = ForeignFolder(variable: "HOME", path: "/h", owner: 7, user: 8)
    #expect(users.event(nil) == "HOME (/h) belongs to uid 7, and you are uid 8")
    #expect(users.remedy(nil) == "run this as that user, or set HOME to a folder of your own")
  }
}
