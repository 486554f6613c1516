import Foundation
import Testing
import VaultTesting

/// Calls of the methods of the Varlink socket, each with the entry that the audit log has of it once it is answered.
struct AnsweredCalls {
  /// Methods that are called in the same vault, one after the other.
  enum Part: CaseIterable {
    case items, keys, deposits, access, store, doors
  }

  struct Call {
    enum Form { case plain, stream, upgrade, conversation }

    let method: String
    let parameters: WireClient.Message
    let form: Form
    /// The action, the outcome and the item of the last entry of the call.
    let entry: String
    /// The error of the call's reply; nil for none.
    let error: String?

    init(
      _ method: String, _ parameters: WireClient.Message = [:], _ form: Form = .plain, entry: String,
      error: String? = nil
    ) {
      (self.method, self.parameters, self.form) = (method, parameters, form)
      (self.entry, self.error) = (entry, error)
    }

    /// Makes the call, and returns its reply: the first one, or that after all prompts.
    func make(over client: WireClient, in sandbox: Sandbox) throws -> WireClient.Reply {
      switch form {
      case .plain: try client.call(method, parameters)
      case .stream: try client.call(method, parameters, more: true)
      case .upgrade: try client.call(method, parameters, upgrade: true)
      case .conversation: try #require(sandbox.converse(method, parameters) { _ in password })
      }
    }
  }

  /// A token of the item `tokens`.
  private var token = ""
  /// The public key of the vault.
  private var key = ""
  /// A sealed deposit for an item that is not there.
  private var box = ""
  /// The numbers of deposits that were kept aside.
  private var kept = [0, 0]

  /// Calls for no vault, to see which methods there are.
  init() {}

  /// Puts into an unlocked vault what the calls need.
  init(in sandbox: Sandbox) throws {
    try sandbox.must(["set", "a"], stdin: "value")
    try sandbox.must(["set", "key", "--use", "sign", "--generate", "ed25519"])
    try sandbox.must(["set", "hash", "--use", "mac", "--generate", "hmac256"])
    try sandbox.must(["set", "tokens", "--use", "jwt", "--generate", "hmac256"])
    let secret = "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    try sandbox.must(["set", "code", "--use", "totp"], stdin: secret)
    func text(_ member: String, _ method: String, _ parameters: WireClient.Message = [:]) throws -> String {
      let reply = try sandbox.client().call(method, parameters)
      return try #require(reply.string(member), "\(reply)")
    }
    token = try text("token", "IssueToken", ["name": "tokens", "subject": "lamp"])
    key = try text("key", "PublicKey")
    box = try text("box", "SealDeposit", ["key": key, "name": "sealed", "value": "v"])
    try sandbox.must(["lock"])
    // The item is of another kind, so the unlock keeps these aside.
    for _ in kept { _ = try sandbox.client().call("Deposit", ["name": "a", "kind": "note", "value": "v"]) }
    try sandbox.unlock(password)
    let deposits = try sandbox.client().call("Deposits", more: true)
    let list = deposits.parameters["deposits"] as? [WireClient.Message] ?? []
    kept = list.compactMap { $0["number"] as? Int }
    try #require(kept.count == 2, "\(deposits)")
  }

  private static let data = Data("message".utf8).base64EncodedString()

  private static func call(_ method: String, _ outcome: String = "ok") -> String {
    "call \(outcome) io.vaultd.Vault.\(method)"
  }

