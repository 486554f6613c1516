import Foundation
import Testing
import VaultCore
import VaultModel
import VaultStore
import VaultWire

@testable import VaultDaemon
@testable import VaultService

/// Calls every method of the Varlink socket on keys that are never read.
@Suite("A key that is never read, by each method") struct NeverReadTests {
  /// The parameters of a call, and the expected error; nil if any answer is allowed.
  private struct Row {
    let parameters: String
    var error: String?

    init(_ parameters: String = "{}", _ error: String? = nil) { (self.parameters, self.error) = (parameters, error) }
  }

  private static let given = #""value":"0123456789abcdef0123456789abcdef""#

  /// The calls of every method on the item of that name, made by its owner. For a new method, this table must say how
  /// it treats such a key.
  private static func rows(_ method: MethodName, _ name: String) -> [Row] {
    switch method {
    case .get:
      [Row(#"{"name":"\#(name)"}"#, "NeverRead"), Row(#"{"name":"\#(name)","version":1,"expired":true}"#, "NeverRead")]
    case .copy: [Row(#"{"from":"\#(name)","to":"other"}"#), Row(#"{"from":"\#(name)","to":"mac","made":true}"#)]
    case .restoreVersion: [Row(#"{"name":"\#(name)","version":1}"#, "NeverRead")]
    case .set:
      [
        Row(#"{"name":"\#(name)",\#(given),"update":true}"#, "NeverRead"),
        Row(#"{"name":"\#(name)","update":true,"never_read":false}"#, "InvalidValue"),
        Row(#"{"name":"a","update":true,"never_read":true}"#, "InvalidValue"),
        Row(#"{"name":"new","use":"mac","never_read":true,\#(given)}"#, "InvalidValue"),
        Row(#"{"name":"new","never_read":true,"generate":{"style":"password"}}"#, "InvalidValue"),
        Row(#"{"name":"new","kind":"totp","never_read":true,"generate":{"style":"hmac"}}"#, "InvalidValue"),
      ]
    case .setMany:
      [
        Row(#"{"items":[{"name":"\#(name)",\#(given),"update":true}]}"#, "NeverRead"),
        Row(#"{"items":[{"name":"new","use":"mac","never_read":true,\#(given)}]}"#, "InvalidValue"),
      ]
    case .importItems:
      [
        Row(
          #"{"items":[{"collection":"login","source":"/x","label":"","content_type":"","attributes":[],\#(given)}]}"#)
      ]
    case .importCollection: [Row(#"{"label":"\#(name)"}"#)]
    case .export: [Row(#"{"to":"\#(name)","items":1}"#)]
    case .beginImport: [Row(#"{"from":"\#(name)","items":1}"#)]
    case .deposit: [Row(#"{"name":"\#(name)",\#(given)}"#)]
    case .code: [Row(#"{"name":"\#(name)"}"#, "WrongKind")]
    case .sign, .mac: [Row(#"{"name":"\#(name)","value":"x"}"#)]
    case .issueToken: [Row(#"{"name":"\#(name)"}"#, "WrongUse")]
    case .verifyToken: [Row(#"{"name":"\#(name)","token":"x"}"#, "WrongUse")]
    case .revokeToken: [Row(#"{"name":"\#(name)","subject":"x"}"#, "WrongUse")]
    case .show, .history, .undelete, .authenticate, .whoMay: [Row(#"{"name":"\#(name)"}"#)]
    case .find: [Row(), Row(#"{"query":"name=\#(name)"}"#)]
    case .children, .attributes, .requests, .grants, .audit, .monitor, .status, .publicKey, .deposits: [Row()]
    case .rights: [Row(#"{"subject":"user:4712","name":"\#(name)"}"#)]
    case .can: [Row(#"{"right":"get","name":"\#(name)"}"#)]
    case .receipt: [Row(#"{"name":"\#(name)","version":1,"succeeded":true}"#)]
    case .delete: [Row(#"{"names":["\#(name)"]}"#)]
    case .move: [Row(#"{"from":"\#(name)","to":"other"}"#)]
    case .grant: [Row(#"{"subject":"user:4712","items":"\#(name)","rights":["get"]}"#)]
    case .approve, .deny, .refuse: [Row(#"{"number":1}"#)]
    case .settleDeposit: [Row(#"{"number":1,"accept":true}"#)]
    case .sealDeposit: [Row(#"{"key":"x","name":"\#(name)",\#(given)}"#)]
    case .depositSealed: [Row(#"{"box":"x"}"#)]
    case .generate: [Row(#"{"recipe":{"style":"password"}}"#)]
    case .backup, .salvage, .verify, .repairAudit, .repairClock, .confirmGrants, .forgetSubject, .forgetDenial, .revoke,
      .emptyTrash, .rekey, .`init`, .unlock, .lock, .respond, .attend, .confirm, .dismiss, .listSlots, .changePassword,
      .markStale, .addSlot, .removeSlot, .restore, .reload, .secretService, .joinBus, .getInfo,
      .getInterfaceDescription:
      // These methods concern no item's value, or return records still sealed.
      [Row()]
    }
  }

  private static let within: @Sendable (ItemInfo) -> Decision = { _ in .allowWithin }

  private static let names = ["mac", "sign"]

  private static func stand() throws -> ConnectionStand {
    let stand = try ConnectionStand.unlocked("")
    try stand.on { client in
      for (name, use, recipe) in [("mac", KeyUse.mac, KeyRecipe.hmac), ("sign", .sign, .ed25519)] {
        for isNew in [true, false] {
          var change = ItemChange(name: try ItemName(name), update: !isNew)
          if isNew { (change.use, change.neverRead) = (use, true) }
          _ = try client.assembly.rooms.items.set(change, .generated(.key(recipe)), for: owner) { _ in false }
        }
      }
    }
    return stand
  }

  private static var owner: VaultService.Caller {
    Caller(door: .varlink, uid: geteuid(), groups: [], pid: 1, started: nil, unit: nil, session: nil)
  }

  /// Returns the values of both versions of all never-read keys.
  private static func keys(_ client: ConnectionStand.Inside) throws -> [[UInt8]] {
    let keychain = try client.vault.keychain()
    return try names.flatMap { name in
      try [1, 2].map { version in
        try keychain.withValue(of: ItemName(name), version: version, now: 2000, if: Self.within) {
          _, _, value in
          unsafe value.withUnsafeBytes { unsafe [UInt8]($0) }
        }
      }
    }
  }

  /// Returns the forms in which a part of a value would stand in a reply.
  private static func forms(_ value: [UInt8]) -> [String] {
    var parts = [Data(value).base64EncodedString(), value.map { String(format: "%02x", $0) }.joined()]
    // For PEM, each line is such a part.
    if let text = String(validating: value, as: UTF8.self) {
      parts += text.split(separator: "\n").filter { !$0.hasPrefix("-") }.map(String.init)
    }
    return parts.map { String($0.prefix(24)) }
  }

  private static func frame(_ method: MethodName, _ parameters: String) -> String {
    let more = method.needsMore ? ",\"more\":true" : ""
    let upgrade = method.needsUpgrade ? ",\"upgrade\":true" : ""
    return "{\"method\":\"\(method.fullName)\",\"parameters\":\(parameters)\(more)\(upgrade)}\0"
  }

  @Test("is in no answer, and stays what it is", arguments: MethodName.allCases)
  func walk(_ method: MethodName) throws {
    for name in Self.names {
      for row in Self.rows(method, name) {
        let stand = try Self.stand()
        defer { stand.close() }
        let keys = try stand.on { client in try Self.keys(client) }
        try stand.on { client in _ = client.send(Self.frame(method, row.parameters)) }
        try stand.goRound("an answer to \(method)") { client in !client.hasWork }
        let replies = try stand.on { client in client.messages() }
        for form in keys.flatMap(Self.forms) {
          #expect(!replies.contains { $0.contains(form) }, "\(method) \(row.parameters): \(replies)")
        }
        if let error = row.error {
          #expect(
            replies.contains { $0.contains("io.vaultd.Vault.\(error)\"") }, "\(method) \(row.parameters): \(replies)")
        }
        guard method != .lock, method != .delete, method != .move else { continue }
        let (after, marks) = try stand.on { client in
          let keychain = try client.vault.keychain()
          let marks = try Self.names.map { try keychain.item(named: ItemName($0)).policy.isNeverRead }
          return (try Self.keys(client), marks)
        }
        #expect(after == keys && marks == [true, true], "\(method) \(row.parameters)")
      }
    }
  }

  @Test("would be found in an answer, were it there") func control() throws {
    let stand = try Self.stand()
    defer { stand.close() }
    try stand.on { client in
      let keys = try Self.keys(client)
      var change = ItemChange(name: try ItemName("twin"))
      change.kind = .blob
      try client.vault.keychain().set(change, value: ConnectionStand.secret(keys[0]), now: 1)
      client.send(Self.frame(.get, #"{"name":"twin"}"#))
    }
    try stand.goRound("an answer") { client in !client.hasWork }
    try stand.on { client in
      let (keys, replies) = (try Self.keys(client), client.messages())
      #expect(Self.forms(keys[0]).contains { form in replies.contains { $0.contains(form) } }, "\(replies)")
    }
  }

  @Test("is told to be one, and that nobody may get it") func told() throws {
    let stand = try Self.stand()
    defer { stand.close() }
    func answer(_ method: MethodName, _ parameters: String) throws -> [String] {
      try stand.on { client in _ = client.send(Self.frame(method, parameters)) }
      try stand.goRound("an answer") { client in !client.hasWork }
      return try stand.on { client in client.messages() }
    }
    #expect(try answer(.show, #"{"name":"mac"}"#).contains { $0.contains(#""never_read":true"#) })
    #expect(try answer(.show, #"{"name":"a"}"#).contains { !$0.contains("never_read") })
    #expect(try answer(.can, #"{"right":"get","name":"mac"}"#).contains { $0.contains(#""allowed":false"#) })
    #expect(try answer(.can, #"{"right":"use","name":"mac"}"#).contains { $0.contains(#""allowed":true"#) })
    #expect(try answer(.mac, #"{"name":"mac","value":"x"}"#).contains { $0.contains(#""mac":""#) })
    #expect(try answer(.sign, #"{"name":"sign","value":"x"}"#).contains { $0.contains(#""signature":""#) })
  }

  @Test("gives way to a generated one, and its copy is as it is") func rotated() throws {
    let stand = try Self.stand()
    defer { stand.close() }
    try stand.on { client in
      let items = client.assembly.rooms.items
      let keychain = try client.vault.keychain()
      let change = ItemChange(name: try ItemName("mac"), update: true)
      _ = try items.set(change, .generated(.key(.hmac)), for: Self.owner) { _ in false }
      #expect(try keychain.item(named: ItemName("mac")).current.number == 3)
      _ = try items.copy(
        try ItemName("mac"), to: try ItemName("copy"), replacing: false, evenExpired: false, for: Self.owner)
      let copy = try keychain.item(named: ItemName("copy"))
      #expect(copy.policy.isNeverRead && copy.use == .mac)
      // A copy does not replace a never-read key with a readable item, nor a readable item with such a key.
      for (source, target) in [("a", "mac"), ("mac", "a"), ("sign", "copy")] {
        #expect(throws: Refusal.self) {
          _ = try items.copy(
            try ItemName(source), to: try ItemName(target), replacing: true, evenExpired: false, for: Self.owner)
        }
      }
      #expect(try keychain.item(named: ItemName("copy")).current.number == 1)
      #expect(try keychain.item(named: ItemName("a")).policy.isNeverRead == false)
    }
  }
}
