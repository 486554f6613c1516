import Foundation
import Testing
import VaultTesting

/// A deletion in several parts, of which the disk has room for some. The daemon is a script that takes one item at a
/// time and has no room for the trash once `a` is there.
@Suite("Removing in parts") struct RemovingTests {
  /// - Parameter last: the reply to the deletion of `c` for good.
  private func daemon(in sandbox: Sandbox, last: String) throws -> Activation {
    try sandbox.run("-m", "700", sandbox.runtime + "/vault", program: "/bin/mkdir")
    let full =
      #"{"error":"io.vaultd.Vault.StorageFailed","parameters":{"reason":"cannot write vault.db: disk full"}}"#
    let script = """
      #!/bin/bash
      say() { printf '%s\\0' "$1"; }
      while IFS= read -r -d '' call; do
        case $call in
        *'["a"]'*) say '{"parameters":{"kept":2592000}}' ;;
        *'["b"]'*'"now":true'*) say '{"parameters":{}}' ;;
        *'["c"]'*'"now":true'*) say '\(last)' ;;
        *'["b"]'* | *'["c"]'*) say '\(full)' ;;
        *) say '{"error":"io.vaultd.Vault.TooMuch","parameters":{"reason":"too much"}}' ;;
        esac
      done
      """
    let path = sandbox.root + "/daemon"
    try sandbox.run("-c", "cat >\(path); chmod 755 \(path)", program: "/bin/sh", stdin: script)
    return try Activation(sandbox.socket, in: sandbox, command: [path])
  }

  /// Removes `a`, `b` and `c`, and agrees to the removal for good; returns all that the terminal showed and the exit
  /// code.
  private func remove(_ more: String..., last: String = #"{"parameters":{}}"#) throws -> (screen: String, exit: Int32) {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let daemon = try daemon(in: sandbox, last: last)
    defer { withExtendedLifetime(daemon) {} }
    let terminal = try Terminal(sandbox, ["rm", "--yes", "a", "b", "c"] + more)
    // The question is longer than the terminal is wide.
    try terminal.expect("cannot write vault.db: disk full (1 deleted before that). Delete for good instead, which")
    try terminal.expect("[y/N] ")
    terminal.type("y")
    let exit = try terminal.wait()
    return (terminal.screen, exit)
  }

  @Test("what is in the trash and what is gone are told apart") func divided() throws {
    let (screen, exit) = try remove()
    #expect(exit == 0)
    #expect(screen.contains("deleted 3 items, 2 of them for good; `vault trash` lists what can be restored within "))
    let json = try remove("--json")
    #expect(json.screen.contains(#"{"deleted":["a","b","c"],"kept":2592000,"for_good":["b","c"]}"#), "\(json)")
  }

  @Test("an error after that counts both") func failed() throws {
    let (screen, exit) = try remove(last: #"{"error":"io.vaultd.Vault.NoSuchItem","parameters":{"name":"c"}}"#)
    #expect(exit == 66)
    #expect(screen.contains("no item `c` (2 deleted before that); "), "\(screen)")
  }
}
