import Foundation
import Logging
import Testing
import VaultTesting

@testable import VaultDaemon

@Suite("Reload") struct ReloadTests {
  private let password = "correct horse battery"

  private func names(_ reply: WireClient.Reply, _ key: String) -> [String]? { reply.parameters[key] as? [String] }

  @Test("takes new settings over, and names those that are in force and those that wait") func reload() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault(config: "idle = off\nmaximum-age = off")
    try sandbox.unlock(password)
    let client = try sandbox.client()
    #expect(try client.call("Status").integer("locks_at") == nil)
    try sandbox.configure("idle = 9m\nmaximum-age = off\nlog-level = debug")
    let reply = try client.call("Reload")
    #expect(reply.string("file") == sandbox.configuration && reply.parameters["missing"] as? Bool == false)
    #expect(names(reply, "changed") == ["idle"] && names(reply, "later") == ["log-level"], "\(reply)")
    #expect(try client.call("Status").integer("locks_at") != nil)
    // A setting that waits for the next start keeps waiting.
    let again = try client.call("Reload")
    #expect(names(again, "changed") == [] && names(again, "later") == ["log-level"], "\(again)")
  }

  @Test("names the line that is refused, and the old settings stay until the file is right") func refused() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault(config: "idle = off\nmaximum-age = off")
    try sandbox.unlock(password)
    let client = try sandbox.client()
    try sandbox.configure("trash = 7d\nidel = 5m")
    let refused = try client.call("Reload")
    #expect(refused.error == "Misconfigured")
    let line = "\(sandbox.configuration), line 2: unknown setting `idel`"
    #expect(refused.string("reason")?.contains(line) == true, "\(refused)")
    func warning() throws -> String? {
      let warnings = try client.call("Status").parameters["warnings"] as? [WireClient.Message] ?? []
      return warnings.first { $0["about"] as? String == "settings" }?["text"] as? String
    }
    #expect(try warning() == refused.string("reason"))
    #expect(try client.call("Status").integer("locks_at") == nil)
    try sandbox.configure("trash = 7d")
    #expect(names(try client.call("Reload"), "changed") == ["idle", "maximum-age", "trash"])
    #expect(try warning() == nil)
  }

  @Test("finds each setting that has changed, and no other", arguments: Configuration.keys)
  func finds(key: String) throws {
    let values = [
      "audit": "required", "audit-size": "32m", "hide-names": "true", "keep-across-sleep": "true",
      "boot-key": "/some/where", "tpm2-device": "device:/dev/tpm9", "keyring-bus-name": "org.example",
      "pam-service": "vault-x", "max-connections": "77", "max-requests-per-second": "77", "ssh-agent": "on",
      "log-level": "debug", "secret-service": "on", "secret-service-accessible": "always",
    ]
    let other = try Configuration(parsing: "\(key) = \(values[key] ?? "77s")")
    #expect(other.names(changedFrom: Configuration()) == [key])
    #expect(other.names(changedFrom: other) == [])
  }
}
