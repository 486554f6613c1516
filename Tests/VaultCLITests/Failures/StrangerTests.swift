import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultCLI

/// A user of the machine's vault without any grant.
@Suite("A caller without a grant", .enabled(if: Root.isAtHand, "needs root to be another user"))
struct StrangerTests {
  private func sandbox() throws -> Sandbox {
    let sandbox = try Sandbox()
    let settings = try sandbox.write("", to: "vaultd.conf")
    unsafe chmod(settings, 0o600)
    try sandbox.startDaemon(arguments: [
      "--system", "--store", sandbox.store, "--socket", sandbox.socket, "--config", settings,
    ])
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    try sandbox.must(["grant", "user:65533", "a/*", "--can", "get,find"])
    let owner = try Terminal(sandbox, ["list"])
    #expect(try owner.wait() == 0 && owner.screen.contains("there are no items yet"), "\(owner.screen)")
    for path in [sandbox.root, sandbox.runtime, sandbox.runtime + "/vault", sandbox.root + "/config"] {
      unsafe chmod(path, 0o755)
    }
    unsafe chmod(sandbox.socket, 0o666)
    return sandbox
  }

  /// Returns the screen of a command that a user without a grant, or with one, runs on a terminal.
  private func screen(
    _ sandbox: Sandbox, _ arguments: [String], _ status: Int32 = 0, hasGrant: Bool = false
  ) throws -> String {
    let uid = hasGrant ? 65533 : 65534
    let words = ["--reuid=\(uid)", "--regid=\(uid)", "--clear-groups", Sandbox.path(of: "vault")] + arguments
    let terminal = try Terminal(sandbox, words + ["--socket", sandbox.socket], program: "/usr/bin/setpriv")
    #expect(try terminal.wait() == status, "\(terminal.screen)")
    return terminal.screen
  }

  @Test("is told how to ask, and not that there are no items") func told() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let way = "nothing here is granted to you; `vault get NAME --reason 'what for'` asks an administrator"
    for arguments in [["list"], ["list", "web"], ["find", "kind=note"]] {
      let screen = try screen(sandbox, arguments)
      #expect(screen.contains(way) && !screen.contains("no items yet"), "\(screen)")
    }
    #expect(try screen(sandbox, ["pick"], 77).contains(way))
    #expect(try screen(sandbox, ["get", "a"], 77).contains("give a reason with --reason TEXT"))
    // So is a caller whose grant has ended.
    let socket = ["--socket", sandbox.socket]
    try sandbox.must(["grant", "user:65534", "b/*", "--until", "2s"] + socket)
    while try sandbox.run(["can", "user:65534", "get", "b/x"] + socket).status == 0 {}
    #expect(try screen(sandbox, ["list"]).contains(way))
    // A caller with a grant learns what it may see.
    #expect(try screen(sandbox, ["find", "kind=note"], hasGrant: true).contains("nothing that you may see matches"))
    #expect(try screen(sandbox, ["pick"], 77, hasGrant: true).contains("there is nothing here that you may see"))
    #expect(try screen(sandbox, ["list"], hasGrant: true).contains("there is nothing here that you may see"))
  }
}
