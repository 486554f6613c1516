import Foundation
import Glibc
import Testing
import VaultCore
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("The file that a process runs") struct ProgramTests {
  private static func run<R>(size: off_t, _ body: (_ pid: pid_t, _ path: String) throws -> R) throws -> R {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let path = sandbox.home + "/program"
    try FileManager.default.copyItem(atPath: "/bin/sleep", toPath: path)
    try #require(unsafe truncate(path, size) == 0)
    var pid: pid_t = 0
    let arguments = unsafe [strdup(path), strdup("1000"), nil]
    defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
    try #require(unsafe posix_spawn(&pid, path, nil, nil, arguments, [nil]) == 0)
    defer {
      kill(pid, SIGKILL)
      waitpid(pid, nil, 0)
    }
    return try body(pid, path)
  }

  @Test("has the digest of all its bytes, which is not computed again") func digest() throws {
    try Self.run(size: 5 << 20) { pid, path in
      let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
      defer { close(file) }
      let identity = try #require(FileStamp(of: file))
      let digest = try #require(SHA256.hex(ofFile: file))
      #expect(Program.read(pid, known: [:], takesLong: true) == .digest(digest, identity))
      #expect(Program.read(pid, known: [identity: "known"]) { false } == .digest("known", identity))
      // An upgrade puts another file in its place.
      unsafe unlink(path)
      guard case .digest(let later, _) = Program.read(pid, known: [:], takesLong: true) else {
        throw SandboxError("no digest")
      }
      #expect(later == digest)
    }
  }

  @Test("has no certain digest if it changes while it is read, or if that takes too long") func changes() throws {
    try Self.run(size: 1 << 20) { pid, path in
      var mode: mode_t = 0o700
      #expect(
        Program.read(pid, known: [:], takesLong: true) {
          mode ^= 0o020
          return unsafe chmod(path, mode) == 0
        } == .uncertain)
      #expect(Program.read(pid, known: [:], takesLong: true) { false } == .uncertain)
    }
  }

  @Test("has no digest if it is longer than any that a grant names") func long() throws {
    let reading = try Self.run(size: 256 << 20 + 1) { pid, _ in Program.read(pid, known: [:], takesLong: true) { false }
    }
    #expect(reading == .none)
  }
}
