import Glibc
import NIOCore
import Testing
import VaultBytes
import VaultCore
import VaultModel
import VaultStore
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

// The things that calls are about. Other processes make them, so that the client has no entry of them in the audit log.
extension ConnectionStand.Inside {
  /// A process of a user, in a session of its own.
  static func process(_ uid: uid_t, pid: pid_t) -> Caller {
    Caller(
      door: .varlink, uid: uid, groups: [], pid: pid, started: nil, unit: nil,
      session: AuthenticationSession(uid: uid, scope: .session, pid: pid, started: 1))
  }

  /// Returns another process of the vault's owner, in whose session presence was shown.
  func owner() -> Caller {
    let owner = Self.process(door.access.terms.owner, pid: 1)
    door.access.add(.presence, by: owner, with: [])
    return owner
  }

  /// Grants a user rights to the items that a pattern matches.
  func give(_ rights: String, to uid: uid_t, on pattern: String) throws {
    _ = try door.access.give(
      try Subject(parsing: "user:\(uid)"), try ItemPattern(pattern), try Rights(parsing: rights), until: nil,
      for: owner())
  }

  // MARK: Items

  /// Stores an item with a value of one byte.
  func makeItem(_ name: String, require: Requirement? = nil) throws {
    let change = ItemChange(name: try ItemName(name), require: require)
    try vault.keychain().set(change, value: ConnectionStand.secret([1]), now: 1)
  }

  /// The size of a version, in bytes, that is sealed in a turn of its own when its item changes.
  static let longSize = 700_000

  /// Stores two items with two such versions each, `long` and `other`. The number of a version is in each of its bytes.
  func makeLongItems() throws {
    for name in ["long", "other"] {
      for number in 1...2 {
        let change = ItemChange(name: try ItemName(name), kind: .blob, update: true)
        let value = ConnectionStand.secret([UInt8](repeating: UInt8(number), count: Self.longSize))
        try vault.keychain().set(change, value: value, now: 1)
      }
    }
  }

  /// Stores an item that makes one-time codes.
  func makeCodes(_ name: String) throws {
    let change = ItemChange(name: try ItemName(name), kind: .totp)
    let secret = Array("MY".utf8)
    _ = try door.items.set(change, .bytes(count: secret.count), for: owner()) { bytes in
      bytes.copy(unsafe secret.span.bytes)  // Bytes have no padding.
      return true
    }
  }

  /// Stores an item with a new key for a use.
  func makeKey(_ name: String, for use: KeyUse, _ recipe: KeyRecipe, require: Requirement? = nil) throws {
    let change = ItemChange(name: try ItemName(name), use: use, require: require)
    _ = try door.items.set(change, .generated(.key(recipe)), for: owner()) { _ in true }
  }

