import Testing
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

@Suite("Grants that are not what was stored") struct ChangedGrantsTests {
  private static let denied = Refusal.denied("you may not do this")

  private static func give(_ stand: RoomStand, _ subject: String, _ pattern: String) throws {
    stand.access.add(.presence, by: stand.administrator, with: [])
    _ = try stand.access.give(
      try Subject(parsing: subject), try ItemPattern(pattern), Rights(.get), until: nil, for: stand.administrator)
  }

  private static func isServed(_ stand: RoomStand, _ name: String, _ caller: Caller) throws -> Bool {
    var isServed = false
    _ = try stand.items.get(try ItemName(name), for: caller) { _, _, _ in isServed = true }
    return isServed
  }

  /// Makes a process of the user, in a unit of the user's manager or outside.
  private static func process(_ path: String? = nil, unit: String? = nil) -> Caller {
    var caller = RoomStand.caller(executable: path)
    caller.userUnit = unit
    return caller
  }

  private static func putRows(_ count: Int) -> String {
    """
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
    INSERT INTO grants(item, class, sealed) SELECT randomblob(16), 1, x'00' FROM n
    """
  }

  private static let tooMany = "vault.db has more than 12288 rows of grants, and no vault has as many"
  private static let advice = "`vault verify` says what is wrong, `vault salvage` saves the rest"

  @Test("because there are too many are told of as such, to the journal and to whoever asks") func tooMany() throws {
    let stand = try RoomStand.unlocked(system: true)
    try stand.set("own/a")
    try Self.give(stand, "user:990", "own/*")
    try stand.edit(Self.putRows(12_288))
    try stand.unlock()
    for accessible in AccessClass.allCases {
      #expect(
        stand.journal.value.contains {
          $0.hasSuffix("no grant for items of class \(accessible.name) counts: \(Self.tooMany); \(Self.advice)")
        })
    }
    #expect(!stand.journal.value.contains { $0.contains("the vault is locked") })
    #expect(throws: Self.denied) { try Self.isServed(stand, "own/a", RoomStand.caller(990)) }
    let refusal = Refusal.corrupt(Self.tooMany, isNewer: false, advice: Self.advice)
    let (access, administrator) = (stand.access, stand.administrator)
    #expect(throws: refusal) { _ = try access.grants(Access.GrantFilter(), for: administrator) }
    #expect(throws: refusal) { _ = try access.whoMay(try ItemName("own/a"), for: administrator) }
    #expect(throws: refusal) { _ = try access.revoke(try Subject(parsing: "user:990"), nil, for: administrator) }
  }

  @Test(
    "hold the programs that they name to nothing else, as far as they can be read",
    arguments: [
      // The first edit removes the grant itself from every class, and leaves the record that it named somebody.
      "DELETE FROM grants WHERE item = (SELECT item FROM grants ORDER BY id LIMIT 1)", Self.putRows(12_288),
    ])
  func confined(edit: String) throws {
    let stand = try RoomStand.unlocked()
    try stand.set("a")
    try Self.give(stand, "user:1000,exe:/usr/bin/dashboard", "other")
    let dashboard = Self.process("/usr/bin/dashboard")
    #expect(throws: Self.denied) { try Self.isServed(stand, "a", dashboard) }
    try stand.edit(edit)
    try stand.unlock()
    #expect(stand.access.book.counting.isEmpty)
    #expect(throws: Self.denied) { try Self.isServed(stand, "a", dashboard) }
    #expect(throws: Refusal.self) { try stand.access.checkAdministrator(dashboard) }
    #expect(try Self.isServed(stand, "a", Self.process("/usr/bin/other")))
  }

  @Test("leave a service without what no grant gives it, since they may have named it") func services() throws {
    let stand = try RoomStand.unlocked()
    try stand.set("a")
    try Self.give(stand, "unit:x.service", "other")
    let (named, other) = (Self.process(unit: "x.service"), Self.process(unit: "y.service"))
    #expect(try Self.isServed(stand, "a", other))
    // One class suffices to tell whom grants have named, unless its key may lie beside the store.
    try stand.edit("DELETE FROM grants WHERE class = 1")
    try stand.unlock()
    #expect(throws: Self.denied) { try Self.isServed(stand, "a", named) }
    #expect(try Self.isServed(stand, "a", other))
    try stand.edit("DELETE FROM grants")
    try stand.unlock()
    for caller in [named, other] { #expect(throws: Self.denied) { try Self.isServed(stand, "a", caller) } }
    #expect(stand.access.auditName(of: other) == .undecided)
    #expect(try Self.isServed(stand, "a", Self.process(unit: "app.scope")))
  }

  @Test("are no word on whom grants have named where the class alone is whole whose key lies beside the store")
  func weaker() throws {
    let missing = GrantBook.Loaded.changed([], because: .corrupt("gone"))
    var book = GrantBook()
    #expect(!book.knowsConfined)
    book.load(.always, [])
    #expect(book.knowsConfined)
    book.load([.whenUnlocked: missing, .afterFirstUnlock: missing])
    #expect(!book.knowsConfined && book.problem == .corrupt("gone") && book.isTrusted)
    book.load(.afterFirstUnlock, [])
    #expect(book.knowsConfined)
    // Later damage does not take back what was known.
    book.load([.afterFirstUnlock: missing])
    #expect(book.knowsConfined)
  }

  @Test("keep what they take from somebody: a denial, and that all wait to be confirmed") func restrictions() throws {
    let target = RequestTarget(try Subject(parsing: "user:990"), try ItemName("a"))
    let grant = GrantRecord(
      .grant(Grant(subject: target.subject, pattern: try ItemPattern("a"), rights: Rights(.get), created: 1)))
    var book = GrantBook()
    book.load(.always, [grant])
    #expect(!book.counting.isEmpty)
    let denial = GrantRecord(.denied(target.subject, target.name))
    book.load([.whenUnlocked: .changed([grant, denial], because: .corrupt(""))])
    #expect(book.denies(target) && book.all.count == 1 && !book.counting.isEmpty)
    let unconfirmed = GrantRecord(.unconfirmed(since: 7))
    book.load([.whenUnlocked: .changed([grant, unconfirmed], because: .corrupt(""))])
    #expect(book.counting.isEmpty && book.unconfirmed == [unconfirmed.id: 7])
  }
}
