import Testing
import VaultCore
import VaultModel

@testable import VaultService
@testable import VaultStore

/// Times that somebody forged: those of `always` with the boot key, and those of log entries with the disk alone.
@Suite("A forged time") struct ForgedTimeTests {
  private static func give(_ stand: RoomStand, _ rights: String) throws {
    _ = try stand.access.give(
      try Subject(parsing: "user:990"), try ItemPattern("own/*"), try Rights(parsing: rights), until: nil,
      for: stand.administrator)
  }

  /// Makes an item that expires at 9000, when the time of `always` lies far behind that. The clock says 2000.
  private static func stand() throws -> (stand: RoomStand, keychain: Keychain) {
    let stand = try RoomStand.unlocked(system: true)
    try give(stand, "deposit,set")
    var change = ItemChange(name: try ItemName("own/a"))
    change.expires = .some(9000)
    _ = try stand.items.set(change, .generated(.phrase(words: 4)), for: stand.administrator) { _ in true }
    let keychain = try stand.vault.keychain()
    keychain.facts[.always]?.advance(to: .max / 2)
    #expect(stand.vault.newestTime == .max / 2)
    return (stand, keychain)
  }

  @Test("of always expires no item of another class for a caller who renews it") func renewal() throws {
    let (stand, keychain) = try Self.stand()
    let renewal = ItemChange(name: try ItemName("own/a"), update: true)
    _ = try stand.items.set(renewal, .generated(.phrase(words: 4)), for: RoomStand.caller(990)) { _ in true }
    #expect(keychain.newestTime(of: .whenUnlocked, at: 2000) == 2000)
  }

  @Test("of always lets a deposit into the item, and is nowhere in what the other class stores") func deposit() throws {
    let (stand, keychain) = try Self.stand()
    let answer = try stand.items.deposit(
      try ItemName("own/a"), kind: nil, attributes: nil, accessible: nil, count: 1, for: RoomStand.caller(990), Said()
    ) { out in
      out.storeBytes(of: 65, as: UInt8.self)
      return true
    }
    #expect(answer.version == 2 && answer.obstacle == nil)
    #expect(keychain.newestTime(of: .whenUnlocked, at: 2000) == 2000)
    let item = try keychain.item(named: ItemName("own/a"))
    #expect(item.modified == 2000 && item.expires == 9000)
  }

  @Test("of always is not the time at which a grant is made") func grant() throws {
    let (stand, _) = try Self.stand()
    try Self.give(stand, "get")
    #expect(stand.access.book.all.map(\.grant.created) == [2000])
  }

  @Test("of a grant's last use, or of entries of the log, ends no daemon") func extremes() throws {
    var grant = Grant(
      subject: try Subject(parsing: "user:990"), pattern: try ItemPattern("own/*"), rights: Rights(.get), created: 1)
    grant.used = .min
    var uses: [Int64] = []
    let index = GrantIndex([GrantIndex.Entry(.random(), grant)]) { _, now in uses.append(now) }
    #expect(index.rights(on: try ItemName("own/a"), now: 2000) == Rights(.get) && uses == [2000])

    var firsts = AuditFirsts()
    for number in 0..<Int64(AuditRepeats.most) + 2 {
      let time: Int64 = number < AuditRepeats.most ? .min : .max
      firsts.add(AuditEntry(time: time, action: .get, outcome: .ok, item: "\(number)"), number)
    }
    var entry = AuditEntry(time: .max, action: .get, outcome: .ok)
    #expect(firsts.fill(&entry, of: 0) && entry.item == "0")
  }
}
