import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultCLI

@Suite("A daemon that is killed right after its answer, where the audit log is required") struct KilledAuditTests {
  private struct Call {
    let method: String
    let parameters: WireClient.Message
    /// The end of the call's entry in the audit log: action, outcome and item.
    let entry: String
    /// The error of the call's reply; nil for none.
    var error: String?
  }

  private static let data = Data("message".utf8).base64EncodedString()
  private static var calls: [Call] {
    [
      Call(method: "Get", parameters: ["name": "a"], entry: "get ok a"),
      Call(method: "Get", parameters: ["name": "none"], entry: "get missing none", error: "NoSuchItem"),
      Call(method: "Set", parameters: ["name": "new", "value": "v"], entry: "set ok new"),
      Call(method: "Show", parameters: ["name": "a"], entry: "find ok a"),
      Call(method: "Sign", parameters: ["name": "key", "data": data], entry: "use ok key"),
      Call(method: "Move", parameters: ["from": "new", "to": "moved"], entry: "move ok moved"),
      Call(method: "Delete", parameters: ["names": ["moved"]], entry: "delete ok moved"),
      Call(method: "Undelete", parameters: ["name": "moved"], entry: "set ok moved"),
      Call(method: "SetMany", parameters: ["items": [["name": "many", "value": "v"]]], entry: "set ok many"),
      Call(method: "Copy", parameters: ["from": "a", "to": "copy"], entry: "set ok copy"),
      Call(method: "RestoreVersion", parameters: ["name": "a", "version": 1], entry: "set ok a"),
      Call(method: "Deposit", parameters: ["name": "left", "value": "v"], entry: "deposit ok left"),
      Call(method: "RevokeToken", parameters: ["name": "tokens", "subject": "lamp"], entry: "use ok tokens"),
      Call(method: "Delete", parameters: ["names": ["copy"]], entry: "delete ok copy"),
      Call(method: "EmptyTrash", parameters: [:], entry: "delete ok"),
      Call(method: "Get", parameters: ["name": "a", "version": 9], entry: "get missing a", error: "NoSuchVersion"),
    ]
  }

  /// Returns the action, outcome and item of each entry of the audit log.
  private func told(_ sandbox: Sandbox) throws -> [String] {
    try sandbox.must(["audit", "--json"]).split(separator: "\n").compactMap { line in
      let entry = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
      return ["action", "outcome", "item"].compactMap { entry[$0] as? String }.joined(separator: " ")
    }
  }

  @Test("has lost no change of the slots in any state of the vault, nor its entry") func slots() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    _ = try sandbox.makeVault(password: password, config: "idle = off\naudit = required")
    func slots() throws -> [Int] {
      try sandbox.must(["slot", "list", "--json"]).split(separator: "\n").compactMap { line in
        (try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["id"] as? Int
      }
    }
    for state in ["cold", "locked", "unlocked"] {
      if state != "cold" { try sandbox.unlock(password) }
      if state == "locked" { try sandbox.must(["lock"]) }
      let before = try slots()
      try sandbox.must(["slot", "add", "recovery", "--password-stdin"], stdin: password + "\n")
      try sandbox.stopDaemon(signal: SIGKILL)
      try sandbox.startDaemon()
      let added = try slots()
      #expect(added.count == before.count + 1, "\(state)")
      try sandbox.must(["slot", "remove", "\(added.last ?? 0)", "--password-stdin"], stdin: password + "\n")
      try sandbox.stopDaemon(signal: SIGKILL)
      try sandbox.startDaemon()
      #expect(try slots() == before, "\(state)")
      try sandbox.unlock(password)
      let told = try told(sandbox).filter { $0.hasPrefix("slot ") }
      #expect(told.suffix(2).map { $0.hasPrefix("slot ok slot ") } == [true, true], "\(state): \(told)")
      try sandbox.stopDaemon(signal: SIGKILL)
      try sandbox.startDaemon()
    }
  }

  @Test("has lost the entry of no call that it had answered") func killed() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    _ = try sandbox.makeVault(password: password, config: "idle = off\naudit = required")
    try sandbox.unlock(password)
    try sandbox.must(["set", "a"], stdin: "value")
    try sandbox.must(["set", "key", "--use", "sign", "--generate", "ed25519"])
    try sandbox.must(["set", "tokens", "--use", "jwt", "--generate", "hmac256"])
    for call in Self.calls {
      let reply = try sandbox.client().call(call.method, call.parameters)
      try sandbox.stopDaemon(signal: SIGKILL)
      #expect(reply.error == call.error, "\(call.entry): \(reply)")
      try sandbox.startDaemon()
      try sandbox.unlock(password)
      let told = try told(sandbox)
      let unlock = try #require(told.lastIndex { $0.hasPrefix("unlock ") })
      #expect(told[..<unlock].last == call.entry, "\(told.suffix(5))")
    }
  }
}
