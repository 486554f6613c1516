import VaultCore
import VaultModel
import VaultStore
import VaultWire

@testable import VaultDaemon
@testable import VaultService

extension CallRow {
  private static let cost = #""kdf_memory":19922944,"kdf_passes":2"#
  private static let password = ConnectionStand.password
  private static let code = ConnectionStand.code

  /// The row of each method.
  static func of(_ method: MethodName) -> CallRow {
    switch method {
    case .getInfo: CallRow([])
    case .getInterfaceDescription: CallRow(#"{"interface":"io.vaultd.Vault"}"#, [])
    case .status: CallRow([])
    // Before the call there is no vault.
    case .`init`:
      administrative(
        method, "{\(cost)}", ["unlock ok the vault was created", "create ok"], answers: [password])
    case .unlock:
      administrative(method, #"{"method":"recovery"}"#, ["unlock ok by recovery code"], answers: [code]) {
        $0.vault.lock(because: .asked)
      }
    case .authenticate:
      administrative(method, #"{"name":"p","interactive":true}"#, ["proof ok p"], answers: [password]) {
        try $0.addSlot(.password, password, kdf: .floor)
        try $0.makeItem("p", require: .password)
      }
    case .attend: administrative(method, #"{"faces":["terminal"]}"#, ["attend ok terminal"])
    case .confirm:
      administrative(method, ["attend ok terminal", "approve ok one use of SHA256:key, number N"]) {
        #"{"inquiry":\#(try $0.makeInquiry())}"#
      }
    case .dismiss:
      administrative(method, ["attend ok terminal", "dismiss ok confirmation, number N"]) {
        #"{"inquiry":\#(try $0.makeInquiry())}"#
      }
    // The answer is a part of the call that it unlocks the vault for.
    case .respond:
      CallRow(["unlock ok by recovery code"], denied: [CallLog.call(method, "invalid")], of: answer)
    case .lock: administrative(method, ["lock ok by `vault lock`"])
    case .get: CallRow(#"{"name":"a"}"#, ["get ok a"])
    case .code: CallRow(#"{"name":"t"}"#, ["use ok t: code"]) { try $0.makeCodes("t") }
    case .sign:
      CallRow(#"{"name":"s","value":"x"}"#, ["use ok s: signature"]) { try $0.makeKey("s", for: .sign, .ed25519) }
    case .mac:
      CallRow(#"{"name":"m","value":"x"}"#, ["use ok m: keyed hash"]) { try $0.makeKey("m", for: .mac, .hmac) }
    case .issueToken: CallRow(#"{"name":"j"}"#, ["use ok j: token ID"]) { try $0.makeKey("j", for: .jwt, .hmac) }
    case .verifyToken:
      CallRow(["use ok j: check of token ID"], denied: ["use denied j: check of a token"]) { client in
        try client.makeKey("j", for: .jwt, .hmac)
        return #"{"name":"j","token":"\#(try client.makeToken(of: "j"))"}"#
      }
    case .revokeToken:
      CallRow(
        #"{"name":"j","id":"\#(String(repeating: "0a", count: 16))"}"#,
        ["set ok j.revoked", "use ok j: revokes token ID"], denied: ["use denied j: revokes token ID"]
      ) { try $0.makeKey("j", for: .jwt, .hmac) }
    case .set: CallRow(#"{"name":"b","value":"x"}"#, ["set ok b"])
    case .setMany:
      CallRow(
        #"{"items":[{"name":"b","value":"x"},{"name":"c","value":"x"}]}"#, ["set ok b", "set ok c"],
        denied: ["set denied b: one of 2 items, none of which was changed"])
    case .importCollection:
      administrative(method, #"{"source":"/x","label":"x","trial":true}"#, ["find ok keyring"])
    case .importItems:
      administrative(
        method,
        #"{"items":[{"source":"/x","label":"","content_type":"","attributes":[],"value":"x"}],"trial":true}"#,
        ["use ok compared 1 item of another keyring"])
    case .export: administrative(method, #"{"to":"x","items":2}"#, ["export ok 2 items to x"])
    case .beginImport: administrative(method, #"{"from":"x","items":2}"#, ["import ok 2 items from x"])
    case .deposit:
      CallRow(#"{"name":"b","value":"x"}"#, ["deposit ok b: version 1"], denied: ["deposit denied b"])
    case .sealDeposit:
      CallRow([CallLog.call(method, "ok")], denied: [CallLog.call(method, "ok")]) {
        #"{"key":"\#(try $0.publicKey())","name":"b","value":"x"}"#
      }
    case .depositSealed:
      CallRow(["deposit ok b: a sealed box, version 1"], denied: ["deposit denied a sealed box"]) {
        #"{"box":"\#(try $0.makeBox(for: "b"))"}"#
      }
    case .publicKey: CallRow(["find ok public key of the vault"])
    case .deposits: administrative(method, [CallLog.call(method, "ok")])
    case .settleDeposit:
      administrative(method, ["deposit ok a: deposit N accepted"]) {
        #"{"number":\#(try $0.makeDeposit()),"accept":true}"#
      }
    case .generate:
      CallRow(
        #"{"recipe":{"style":"password"}}"#, [CallLog.call(method, "ok")], denied: [CallLog.call(method, "ok")])
    case .copy:
      CallRow(
        #"{"from":"a","to":"b"}"#, ["get ok a: copied to b", "set ok b: copy of a"], denied: ["set denied b: copy of a"]
      )
    case .show: CallRow(#"{"name":"a"}"#, ["find ok a"])
    case .find: CallRow(#"{"query":"kind=wifi"}"#, ["find ok kind=wifi"], denied: ["find ok kind=wifi"])
    case .children: CallRow(#"{"prefix":"x"}"#, ["find ok names x"], denied: ["find ok names x"])
    case .attributes: CallRow(#"{"key":"x"}"#, ["find ok attributes x"], denied: ["find ok attributes x"])
    case .delete: CallRow(#"{"names":["a"]}"#, ["delete ok a"])
    case .undelete: CallRow(#"{"name":"a"}"#, ["set ok a: out of the trash"]) { try $0.trash("a") }
    case .emptyTrash: administrative(method, ["delete ok all of the trash"])
    case .restoreVersion: CallRow(#"{"name":"a","version":1}"#, ["set ok a: version 1 restored"])
    case .move:
      CallRow(#"{"from":"a","to":"b"}"#, ["move ok a: to b", "move ok b: from a"], denied: ["move denied a: to b"])
    case .history: CallRow(#"{"name":"a"}"#, ["find ok a"])
    case .listSlots: administrative(method, [CallLog.call(method, "ok")])
    case .changePassword:
      administrative(
        method, #"{"method":"recovery",\#(cost)}"#, ["passwd ok slot 2 was added"], answers: [code, password])
    case .markStale:
      administrative(method, "{}", ["slot ok the login password was changed without the vault"]) {
        try $0.addSlot(.login, password, kdf: .floor)
      }
    case .addSlot:
      administrative(
        method, #"{"kind":"recovery","method":"recovery"}"#, ["slot ok slot 2 was added, a way in by recovery"],
        answers: [code])
    case .removeSlot:
      administrative(method, #"{"id":2,"method":"recovery"}"#, ["slot ok slot 2 was removed"], answers: [code]) {
        try $0.addSlot(.recovery, ConnectionStand.newCode())
      }
    case .rekey: administrative(method, #"{"method":"recovery"}"#, ["rekey ok"], answers: [code])
    case .grant:
      administrative(
        method, #"{"subject":"user:4712","items":"a","rights":["get"]}"#, ["grant ok user:4712: a get"], proof: true)
    case .revoke:
      administrative(method, #"{"subject":"user:4712"}"#, ["revoke ok user:4712"], proof: true) {
        try $0.give("user:4712", "a", "get")
      }
    case .audit: CallRow(["audit ok read"])
    case .grants: CallRow(["find ok grants"], denied: ["find ok grants"])
    case .can:
      CallRow(#"{"subject":"user:4712","right":"get","name":"a"}"#, ["find ok a: whether user:4712 may get it"])
    case .rights:
      administrative(method, #"{"subject":"user:4712","name":"a"}"#, ["find ok a: what user:4712 may do with it"])
    case .whoMay: administrative(method, #"{"name":"a"}"#, ["find ok a: who may do what"])
    case .confirmGrants: administrative(method, ["grant ok all confirmed"], proof: true)
    case .repairClock:
      administrative(method, "{}", ["clock ok TIMES"], proof: true) {
        try $0.vault.keychain().learn(3000, .whenUnlocked)
      }
    case .forgetSubject:
      administrative(method, #"{"subject":"unit:x.service"}"#, ["revoke ok unit:x.service: forgotten"], proof: true) {
        try $0.give("unit:x.service", "a", "get")
        _ = try $0.door.access.revoke(Subject(parsing: "unit:x.service"), nil, for: $0.owner())
      }
    case .requests: administrative(method, ["find ok requests"])
    case .approve:
      administrative(method, ["approve ok a: user:4712 get, once, for 300 s, number N"], proof: true) {
        #"{"number":\#(try $0.makeRequest())}"#
      }
    case .deny:
      administrative(method, ["deny ok a: user:4712, number N"]) { #"{"number":\#(try $0.makeRequest())}"# }
    case .refuse:
      administrative(method, ["deny ok a prompt of the keyring, process 1, number N"]) {
        #"{"number":\#(try $0.makePrompt())}"#
      }
    case .forgetDenial:
      administrative(
        method, #"{"subject":"user:4712","name":"a"}"#, ["deny ok a: user:4712, forgotten"], proof: true
      ) { try $0.makeDenial() }
    case .verify: administrative(method, [CallLog.call(method, "ok")])
    case .repairAudit: administrative(method, ["audit ok repair"], proof: true)
    case .reload: administrative(method, ["settings ok"])
    case .secretService: administrative(method, [CallLog.call(method, "ok")])
    // Without a bus, and without a socket for the bytes after the reply, this call, Backup and Restore cannot succeed
    // here; see ``TransfersInLogTests``.
    case .joinBus:
      administrative(
        method, #"{"address":"unix:path=/none"}"#, ["settings failed session bus: unix:path=/none"])
    case .monitor: CallRow(["find ok watching events"])
    case .receipt:
      CallRow(
        #"{"name":"a","version":1,"succeeded":true}"#, ["receipt ok a: version 1"], denied: ["receipt denied a"])
    case .backup: administrative(method, ["backup ok", "backup cancelled"])
    case .salvage: administrative(method, ["salvage ok"])
    case .restore: administrative(method, #"{"header":"AAAA"}"#, ["restore invalid"])
    }
  }

  /// Has another connection ask for an unlock, and returns the parameters that answer it.
  private static func answer(_ client: Client) throws -> String {
    client.vault.lock(because: .asked)
    let other = try client.another()
    client.kept = other
    other.call("Unlock", #"{"method":"recovery"}"#, more: true)
    let asked = other.messages().joined().firstMatch(of: /"conversation":"([0-9a-f]+)"/)
    return #"{"conversation":"\#(asked?.1 ?? "")","answer":"\#(code)"}"#
  }
}
