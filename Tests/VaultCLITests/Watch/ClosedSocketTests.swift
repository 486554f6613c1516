import Foundation
import Glibc
import Testing
import VaultTesting

/// Watchers of another user at a machine's daemon that makes its socket for its own user alone, until somebody opens
/// the socket to others (vaultd(8), The system vault).
@Suite("A watcher at a socket that is closed to it", .enabled(if: Root.isAtHand, "needs root to be another user"))
struct ClosedSocketTests {
  private static let nobody: UInt32 = 65534

  /// Makes a machine's vault with an item `a` for the user nobody, and a folder `kept` of that user with a template.
  private func sandbox() throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.write("idle = off\npam-service = vault-test-none\n", to: "vaultd.conf")
    unsafe chmod(sandbox.home + "/vaultd.conf", 0o600)
    try start(sandbox)
    let root = ["--socket", sandbox.socket]
    try sandbox.must(["init", "--password-stdin"] + floorOptions + root, stdin: password + "\n")
    try sandbox.must(["set", "a"] + root, stdin: "1")
    try sandbox.must(["grant", "user:\(Self.nobody)", "a", "--can", "get,find,watch"] + root)
    let kept = sandbox.root + "/kept"
    try #require(unsafe mkdir(kept, 0o700) == 0 && chown(kept, Self.nobody, Self.nobody) == 0)
    try Data(#"{{ vault "a" }}"#.utf8).write(to: URL(fileURLWithPath: kept + "/t"))
    unsafe chmod(kept + "/t", 0o644)
    for path in [sandbox.root, sandbox.runtime] { unsafe chmod(path, 0o755) }
    return sandbox
  }

  private func start(_ sandbox: Sandbox) throws {
    try sandbox.startDaemon(arguments: [
      "--system", "--store", sandbox.store, "--socket", sandbox.socket, "--config", sandbox.home + "/vaultd.conf",
    ])
  }

  private func open(_ sandbox: Sandbox) {
    unsafe chmod(sandbox.runtime + "/vault", 0o755)
    unsafe chmod(sandbox.socket, 0o666)
  }

  private static func words(_ sandbox: Sandbox, _ arguments: [String]) -> [String] {
    let user = ["--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups", Sandbox.path(of: "vault")]
    return user + arguments.map { $0.replacing("KEPT", with: sandbox.root + "/kept") } + ["--socket", sandbox.socket]
  }

  @Test(
    "waits for it to be opened when it was connected before",
    arguments: [
      (["watch"], "unlocked", "missed"), (["watch", "a", "--now", "--exec", "echo changed"], "changed", "changed"),
      (["inject", "-i", "KEPT/t", "-o", "KEPT/out", "--watch"], "wrote", "wrote"),
    ])
  func waits(arguments: [String], first: String, again: String) throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    open(sandbox)
    let trace = sandbox.root + "/trace"
    let terminal = try Terminal(
      sandbox,
      ["-f", "-qq", "-e", "trace=connect", "-o", trace, "/usr/bin/setpriv"] + Self.words(sandbox, arguments),
      program: "/usr/bin/strace")
    try terminal.expect(first)
    func refusals() throws -> Int {
      try String(contentsOfFile: trace, encoding: .utf8).components(separatedBy: "= -1 EACCES").count
    }
    let before = try refusals()
    try sandbox.stopDaemon()
    try start(sandbox)
    try wait(for: "a connect that is refused") { try refusals() > before }
    open(sandbox)
    let root = ["--socket", sandbox.socket]
    try sandbox.must(["unlock", "--password-stdin"] + root, stdin: password + "\n")
    try sandbox.must(["set", "a", "--update"] + root, stdin: "2")
    try terminal.expect(again)
    #expect(!terminal.screen.contains("doctor"), "\(terminal.screen)")
  }

  @Test(
    "ends at once when it was never connected",
    arguments: [
      ["watch"], ["watch", "a", "--exec", "true"], ["inject", "-i", "KEPT/t", "-o", "KEPT/out", "--watch"],
    ])
  func ends(arguments: [String]) throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let outcome = try sandbox.run(Self.words(sandbox, arguments), program: "/usr/bin/setpriv")
    #expect(outcome.status == 77 && outcome.errors.contains("Permission denied"), "\(outcome)")
  }
}
