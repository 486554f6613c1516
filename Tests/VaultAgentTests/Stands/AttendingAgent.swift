import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultAgent

/// A complete agent on a terminal, with a vault of its own in which the item `web` has the value `hunter2`.
final class AttendingAgent {
  let sandbox: Sandbox
  let terminal: Terminal
  /// The vault's password.
  let password = AttendingAgent.word()

  /// Makes a random word that nothing else in memory holds.
  static func word() -> String {
    String((0..<32).map { _ in "abcdefghjkmnpqrstuvwxyz23456789".randomElement() ?? "x" })
  }

  /// - Parameter shell: a line for sh that starts the agent: `$0` is the agent's program and `$@` its options.
  init(_ options: [String], shell: String? = nil) throws {
    sandbox = try Sandbox()
    _ = try sandbox.makeVault(password: password, config: "idle = off\npam-service = vault-test-none")
    try sandbox.unlock(password)
    guard try sandbox.client().call("Set", ["name": "web", "value": "hunter2"]).error == nil else {
      throw SandboxError("Set")
    }
    let agent = Sandbox.path(of: "vault-agent")
    terminal =
      if let shell {
        try Terminal(sandbox, ["-c", shell, agent] + options, program: "/bin/sh")
      } else {
        try Terminal(sandbox, options, program: agent)
      }
    try lock()
    try attended()
  }

  deinit { sandbox.close() }

  func lock() throws {
    guard try sandbox.client().call("Lock").error == nil else { throw SandboxError("Lock") }
  }

  /// Waits until the daemon reports an attending agent.
  func attended() throws {
    try wait(for: "the agent") {
      try (sandbox.client().call("Status").parameters["agents"] as? [Any] ?? []).isEmpty == false
    }
  }

  /// Makes a connection without a terminal that calls `Get` for `web` with `ask` and waits for the reply.
  func read(reason: String? = nil) throws -> WireClient {
    let client = try sandbox.client()
    var message: [String: Any] = ["name": "web", "ask": true]
    if let reason { message["reason"] = reason }
    let call: [String: Any] = ["method": "io.vaultd.Vault.Get", "parameters": message]
    _ = client.send(frame: String(decoding: try JSONSerialization.data(withJSONObject: call), as: UTF8.self))
    return client
  }
}