  func calls(_ part: Part) -> [Call] {
    switch part {
    case .items:
      [
        Call("Get", ["name": "a"], entry: "get ok a"),
        Call("Get", ["name": "none"], entry: "get missing none", error: "NoSuchItem"),
        Call("Set", ["name": "new", "value": "v"], entry: "set ok new"),
        Call("Show", ["name": "a"], entry: "find ok a"),
        Call("History", ["name": "a"], entry: "find ok a"),
        Call("Find", ["query": "kind=wifi"], entry: "find ok"),
        Call("Children", [:], .stream, entry: "find ok"),
        Call("Attributes", [:], .stream, entry: "find ok"),
        Call("Move", ["from": "new", "to": "moved"], entry: "move ok moved"),
        Call("Delete", ["names": ["moved"]], entry: "delete ok moved"),
        Call("Undelete", ["name": "moved"], entry: "set ok moved"),
        Call("SetMany", ["items": [["name": "many", "value": "v"]]], entry: "set ok many"),
        Call("Copy", ["from": "a", "to": "copy"], entry: "set ok copy"),
        Call("RestoreVersion", ["name": "a", "version": 1], entry: "set ok a"),
        Call("Delete", ["names": ["copy"]], entry: "delete ok copy"),
        Call("EmptyTrash", entry: "delete ok"),
        Call("Get", ["name": "a", "version": 9], entry: "get missing a", error: "NoSuchVersion"),
      ]
    case .keys:
      [
        Call("Code", ["name": "code"], entry: "use ok code"),
        Call("Sign", ["name": "key", "data": Self.data], entry: "use ok key"),
        Call("Mac", ["name": "hash", "data": Self.data], entry: "use ok hash"),
        Call("IssueToken", ["name": "tokens", "subject": "lamp"], entry: "use ok tokens"),
        Call("VerifyToken", ["name": "tokens", "token": token], entry: "use ok tokens"),
        Call("RevokeToken", ["name": "tokens", "subject": "lamp"], entry: "use ok tokens"),
        Call("PublicKey", ["name": "key"], entry: "find ok key"),
        Call("Generate", ["recipe": ["style": "password"]], entry: Self.call("Generate")),
      ]
    case .deposits:
      [
        Call("Deposit", ["name": "left", "value": "v"], entry: "deposit ok left"),
        Call("SealDeposit", ["key": key, "name": "b", "value": "v"], entry: Self.call("SealDeposit")),
        Call("DepositSealed", ["box": box], entry: "deposit ok sealed"),
        Call("Deposits", [:], .stream, entry: Self.call("Deposits")),
        Call("SettleDeposit", ["number": kept[0], "accept": true], entry: "deposit ok a"),
        Call("SettleDeposit", ["number": kept[1], "accept": false], entry: "deposit ok a"),
        Call("Receipt", ["name": "a", "version": 1, "succeeded": true], entry: "receipt ok a"),
        Call("Monitor", [:], .stream, entry: "find ok"),
      ]
    case .access:
      [
        Call(
          "Grant", ["subject": "unit:lamp.service", "items": "a", "rights": ["get"]],
          entry: "grant ok unit:lamp.service"),
        Call("Grants", [:], .stream, entry: "find ok"),
        Call("Can", ["subject": "unit:lamp.service", "right": "get", "name": "a"], entry: "find ok a"),
        Call("Rights", ["subject": "unit:lamp.service"], entry: "find ok"),
        Call("WhoMay", ["name": "a"], entry: "find ok a"),
        Call("Revoke", ["subject": "unit:lamp.service"], entry: "revoke ok unit:lamp.service"),
        Call("ForgetSubject", ["subject": "unit:lamp.service"], entry: "revoke ok unit:lamp.service"),
        Call("ConfirmGrants", entry: "grant ok"),
        Call("Requests", [:], .stream, entry: "find ok"),
        Call("Authenticate", ["name": "a"], .conversation, entry: Self.call("Authenticate")),
        Call("Attend", ["faces": ["terminal"]], .stream, entry: "attend ok"),
        Call("Confirm", ["inquiry": 1], entry: Self.call("Confirm", "missing"), error: "NoSuchRequest"),
        Call("Dismiss", ["inquiry": 1], entry: Self.call("Dismiss", "missing"), error: "NoSuchRequest"),
      ]
    case .store:
      [
        Call("ListSlots", entry: Self.call("ListSlots")),
        Call(
          "ChangePassword", ["kdf_memory": 19 << 20, "kdf_passes": 2], .conversation,
          entry: "passwd ok the vault password of slot 1 was changed"),
        Call(
          "MarkStale", entry: "slot failed the login password was changed without the vault",
          error: "MethodUnavailable"),
        Call("RepairClock", entry: "clock ok"),
        Call("RepairAudit", entry: "audit ok repair"),
        // The entries are read after each call, so only a check has an entry of its own kind.
        Call("Audit", ["check": true], .stream, entry: "audit ok checked"),
        Call("Verify", [:], .stream, entry: Self.call("Verify")),
        Call("Salvage", [:], .stream, entry: "salvage ok"),
        Call("Backup", [:], .upgrade, entry: "backup ok"),
        Call("Reload", entry: "settings ok"),
      ]
    case .doors:
      [
        Call("SecretService", entry: Self.call("SecretService")),
        Call("JoinBus", ["address": "unix:path=/none"], entry: "settings failed session bus", error: "Misconfigured"),
        Call("Refuse", ["number": 1], entry: "deny missing", error: "NoSuchRequest"),
        Call(
          "ImportCollection", ["source": "/x", "label": "x"], entry: "set ok secret-service/.collections/ID"),
        Call("ImportItems", ["items": [Self.foreign]], entry: "set ok secret-service/login/ID"),
        Call("Export", ["to": "file", "items": 2], entry: "export ok"),
        Call("BeginImport", ["from": "kdbx", "items": 2], entry: "import ok"),
      ]
    }
  }

  /// An item of another keyring.
  private static var foreign: WireClient.Message {
    [
      "collection": "login", "source": "/x", "label": "l", "content_type": "text/plain", "attributes": [String](),
      "value": "v",
    ]
  }
}
