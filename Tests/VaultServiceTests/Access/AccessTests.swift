import CSQLite
import Glibc
import Testing
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

@Suite("One decision for everything that is done to an item") struct AccessTests {
  /// Every call that acts on an item.
  private static let calls: [(name: String, @Sendable (Items, ItemName, Caller) throws -> Void)] = [
    ("get", { items, name, caller in try #require(try items.get(name, for: caller) { _, _, _ in } == nil) }),
    ("item", { items, name, caller in _ = try items.item(name, for: caller) }),
    (
      "set",
      { items, name, caller in
        _ = try items.set(ItemChange(name: name, update: true), .same, for: caller) { _ in true }
      }
    ),
    (
      "set many",
      { items, name, caller in
        let change = (change: ItemChange(name: name, update: true), value: NewValue.same)
        do throws(BatchRefusal) { _ = try items.set([change], for: caller) { _, _ in true } } catch {
          throw error.refusal
        }
      }
    ),
    ("move", { items, name, caller in try items.move(name, to: try ItemName("other"), for: caller) }),
    (
      "restore version",
      { items, name, caller in _ = try items.restoreVersion(1, of: name, for: caller) }
    ),
    (
      "copy",
      { items, name, caller in
        _ = try items.copy(name, to: try ItemName("copy"), replacing: false, evenExpired: false, for: caller)
      }
    ),
    ("delete", { items, name, caller in _ = try items.delete([name], isForGood: false, for: caller) }),
    ("delete for good", { items, name, caller in _ = try items.delete([name], isForGood: true, for: caller) }),
  ]

  @Test("nobody but the owner is let near an item, by whatever call", arguments: calls.indices)
  func others(call: Int) throws {
    let stand = try RoomStand.unlocked()
    try stand.set("a")
    let name = try ItemName("a")
    let (what, body) = Self.calls[call]
    for uid: UInt32 in [0, 1001, .max] {
      let caller = RoomStand.caller(uid)
      #expect(throws: Refusal.denied("you may not do this"), "\(what)") { try body(stand.items, name, caller) }
      let found = try stand.items.find(try Query(parsing: ""), limit: 10, after: nil, until: .max, for: caller)
      #expect(found.items.isEmpty)
      #expect(!stand.items.mayWatch(name, caller))
    }
    #expect(stand.items.mayWatch(name, RoomStand.caller()))
    try body(stand.items, name, RoomStand.caller())
  }

  @Test("a value that asks for a person is given to the session that has shown one, also the one that was read last")
  func presence() throws {
    let stand = try RoomStand.unlocked()
    try stand.set("a", require: .userPresence)
    let name = try ItemName("a")
    let (own, other) = (RoomStand.caller(session: 1), RoomStand.caller(session: 2))
    func isServed(_ caller: Caller) throws -> Bool {
      var isLent = false
      do throws(Refusal) { try stand.items.get(name, for: caller) { _, _, _ in isLent = true }.orRefused() } catch {
        #expect(error == .presenceRequired("a", .userPresence) && !isLent)
      }
      return isLent
    }
    #expect(try !isServed(own))
    stand.items.access.add(.presence, by: own, with: [])
    // Get it twice: the second time it comes from memory.
    for _ in 0..<2 { #expect(try isServed(own) && !isServed(other)) }
    stand.vault.lock(because: .asked)
    try stand.unlock()
    #expect(try !isServed(own))
    // A caller without a known session has no proof of presence.
    var unknown = own
    unknown.session = nil
    stand.items.access.add(.presence, by: own, with: [])
    #expect(try isServed(own) && !isServed(unknown))
  }

  /// Makes a one-time code of the item `a`.
  private func code(_ stand: RoomStand, _ caller: Caller = RoomStand.caller()) throws(Refusal) -> String? {
    var code: String?
    guard let name = try? ItemName("a") else { return nil }
    let wait = try stand.items.code(name, for: caller) { made in
      code = made.digits.withBytes { bytes in
        unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
      }
    }
    try wait.orRefused()
    return code
  }

  @Test("a code is made for who may use an item, which needs the proof that reading it needs, and is nobody else's")
  func use() throws {
    let stand = try RoomStand.unlocked()
    try stand.set("a", require: .password, kind: .totp, "MY")
    #expect(throws: Refusal.denied("you may not do this")) { try code(stand, RoomStand.caller(0)) }
    #expect(throws: Refusal.presenceRequired("a", .password)) { try code(stand) }
    stand.items.access.add(.presence, by: RoomStand.caller(), with: [])
    #expect(throws: Refusal.presenceRequired("a", .password)) { try code(stand) }
    stand.items.access.add(.password, by: RoomStand.caller(), with: [])
    #expect(try code(stand)?.count == 6)
    #expect(throws: Refusal.presenceRequired("a", .password)) { try code(stand, RoomStand.caller(session: 2)) }
  }

  @Test("no copy is made of an item, nor put in the place of one, without the proof that it requires") func copy()
    throws
  {
    let stand = try RoomStand.unlocked()
    try stand.set("proven", require: .password, "of proven")
    try stand.set("open", "of open")
    func copy(_ source: String, _ target: String) throws {
      let (source, target) = (try ItemName(source), try ItemName(target))
      _ = try stand.items.copy(source, to: target, replacing: true, evenExpired: false, for: RoomStand.caller())
    }
    let required = Refusal.presenceRequired("proven", .password)
    #expect(throws: required) { try copy("proven", "open") }
    #expect(throws: required) { try copy("open", "proven") }
    #expect(try stand.value("open") == "of open")
    stand.items.access.add(.password, by: RoomStand.caller(), with: [])
    try copy("proven", "open")
    #expect(try stand.value("open") == "of proven")
    // The copy has the requirement of its source.
    stand.vault.lock(because: .asked)
    try stand.unlock()
    #expect(throws: Refusal.presenceRequired("open", .password)) { try stand.value("open") }
  }

  @Test("a key that is never read is copied for nobody without the right admin, whatever else the caller may do")
  func neverRead() throws {
    let stand = try RoomStand.unlocked(system: true)
    let change = ItemChange(name: try ItemName("key"), use: .mac, neverRead: true)
    _ = try stand.items.set(change, .generated(.key(.hmac)), for: stand.administrator) { _ in true }
    let (key, copy) = (try ItemName("key"), try ItemName("copy"))
    func makeCopy() throws -> Int {
      try stand.items.copy(key, to: copy, replacing: false, evenExpired: false, for: RoomStand.caller(990))
    }
    try GrantTests.give(stand, "user:990", "**", "get,set,find,deposit,watch,use")
    #expect(throws: Refusal.neverRead("key")) { try makeCopy() }
    #expect(try GrantTests.found(stand, stand.administrator) == ["key"])
    try GrantTests.give(stand, "user:990", "**", "admin")
    #expect(try makeCopy() == 1)
    #expect(try stand.items.item(copy, for: stand.administrator).policy.isNeverRead)
  }

  @Test("a key that is never read is copied by an administrator with the proof that it requires, and not without it")
  func neverReadProven() throws {
    let stand = try RoomStand.unlocked(system: true)
    var change = ItemChange(name: try ItemName("key"), use: .mac, neverRead: true)
    change.require = .password
    _ = try stand.items.set(change, .generated(.key(.hmac)), for: stand.administrator) { _ in true }
    let (key, copy) = (try ItemName("key"), try ItemName("copy"))
    func makeCopy() throws -> Int {
      try stand.items.copy(key, to: copy, replacing: false, evenExpired: false, for: stand.administrator)
    }
    #expect(throws: Refusal.presenceRequired("key", .password)) { try makeCopy() }
    stand.access.add(.password, by: stand.administrator, with: [])
    #expect(try makeCopy() == 1)
  }

  @Test("no code by a counter is given out whose successor could not be stored") func notStored() throws {
    let stand = try RoomStand.unlocked()
    try stand.set("a", kind: .totp, "otpauth://hotp/x?secret=MY&counter=0")
    #expect(try code(stand) != nil)
    // A store whose file has been moved is not written to.
    let file = stand.vault.directory + "/vault.db"
    try #require(unsafe rename(file, file + "-aside") == 0)
    var refusal: Refusal?
    do throws(Refusal) { #expect(try code(stand) == nil) } catch { refusal = error }
    guard case .corrupt = refusal else { throw refusal ?? .cancelled }
    try #require(unsafe rename(file + "-aside", file) == 0)
    #expect(try stand.value("a").hasSuffix("=1"))
  }

  @Test("an item that cannot be read is no reason to let a change of its policy through") func unreadable() throws {
    let stand = try RoomStand.unlocked()
    try stand.set("a", require: .biometry)
    var change = ItemChange(name: try ItemName("a"), update: true)
    change.require = Requirement.none
    func set(_ change: ItemChange) throws(Refusal) {
      _ = try stand.items.set(change, .same, for: RoomStand.caller()) { _ in true }
    }
    #expect(throws: Refusal.presenceRequired("a", .biometry)) { try set(change) }
    try stand.damageHeads()
    // Damage is the reason, although presence is missing, too.
    do throws(Refusal) {
      try set(change)
      Issue.record("it was changed")
    } catch {
      guard case .corrupt = error else { throw error }
    }
  }
}

extension RoomStand {
  fileprivate func value(_ name: String) throws -> String {
    var text = ""
    let wait = try items.get(ItemName(name), for: Self.caller()) { _, _, value in
      text = unsafe value.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
    try wait.orRefused()
    return text
  }

  /// Damages the sealed heads of all items in the open store.
  fileprivate func damageHeads() throws {
    let keychain = try vault.keychain()
    try keychain.close()
    var database: OpaquePointer?
    try #require(unsafe sqlite3_open(vault.directory + "/vault.db", &database) == SQLITE_OK)
    let damage = "UPDATE heads SET sealed = CAST(sealed || x'00' AS BLOB)"
    let isDone = unsafe sqlite3_exec(database, damage, nil, nil, nil) == SQLITE_OK
    unsafe sqlite3_close(database)
    try #require(isDone)
    vault.reopenStore()
    try unlock()
  }
}
