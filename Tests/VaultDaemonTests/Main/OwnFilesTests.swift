import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

private let password = "correct horse battery"

@Suite("Files that decide what the daemon does") struct OwnFilesTests {
  /// A kind of damage that another user, or a mistake, may do to a file.
  enum Damage: String, CaseIterable {
    case groupCanWrite, othersCanWrite, otherOwner, pipe, link, folder, long, binary

    /// The daemon's message about the damage, behind the file's path.
    var message: String {
      switch self {
      case .groupCanWrite, .othersCanWrite: "can be written by others; `chmod go-w` mends that"
      case .otherOwner: "belongs to uid 4711; `chown` it to root or to uid \(geteuid())"
      case .pipe, .folder: "is not a regular file; remove it"
      case .link: "is a symbolic link; put the file itself there"
      case .long, .binary: "is not UTF-8 text of at most 65536 bytes; correct it"
      }
    }

    func apply(to path: String, _ content: String) throws {
      unsafe unlink(path)
      let folder = (path as NSString).deletingLastPathComponent
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      func write(_ text: Data, mode: mode_t = 0o600) throws {
        try text.write(to: URL(fileURLWithPath: path))
        unsafe chmod(path, mode)
      }
      switch self {
      case .groupCanWrite: try write(Data(content.utf8), mode: 0o620)
      case .othersCanWrite: try write(Data(content.utf8), mode: 0o602)
      case .otherOwner:
        try write(Data(content.utf8))
        guard unsafe chown(path, 4711, 4711) == 0 else { throw SandboxError("chown: \(errno)") }
      case .pipe: unsafe mkfifo(path, 0o600)
      case .link:
        try Data(content.utf8).write(to: URL(fileURLWithPath: path + ".target"))
        unsafe symlink(path + ".target", path)
      case .folder: unsafe mkdir(path, 0o700)
      case .long: try write(Data(repeating: 10, count: 65_537))
      case .binary: try write(Data([0xff, 0xfe, 10]))
      }
    }

    static var possible: [Damage] { allCases.filter { $0 != .otherOwner || TestUser.canBeMade } }
  }

  @Test("the settings are not believed, which is said with the cure", arguments: Damage.possible)
  func settings(_ damage: Damage) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon(config: "idle = off\n")
    try damage.apply(to: sandbox.configuration, "idle = 1s\n")
    try sandbox.signalDaemon(SIGHUP)
    let sentence = "\(sandbox.configuration) \(damage.message)"
    // The same daemon keeps running with its earlier settings.
    while !sandbox.daemonLog.contains("settings unchanged: \(sentence)") {
      #expect(try sandbox.client().call("Status").error == nil)
    }
    try sandbox.stopDaemon()
    let refused = try sandbox.run(program: "vaultd")
    #expect(refused.status == 78)
    #expect(refused.errors == "vaultd: \(sentence)\n")
  }

  @Test("settings of root, and none at all by way of /dev/null, are read") func accepted() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.startDaemon(arguments: ["--config", "/dev/null"])
    #expect(try sandbox.client().call("Status").error == nil)
  }

  @Test(
    "failed attempts that are not believed forgive nobody, and make everyone wait a minute", arguments: Damage.possible)
  func backoff(_ damage: Damage) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault()
    try sandbox.stopDaemon()
    let path = sandbox.store + "/backoff"
    try damage.apply(to: path, "")
    try sandbox.startDaemon()
    let reply = try sandbox.unlock(password)
    #expect(reply?.error == "BackingOff")
    #expect((1...60_000).contains(reply?.integer("retry_after_ms") ?? 0))
    #expect(sandbox.daemonLog.contains("everyone waits a minute: \(path) \(damage.message)"))
  }

  @Test("each kind of file has the modes that let somebody else in, and none is left open") func modes() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let path = try sandbox.write("content", to: "file")
    let all: [mode_t] = [0o40, 0o20, 0o10, 0o4, 0o2, 0o1]
    for (access, refused) in [
      (OwnFile.Kind.writtenByUs, [0o20, 0o2]), (.ours, all), (.credential, [0o20, 0o4, 0o2, 0o1]),
    ] as [(OwnFile.Kind, [mode_t])] {
      for mode in all {
        unsafe chmod(path, 0o600 | mode)
        var isRefused = false
        do throws(OwnFile.Problem) { _ = try OwnFile.read(path, access) { _, size in size } } catch {
          if case .untrusted = error { isRefused = true }
        }
        #expect(isRefused == refused.contains(mode), "\(access) \(mode)")
      }
    }
    // The file is closed again, whether it was read or refused.
    let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)) == path
    }
    #expect(open == [])
  }

  @Test("what a killed daemon left half written keeps no failed attempt from being kept") func leftOver()
    throws
  {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault()
    try Data("half".utf8).write(to: URL(fileURLWithPath: sandbox.store + "/backoff.new"))
    #expect(try sandbox.unlock("wrong")?.error == "AuthenticationFailed")
    let kept = try String(contentsOfFile: sandbox.store + "/backoff", encoding: .utf8)
    #expect(kept.hasPrefix("\(geteuid()) password 1 "), "\(kept)")
    #expect(!FileManager.default.fileExists(atPath: sandbox.store + "/backoff.new"))
  }

  @Test("a count beyond all numbers ends no daemon") func absurd() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault()
    try sandbox.stopDaemon()
    let boot = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
      .trimmingCharacters(in: .newlines)
    let path = sandbox.store + "/backoff"
    try Data("\(geteuid()) password \(Int.max) \(boot) \(Int64.min)\n".utf8).write(to: URL(fileURLWithPath: path))
    unsafe chmod(path, 0o600)
    try sandbox.startDaemon()
    let wrong = try sandbox.unlock("wrong")
    #expect(wrong?.error == "AuthenticationFailed")
    #expect(wrong?.integer("retry_after_ms") == 60_000)
    #expect(try sandbox.client().call("Status").error == nil)
  }
}
