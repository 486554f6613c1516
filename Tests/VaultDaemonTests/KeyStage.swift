import Foundation
import Testing
import VaultTesting

/// A daemon with a new vault, and what a test does to it before it looks for the vault's keys in its memory.
final class KeyStage {
  static var floor: WireClient.Message { ["kdf_memory": 19 << 20, "kdf_passes": 2] }

  let sandbox: Sandbox
  let password = KeyStage.word(), wrong = KeyStage.word()
  let code: String
  /// All keys there were until now.
  private(set) var keys: KeyHierarchy

  init(_ settings: String = "") throws {
    sandbox = try Sandbox()
    code = try sandbox.makeVault(password: password, config: "idle = off\n" + settings, recovery: true) ?? ""
    keys = try KeyHierarchy(of: sandbox, KeyHierarchy.Secrets(password: password, recovery: code))
  }

  deinit { sandbox.close() }

  /// 32 characters.
  static func word() -> String {
    String((0..<32).map { _ in "abcdefghjkmnpqrstuvwxyz23456789".randomElement() ?? "x" })
  }

  /// Computes the keys that there are now, too: after the password was changed, for one.
  func computeKeys(password: String? = nil, recovery: String? = nil, as prefix: String = "") throws {
    let secrets = KeyHierarchy.Secrets(password: password ?? self.password, recovery: recovery ?? code)
    keys.add(try KeyHierarchy(of: sandbox, secrets), prefix)
  }

  func add(backup: [UInt8]) throws { try keys.add(backup: backup, header: sandbox.headerCount(backup)) }

  /// Finds in the daemon's memory exactly the keys of these names, and no secret.
  func expect(_ held: [String], _ comment: String = "", sourceLocation: SourceLocation = #_sourceLocation) throws {
    let memory = try MemorySearch(pid: try #require(sandbox.daemonPid))
    let places = memory.find(keys.keys)
    let found = Set(places.keys)
    let more = found.subtracting(held).sorted().map { "\($0) in \(places[$0, default: []].sorted())" }
    #expect(more == [], "\(comment) too much", sourceLocation: sourceLocation)
    #expect(Set(held).subtracting(found).sorted() == [], "\(comment) too little", sourceLocation: sourceLocation)
    for secret in [password, wrong, code] {
      #expect(memory.find(Array(secret.utf8)) == [], "\(comment) a secret", sourceLocation: sourceLocation)
    }
  }

  // MARK: What is done to it

  func succeed(_ reply: WireClient.Reply?) throws {
    guard let reply, reply.error == nil else { throw SandboxError("\(String(describing: reply)) \(sandbox.daemonLog)") }
  }

  func unlock(_ parameters: WireClient.Message = [:]) throws { try succeed(sandbox.unlock(password, parameters)) }

  func unlockByCode() throws { try succeed(sandbox.unlock(code, ["method": "recovery"])) }

  func lock() throws { try succeed(sandbox.client().call("Lock")) }

  /// Items of each class.
  func fill(_ count: Int = 3) throws {
    let classes = ["when-unlocked", "after-first-unlock", "always"]
    for start in stride(from: 0, to: count, by: 128) {
      let items = (start..<min(start + 128, count)).map { index -> WireClient.Message in
        ["name": "folder/item \(index)", "value": "value \(index)", "accessible": classes[index % 3]]
      }
      try succeed(sandbox.client().call("SetMany", ["items": items]))
    }
  }

  func get(_ count: Int, of items: Int = 3) throws {
    let client = try sandbox.client()
    for index in 0..<count { try succeed(client.call("Get", ["name": "folder/item \(index % items)"])) }
  }

  /// Runs `trigger` and returns when the daemon says that it is locked.
  func awaitLock(_ trigger: () throws -> Void) throws {
    let events = try sandbox.client()
    var reply = try events.call("Monitor", more: true)
    try trigger()
    while reply.string("state") != "locked" { reply = try events.reply() }
  }

  /// Calls, and returns with the last reply.
  @discardableResult
  func last(_ method: String, _ parameters: WireClient.Message = [:]) throws -> WireClient.Reply {
    let client = try sandbox.client()
    var reply = try client.call(method, parameters, more: true)
    while reply.error == nil, reply.continues { reply = try client.reply() }
    return reply
  }

  /// Begins a rekey; its connection, and the recovery code that was shown.
  func beginRekey() throws -> (client: WireClient, code: String) {
    let client = try sandbox.client()
    var code = ""
    var reply = try client.call("Rekey", more: true)
    while reply.error == nil, let prompt = reply.prompt, let conversation = reply.string("conversation") {
      if prompt["style"] as? String != "info" {
        if let shown = prompt["code"] as? String { code = shown }
        let answer = ["conversation": conversation, "answer": prompt["code"] as? String ?? password]
        try succeed(sandbox.client().call("Respond", answer))
      }
      reply = try client.reply()
    }
    try succeed(reply)
    return (client, code)
  }
}
