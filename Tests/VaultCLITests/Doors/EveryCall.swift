import Foundation
import Glibc
import VaultTesting

/// Calls of another user, each over a connection of its own, and all their replies.
final class EveryCall {
  struct Answer {
    let method: String
    let parameters: String
    let text: String
  }

  private let caller: OtherProcess
  private(set) var answers: [Answer] = []

  init(_ sandbox: Sandbox) throws { caller = try OtherProcess(in: sandbox, uid: OtherProcess.nobody, gid: getgid()) }

  @discardableResult
  private func ask(
    _ name: String, _ parameters: WireClient.Message = [:], more: Bool = false, upgrade: Bool = false
  ) throws -> [UInt8] {
    let method = name.contains(".") ? name : "io.vaultd.Vault." + name
    let client = try caller.connect()
    client.limit(seconds: 2)
    try client.begin(method, parameters, more: more, upgrade: upgrade)
    client.finishSending()
    let bytes = client.receiveRest()
    answers.append(Answer(method: method, parameters: "\(parameters)", text: String(decoding: bytes, as: UTF8.self)))
    return bytes
  }

  /// Calls every method with every parameter that could lead to the value of a key.
  func askEverything(_ names: [String]) throws {
    try ask("org.varlink.service.GetInfo")
    try ask("org.varlink.service.GetInterfaceDescription", ["interface": "io.vaultd.Vault"])
    for method in [
      "Status", "Lock", "ListSlots", "MarkStale", "ConfirmGrants", "RepairClock", "RepairAudit", "Reload", "Deposits",
      "Find", "Attributes", "Audit", "SecretService",
    ] {
      try ask(method)
    }
    for method in [
      "Init", "Unlock", "ChangePassword", "Verify", "Salvage", "Rekey", "Requests", "Monitor", "Children", "Grants",
      "Audit", "EmptyTrash", "AddSlot", "RemoveSlot", "Authenticate", "Backup", "Restore",
    ] {
      let given: [String: WireClient.Message] = ["AddSlot": ["kind": "password"], "RemoveSlot": ["id": 1]]
      for (more, upgrade) in [(false, false), (true, false), (false, true)] {
        try ask(method, given[method] ?? [:], more: more, upgrade: upgrade)
      }
    }
    try ask("JoinBus", ["address": "unix:path=/none"])
    try ask("ImportCollection", ["label": "l", "source": "/s"])
    try ask("Export", ["to": "nowhere", "items": 0])
    try ask("BeginImport", ["from": "nowhere", "items": 0])
    try ask(
      "ImportItems",
      [
        "items": [
          ["collection": "login", "source": "/s", "label": "l", "content_type": "", "attributes": [], "value": "v"]
        ]
      ])
    try ask("Respond", ["conversation": "a", "answer": "b"])
    try ask("Attend", ["faces": ["terminal"]], more: true)
    for method in ["Confirm", "Dismiss"] { try ask(method, ["inquiry": 1]) }
    try ask("SettleDeposit", ["number": 1, "accept": true])
    try ask("Find", ["query": "kind=blob", "limit": 100])
    try ask("Find", ["query": "", "trash": true])
    try ask("Children", ["prefix": "keys/"], more: true)
    try ask("Attributes", ["key": "iss"])
    for style in ["password", "ed25519", "p256", "rsa", "hmac"] { try ask("Generate", ["recipe": ["style": style]]) }
    for subject in ["user:65534", "user:0"] {
      try ask("Grant", ["subject": subject, "items": "keys/**", "rights": ["get"]])
      for method in ["Revoke", "ForgetSubject"] { try ask(method, ["subject": subject]) }
    }
    let key = try JSONSerialization.jsonObject(with: Data(ask("PublicKey").prefix { $0 != 0 })) as? WireClient.Message
    let sealing = (key?["parameters"] as? WireClient.Message)?["key"] ?? ""
    try ask("SealDeposit", ["key": sealing, "name": "own/box", "value": "x"])
    try ask("DepositSealed", ["box": "AAAA"])
    for number in [1, 2] { for method in ["Approve", "Deny", "Refuse"] { try ask(method, ["number": number]) } }
    for name in names { try askAbout(name) }
  }

  private func askAbout(_ name: String) throws {
    for version in [nil, 1, 2] as [Int?] {
      let get: WireClient.Message = ["name": name, "expired": true, "ask": false]
      try ask("Get", version.map { get.merging(["version": $0]) { $1 } } ?? get)
      try ask("RestoreVersion", ["name": name, "version": version ?? 1])
    }
    try ask("Get", ["name": name, "wait_ms": 1])
    for method in ["Show", "History", "Undelete", "WhoMay", "Code", "IssueToken"] { try ask(method, ["name": name]) }
    try ask("Authenticate", ["name": name], more: true)
    for (field, content) in [("value", "message"), ("data", "AAAA")] {
      for algorithm in [nil, "EdDSA", "HS512"] {
        var parameters: WireClient.Message = ["name": name, field: content]
        if let algorithm { parameters["algorithm"] = algorithm }
        for method in ["Sign", "Mac"] { try ask(method, parameters) }
      }
      try ask("Mac", ["name": name, "mac": "AAAA", field: content])
      try ask("Set", ["name": name, "update": true, field: content])
      try ask("Deposit", ["name": name, field: content])
    }
    let kind: WireClient.Message = ["name": name, "update": true, "kind": "note"]
    try ask("Set", kind)
    try ask("Set", ["name": name, "update": true, "accessible": "always"])
    try ask("SetMany", ["items": [kind]])
    let own: WireClient.Message = ["name": "own/" + name, "value": "x"]
    try ask("SetMany", ["items": [own, ["name": name, "value": "x", "update": true]]])
    try ask("IssueToken", ["name": name, "subject": "s", "lifetime": 60])
    try ask("VerifyToken", ["name": name, "token": "a.b.c"])
    try ask("RevokeToken", ["name": name, "subject": "x"])
    try ask("PublicKey", ["name": name])
    for format in ["spki", "openssh", "jwk", "jwks", "raw"] { try ask("PublicKey", ["name": name, "format": format]) }
    for target in ["own/" + name, "keys/new", name] {
      try ask("Copy", ["from": name, "to": target, "replace": true, "expired": true])
      try ask("Move", ["from": name, "to": target])
    }
    try ask("Delete", ["names": [name]])
    try ask("Delete", ["names": [name], "now": true])
    try ask("Can", ["right": "get", "name": name])
    try ask("Rights", ["subject": "user:65534", "name": name])
    try ask("Receipt", ["name": name, "version": 1, "succeeded": true])
    try ask("ForgetDenial", ["subject": "user:65534", "name": name])
    try ask("Audit", ["item": name], more: true)
    try ask("Monitor", ["after": "0"], more: true)
  }
}
