import Foundation
import Testing
import VaultCore
import VaultModel
import VaultTesting

/// A daemon with a new vault, and the means to use it and to search the daemon's memory for the vault's keys.
final class KeyStage {
  static var floor: WireClient.Message { ["kdf_memory": 19 << 20, "kdf_passes": 2] }

  let sandbox: Sandbox
  let place: Place
  let password = KeyStage.word(), wrong = KeyStage.word(), login = KeyStage.word()
  private(set) var code = ""
  /// All keys that the vault has had so far.
  private(set) var keys: KeyHierarchy
  let surroundings: Surroundings
  private var kept: [WireClient] = []

  init(_ settings: String = "", _ place: Place = Place()) throws {
    sandbox = try Sandbox()
    self.place = place
    surroundings = try Surroundings(of: place, in: sandbox)
    let code = try sandbox.makeVault(
      password: password, config: "idle = off\n\(settings)\n\(surroundings.settings)", recovery: true,
      environment: surroundings.environment)
    self.code = code ?? ""
    keys = try KeyHierarchy(of: sandbox, surroundings.secrets(password: password, recovery: self.code, login: login))
  }

  deinit {
    if place.isSmall {
      // The daemon has files open on the file system, so stop it before unmounting.
      _ = try? sandbox.stopDaemon()
      _ = try? sandbox.run("--lazy", sandbox.root + "/data", program: "/usr/bin/umount")
    }
    sandbox.close()
  }

  /// Returns a random word of 32 characters.
  static func word() -> String {
    String((0..<32).map { _ in "abcdefghjkmnpqrstuvwxyz23456789".randomElement() ?? "x" })
  }

  /// Adds the vault's current keys, for example after a change of the password.
  func computeKeys(password: String? = nil, recovery: String? = nil, as prefix: String = "") throws {
    let secrets = surroundings.secrets(
      password: password ?? self.password, recovery: recovery ?? code, login: login)
    keys.add(try KeyHierarchy(of: sandbox, secrets), prefix)
  }

  /// Makes a backup, stops the daemon, and removes the store.
  func keepBackupAlone() throws -> [UInt8] {
    let backup = try sandbox.client().backup().bytes
    try add(backup: backup)
    try sandbox.stopDaemon()
    try FileManager.default.removeItem(atPath: sandbox.store)
    return backup
  }

  func add(backup: [UInt8]) throws { try keys.add(backup: backup, header: sandbox.headerCount(backup)) }

  // MARK: Searches