  /// Stores an item with a large RSA key for a use. OpenSSL makes the key in less time than the helper program.
  func makeLargeKey(_ name: String, for use: KeyUse) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let made = try sandbox.run(
      ["genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:3072"], program: "/usr/bin/openssl")
    try #require(made.status == 0, "\(made)")
    let text = Array(made.output.utf8)
    let change = ItemChange(name: try ItemName(name), kind: .blob, use: use)
    _ = try door.items.set(change, .bytes(count: text.count), for: owner()) { bytes in
      bytes.copy(unsafe text.span.bytes)  // Bytes have no padding.
      return true
    }
  }

  /// Makes a token with an item's key, and returns its text.
  func makeToken(of name: String) throws -> String {
    var text = ""
    let reading = Reading(try ItemName(name), for: owner())
    _ = try door.items.issue(reading, WantedToken(subject: nil, lifetime: nil, claims: nil)) { made in
      text = made.text.withBytes { String(decoding: $0.array, as: UTF8.self) }
    }
    return text
  }

  /// Deletes an item, which goes to the trash.
  func trash(_ name: String) throws { _ = try door.items.delete([ItemName(name)], isForGood: false, for: owner()) }

  // MARK: Deposits

  /// Returns the public key of the vault.
  func publicKey() throws -> String { try door.items.publicKey(for: owner()).text }

  /// Seals a value for an item, and returns the box.
  func makeBox(for name: String) throws -> String {
    let item = DepositedItem(name: try ItemName(name), accessible: .whenUnlocked)
    let sealed = try door.items.seal(for: publicKey(), item, count: 1) { _ in true }
    return sealed.box
  }

  /// Leaves a deposit for the item `a` that is kept aside, and returns its number.
  func makeDeposit() throws -> Int {
    try give("user:4712", "**", "deposit")
    _ = try door.items.deposit(
      ItemName("a"), kind: nil, attributes: nil, accessible: nil, count: 1, for: Self.process(4712, pid: 2), Said()
    ) { _ in true }
    let told = try door.items.deposits(after: 0, limit: 1).told
    return try #require(told.first).number
  }

  // MARK: Rights

  /// Grants rights on the items that a pattern matches.
  func give(_ subject: String, _ pattern: String, _ rights: String) throws {
    _ = try door.access.give(
      Subject(parsing: subject), ItemPattern(pattern), Rights(parsing: rights), until: nil, for: owner())
  }

  /// Makes a user without rights ask for the item `a`, and returns the number of the request.
  func makeRequest() throws -> Int {
    let number = try door.access.ask(.get, ItemName("a"), for: Self.process(4712, pid: 2), Said(purpose: "to test"))
    return try #require(number).value
  }

  /// Denies such a request.
  func makeDenial() throws {
    _ = try door.access.deny(QuestionNumber(makeRequest()), isForGood: false, for: owner())
  }

  /// Has an agent of the client's process attend, over a connection that the stand keeps.
  func attend() throws {
    let agent = try another()
    kept = agent
    agent.call("Attend", #"{"faces":["terminal"]}"#, more: true)
  }

  /// Has an agent of the client's process asked about the use of a key, and returns the number of the inquiry.
  func makeInquiry() throws -> Int {
    try attend()
    let joined = door.attendance.join(.confirmation("SHA256:key"), owner(), Said()) { _ in }
    guard case .waits(let waiter) = joined else { throw SandboxError("no agent can ask") }
    keptToo = waiter
    // Agents are told of an inquiry after a pause.
    pass(.seconds(1))
    return waiter.inquiry.value
  }

  /// Locks the keyring, has a program wait for its unlock, and returns the number of the program's prompt.
  func makePrompt() throws -> Int {
    let keyring = try #require(door.secrets).keyring
    let program = owner()
    keyring.isOn = true
    try keyring.lock(for: program)
    let terms = AskedCall.Terms(
      program, .untilServed, about: AskedCall.About(.find, detail: "a prompt of the keyring"),
      saying: { Said(purpose: "to test") }, isStillAsking: { true })
    let prompt = try KeyringPrompt(
      .unlock([.collection(.login)]), keyring, door.asking, terms, Line(of: program.uid), within: nil
    ) { _ in }
    prompt.begin()
    return prompt.number.value
  }

  // MARK: The vault

  /// Adds a slot that a secret opens.
  func addSlot(_ kind: SlotKind, _ secret: String, kdf: Argon2id.Parameters? = nil) throws {
    let keychain = try vault.keychain()
    let key = ConnectionStand.secret(ConnectionStand.key)
    let slot = try SlotRecord.make(
      id: keychain.nextSlotID, kind: kind, label: "", created: 1, secret: ConnectionStand.secret(Array(secret.utf8)),
      kdf: kdf, vaultKey: key, vaultID: keychain.vaultID)
    try keychain.addSlot(slot, given: [], vaultKey: key)
  }

  /// Returns the header of a backup, in base64.
  func backupHeader() throws -> String {
    let keychain = try vault.keychain()
    let stream = try keychain.beginBackup(now: 1)
    defer {
      stream.wipe()
      keychain.endBackup()
    }
    var part = [UInt8](repeating: 0, count: BackupStream.largestPart)
    var span = part.mutableSpan
    var bytes = unsafe span.mutableBytes  // Bytes have no padding: all are initialized.
    let count = try stream.next(into: &bytes)
    return Array(part[..<count]).base64
  }
}
