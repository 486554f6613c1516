import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("A rekey while somebody floods the daemon") struct RekeyFloodTests {
  private static let password = "correct horse battery"

  @Test(
    """
    ends soon, and the vault is whole after a restart, though another user without any right sends searches all the \
    while
    """,
    .enabled(if: Root.isAtHand, "needs root to be another user"))
  func flooded() throws {
    for isFlooded in [false, true] {
      let sandbox = try Sandbox()
      defer { sandbox.close() }
      func start() throws {
        try sandbox.startDaemon(arguments: [
          "--system", "--store", sandbox.store, "--socket", sandbox.socket, "--config", "/dev/null",
        ])
      }
      func unlock() throws { try sandbox.must(["unlock", "--password-stdin"], stdin: Self.password + "\n") }
      try start()
      let floor = ["--kdf-memory", "19m", "--kdf-passes", "2"]
      try sandbox.must(["init", "--password-stdin"] + floor, stdin: Self.password + "\n")
      for number in 0..<20 { try sandbox.must(["set", "item/\(number)"], stdin: "value \(number)") }
      // A restart begins a new chain of the audit log with the next entry; the rekey ends before that entry is written.
      try sandbox.stopDaemon()
      try start()
      try unlock()
      // The socket is open to the other user until that user has connected.
      try sandbox.admitEveryone()
      let flood = isFlooded ? try Self.flood(sandbox) : nil
      defer { flood?.end() }
      for (path, mode) in [(sandbox.socket, 0o600), (sandbox.runtime + "/vault", 0o700)] as [(String, mode_t)] {
        unsafe chmod(path, mode)
      }
      let outcome = try sandbox.run(
        ["--socket", sandbox.socket, "rekey", "--password-stdin"], stdin: Array((Self.password + "\n").utf8),
        seconds: 300)
      if let flood { #expect(flood.end() > 0) }
      #expect(outcome.status == 0, "\(outcome)")
      try sandbox.must(["backup", sandbox.root + "/copy"])
      try sandbox.stopDaemon()
      try start()
      try unlock()
      try sandbox.must(["verify"])
      try sandbox.must(["audit", "--verify"])
      try sandbox.must(["set", "new"], stdin: "value")
      #expect(try sandbox.must(["get", "item/7"]) == "value 7")

      let other = try Sandbox()
      defer { other.close() }
      try other.startDaemon(config: "idle = off")
      try other.must(["restore", "--password-stdin", sandbox.root + "/copy"], stdin: Self.password + "\n")
      try other.must(["unlock", "--password-stdin"], stdin: Self.password + "\n")
      try other.must(["verify"])
    }
  }

  /// Another user's searches of 950 bytes over ten connections, each for something else.
  private static func flood(_ sandbox: Sandbox) throws -> Flood {
    let rest = String(repeating: "x", count: 940)
    return try Flood(of: OtherProcess(in: sandbox, uid: OtherProcess.nobody), connections: 10) { connection in
      (0..<100).flatMap { number in
        let query = "name~\(connection * 100 + number)\(rest)"
        return Array(#"{"method":"io.vaultd.Vault.Find","parameters":{"query":"\#(query)"}}"#.utf8) + [0]
      }
    }
  }
}