  private func search() throws -> MemorySearch { try MemorySearch(pid: try #require(sandbox.daemonPid)) }

  /// Returns the names of the keys that are in the daemon's memory.
  func found() throws -> Set<String> { Set(try search().find(keys.keys).keys) }

  /// Waits until the keys in the daemon's memory satisfy `isSo`, because some work continues after the answer.
  func awaitKeys(_ what: String, _ isSo: (Set<String>) -> Bool) throws {
    let deadline = time(nil) + 60
    while try !isSo(found()) {
      guard time(nil) < deadline else {
        throw SandboxError("waited in vain for \(what): \(try search().find(keys.keys))")
      }
    }
  }

  /// Waits until exactly these keys are in the daemon's memory.
  func awaitKeys(_ held: [String]) throws { try awaitKeys("\(held)") { $0 == Set(held) } }

  /// Expects exactly these keys in the daemon's memory. No secret may be there except a `typed` password that is still
  /// needed, and no key of a keystore in the form in which it travelled.
  func expect(
    _ held: [String], typed: Bool = false, _ comment: String = "", sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let memory = try search()
    let places = memory.find(keys.keys)
    let found = Set(places.keys)
    let more = found.subtracting(held).sorted().map { "\($0) in \(places[$0, default: []].sorted())" }
    #expect(more == [], "\(comment) too much", sourceLocation: sourceLocation)
    #expect(Set(held).subtracting(found).sorted() == [], "\(comment) too little", sourceLocation: sourceLocation)
    // While the vault is unlocked, a reader of the log derives its keys again.
    if !held.contains("when-unlocked box") {
      let audit = Dictionary(uniqueKeysWithValues: keys.audit.enumerated().map { ("key \($0)", $1) })
      #expect(memory.find(audit) == [:], "\(comment) keys of the audit log", sourceLocation: sourceLocation)
    }
    var secrets = ["password": password, "wrong": wrong, "code": code, "login": login].mapValues { Array($0.utf8) }
    for (name, key) in keys.keys where name.contains("presence key") || name == "boot" { secrets[name] = key }
    var forms = memory.findForms(of: secrets)
    for name in held where forms[name] == ["raw"] { forms[name] = nil }
    #expect(forms == (typed ? ["password": ["raw"]] : [:]), "\(comment) secrets", sourceLocation: sourceLocation)
  }

  // MARK: Using the vault

  func succeed(_ reply: WireClient.Reply?) throws {
    guard let reply, reply.error == nil else { throw SandboxError("\(String(describing: reply)) \(sandbox.daemonLog)") }
  }

  /// Starts the daemon again.
  func start() throws { try sandbox.startDaemon(environment: surroundings.environment) }

  func unlock(_ parameters: WireClient.Message = [:]) throws { try succeed(sandbox.unlock(password, parameters)) }

  func unlockByCode() throws { try succeed(sandbox.unlock(code, ["method": "recovery"])) }

  func lock() throws { try succeed(sandbox.client().call("Lock")) }

  /// Makes the machine sleep and wake, and makes a request that notices the sleep.
  func sleep() throws {
    try #require(sandbox.clock).sleep(seconds: 3600)
    let status = try sandbox.client().call("Status")
    #expect(status.string("state") == "new" || status.string("cause") == "the machine slept", "\(status)")
  }

  /// Returns once the boot key has opened the vault's `always` items: the TPM gives the key after the daemon's answer,
  /// and a call waits until then.
  func awaitBootKey() throws {
    let error = try sandbox.client().call("Get", ["name": "none"]).error
    #expect(["Locked", "NoSuchItem"].contains(error), "\(error ?? "")")
  }

  /// Stores items of each class.
  func fill(_ count: Int = 3) throws {
    let classes = ["when-unlocked", "after-first-unlock", "always"]
    for start in stride(from: 0, to: count, by: 128) {
      let items = (start..<min(start + 128, count)).map { index -> WireClient.Message in
        ["name": "folder/item \(index)", "value": "value \(index)", "accessible": classes[index % 3]]
      }
      try succeed(sandbox.client().call("SetMany", ["items": items]))
    }
  }

  /// Stores more bytes than a socket's buffers hold.
  func fillWithMuch() throws {
    let client = try sandbox.client()
    for index in 0..<4 {
      try succeed(client.call("Set", ["name": "big \(index)", "value": String(repeating: "x", count: 1 << 20)]))
    }
  }

  func get(_ count: Int, of items: Int = 3) throws {
    let client = try sandbox.client()
    for index in 0..<count { try succeed(client.call("Get", ["name": "folder/item \(index % items)"])) }
  }

  /// Runs `trigger` and waits until the daemon reports that the vault is locked.
  func awaitLock(_ trigger: () throws -> Void) throws {
    let events = try sandbox.client()
    var reply = try events.call("Monitor", more: true)
    try trigger()
    while reply.string("state") != "locked" { reply = try events.reply() }
  }

  /// Makes a call and returns its last reply.
  @discardableResult
  func last(_ method: String, _ parameters: WireClient.Message = [:]) throws -> WireClient.Reply {
    let client = try sandbox.client()
    var reply = try client.call(method, parameters, more: true)
    while reply.error == nil, reply.continues { reply = try client.reply() }
    return reply
  }

  /// Keeps a connection open for the life of the stage.
  func keep(_ client: WireClient) { kept.append(client) }

  /// Proves the right to call `method` with the password, and leaves the next question open.
  func beginProof(_ method: String, _ parameters: WireClient.Message = [:]) throws -> WireClient {
    let client = try sandbox.client()
    var reply = try client.call(method, parameters, more: true)
    let conversation = try #require(reply.string("conversation"), "\(reply)")
    try succeed(sandbox.client().call("Respond", ["conversation": conversation, "answer": password]))
    repeat { reply = try client.reply() } while reply.prompt?["style"] as? String == "info"
    #expect(reply.prompt != nil, "\(reply)")
    return client
  }

  /// Begins a rekey, repeats each shown code, and returns the connection and the last code.
  func beginRekey(_ answer: ((String) -> String)? = nil) throws -> (client: WireClient, code: String) {
    let client = try sandbox.client()
    var code = ""
    var reply = try client.call("Rekey", more: true)
    while reply.error == nil, let prompt = reply.prompt, let conversation = reply.string("conversation") {
      if prompt["style"] as? String != "info" {
        if let shown = prompt["code"] as? String { code = shown }
        let typed = prompt["code"] as? String ?? answer?(prompt["text"] as? String ?? "") ?? password
        try succeed(sandbox.client().call("Respond", ["conversation": conversation, "answer": typed]))
      }
      reply = try client.reply()
    }
    try succeed(reply)
    return (client, code)
  }

  /// Takes the lock of a rekey's second store, so that it cannot be opened, and returns the lock's descriptor.
  func holdRekey() throws -> Int32 {
    let lock = unsafe open(sandbox.store + "/rekey/vault.lock", O_RDONLY | O_CLOEXEC)
    guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0 else { throw SandboxError("the second store is in use") }
    return lock
  }

  /// Fills the disk of ``Place/smallDisk``.
  func fillDisk() throws {
    let filled = try sandbox.run("-c", "cat /dev/zero >$0", sandbox.root + "/data/pad", program: "/bin/sh")
    guard filled.errors.contains("No space left on device") else { throw SandboxError("\(filled)") }
  }

  /// Waits until a rekey pauses because of a fault.
  func awaitPause() throws {
    let deadline = time(nil) + 60
    while true {
      let all = try sandbox.client().call("Status").parameters["warnings"] as? [WireClient.Message] ?? []
      if all.contains(where: { ($0["text"] as? String)?.hasPrefix("the rekey pauses") == true }) { return }
      guard time(nil) < deadline else { throw SandboxError("the rekey does not pause: \(all)") }
      usleep(20_000)
    }
  }

  /// Waits for the end of a rekey that was begun. (If it is already over, another call would begin the next one.)
  func awaitEnd(of rekey: WireClient) throws {
    var reply = try rekey.reply()
    while reply.error == nil, reply.continues { reply = try rekey.reply() }
    try succeed(reply)
  }

  /// Begins a backup, reads to the end of its header, and adds the key of its stream to ``keys``.
  func beginBackup() throws -> WireClient {
    let client = try sandbox.client()
    try succeed(client.call("Backup", upgrade: true))
    var header: [UInt8] = []
    while header.count < 13 || header.count < sandbox.headerCount(header) {
      let length = try #require(try client.receive(count: 4)).reversed().reduce(0) { $0 << 8 | Int($1) }
      header += try #require(try client.receive(count: length))
    }
    try add(backup: header)
    return client
  }

  /// Begins a restore and sends none of its records.
  func beginRestore(_ backup: [UInt8]) throws -> WireClient {
    let client = try sandbox.client()
    let header = Data(backup[..<sandbox.headerCount(backup)]).base64EncodedString()
    let reply = try client.call("Restore", ["header": header], more: true, upgrade: true)
    let conversation = try #require(reply.string("conversation"), "\(reply)")
    try succeed(sandbox.client().call("Respond", ["conversation": conversation, "answer": password]))
    try succeed(client.reply())
    return client
  }

  // MARK: Other slots

  /// Makes slot 3, which a person's presence opens.
  func addPresence() throws {
    let parameters: WireClient.Message = ["kind": "pam", "keystore": place.keystore ?? "", "insecure": true]
    let added = try sandbox.converse("AddSlot", parameters) { _ in password }
    #expect(added?.integer("slot") == 3, "\(String(describing: added))")
    try computeKeys()
  }

  /// Makes a slot for the login password.
  func addLogin() throws {
    try succeed(
      sandbox.converse("AddSlot", Self.floor.merging(["kind": "login"]) { $1 }) {
        $0["style"] as? String == "secret" ? password : login
      })
    try computeKeys()
  }

  /// Unlocks by presence; types `typed` if PAM asks.
  func unlockByPresence(typing typed: String = "") throws -> WireClient.Reply {
    let client = try sandbox.client()
    var reply = try client.call("Unlock", ["method": "pam"], more: true)
    while reply.error == nil, let prompt = reply.prompt, let conversation = reply.string("conversation") {
      if prompt["style"] as? String == "secret" {
        try succeed(sandbox.client().call("Respond", ["conversation": conversation, "answer": typed]))
      }
      reply = try client.reply()
    }
    return reply
  }
}
