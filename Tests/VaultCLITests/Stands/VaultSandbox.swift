import Foundation
import Testing
import VaultTesting

/// The options for the cheapest allowed key derivation.
let floorOptions = ["--kdf-memory", "19m", "--kdf-passes", "2"]

/// The password of the vaults below.
let password = "correct horse battery"

extension Sandbox {
  /// Makes a sandbox with a vault, locked or unlocked, in which the item `web` has the value `hunter2`.
  static func withVault(unlocked: Bool) throws -> Sandbox {
    let sandbox = try Sandbox()
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    try sandbox.must(["set", "web"], stdin: "hunter2")
    if !unlocked { try sandbox.must(["lock"]) }
    return sandbox
  }

  /// Configures a PAM service that does not exist, so that `init` does not offer the machine's.
  func hidePAM() throws { try configure("pam-service = vault-test-none\n") }

  /// Runs `vault`, which must succeed, and returns its standard output.
  @discardableResult
  func must(_ arguments: [String], stdin: String = "") throws -> String {
    let outcome = try run(arguments, stdin: Array(stdin.utf8))
    try #require(outcome.status == 0, "vault \(arguments.joined(separator: " ")): \(outcome)")
    return outcome.output
  }

  /// Returns everything in the vault that an interrupted command could have changed.
  func everything() throws -> String {
    guard FileManager.default.fileExists(atPath: store + "/vault.db") else { return "no vault" }
    return try must(["slot", "list", "--json"]) + must(["list", "--json"]) + must(["history", "web", "--json"])
  }
}
