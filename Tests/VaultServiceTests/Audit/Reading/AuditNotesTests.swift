import Testing
import VaultCore
import VaultModel

@testable import VaultService
@testable import VaultStore

@Suite("Notes of the audit log that were made elsewhere") struct AuditNotesTests {
  private static let other = Digest(of: unsafe [UInt8(1)].span.bytes)

  /// Returns the result of a comparison of a log with these notes.
  private static func compared(_ stand: RoomStand, _ notes: [(Int64, Digest)]) throws -> AuditReading.Result {
    var noted = AuditNotes()
    for (entry, link) in notes { noted.add(link, for: entry) }
    let reading = try stand.access.readAudit(AuditFilter(), noted: noted, for: stand.administrator)
    defer { reading.end() }
    while try !reading.page(until: .max, now: { 0 }).isOver {}
    return try #require(reading.result)
  }

  @Test("that contradict each other are a fault, in whichever order they are given") func contradiction() throws {
    let stand = try RoomStand.unlocked()
    stand.vault.audit.record(.use, .ok, stand.administrator, item: "a")
    stand.vault.audit.write()
    let facts = try stand.vault.keychain().auditFacts
    let (right, wrong) = ((facts.entries, facts.link), (facts.entries, Self.other))
    for notes in [[right, wrong], [wrong, right], [right, wrong, right]] {
      let result = try Self.compared(stand, notes)
      #expect(result.compared == 2 && result.uncompared == 0)
      let text = "the links noted elsewhere for entry \(facts.entries) contradict each other"
      #expect(result.faults.contains { $0.text == text }, "\(result.faults)")
    }
    let result = try Self.compared(stand, [right, right])
    #expect(result.compared == 1 && result.faults.isEmpty, "\(result.faults)")
  }

  @Test("of a record and of the beginning of the next chain, as earlier versions made them, are both right")
  func beginning() throws {
    let stand = try RoomStand.unlocked()
    stand.vault.audit.record(.use, .ok, stand.administrator, item: "a")
    stand.vault.audit.write()
    let keychain = try stand.vault.keychain()
    let facts = keychain.auditFacts
    keychain.endAuditChain()
    var block = AuditBlock()
    block.add(.get, .ok, time: 5000, caller: nil, repeats: AuditEntry.Repeats(of: nil, count: 3))
    try keychain.sealAuditTally(&block, now: 5000)
    let ofBeginning = keychain.auditEnd.link
    try keychain.writeAudit(anchored: true)
    #expect(keychain.auditFacts.link == facts.link && ofBeginning != facts.link)
    let (one, other, wrong) = ((facts.entries, facts.link), (facts.entries, ofBeginning), (facts.entries, Self.other))
    for notes in [[one], [other], [one, other], [other, one]] {
      let result = try Self.compared(stand, notes)
      #expect(result.compared == notes.count && result.faults.isEmpty, "\(result.faults)")
    }
    for notes in [[one, other, wrong], [wrong, other, one], [wrong, other], [wrong]] {
      #expect(try !Self.compared(stand, notes).faults.isEmpty)
    }
  }

  @Test("contradict each other about entries that were removed, too") func removed() throws {
    var settings = VaultSettings()
    settings.audit.size = 1 << 20
    let stand = try RoomStand.unlocked(settings)
    stand.vault.audit.write()
    let first = try stand.vault.keychain().auditFacts
    for number in 0..<2500 {
      let subject = AuditSubject.Name(text: "user:\(number / 25)")
      let item = "\(number) \(String(repeating: "x", count: 1000))"
      stand.vault.audit.record(.use, .ok, for: subject, item: item, detail: "")
    }
    for _ in 0..<2 { stand.hands.pass(seconds: 61) }
    #expect(try stand.vault.keychain().auditFacts.cut >= first.entries)
    let alone = try Self.compared(stand, [(first.entries, first.link)])
    #expect(alone.compared == 0 && alone.uncompared == 1 && alone.faults.isEmpty)
    let both = try Self.compared(stand, [(first.entries, first.link), (first.entries, Self.other)])
    #expect(both.compared == 1 && both.uncompared == 1 && both.faults.count == 1, "\(both.faults)")
  }
}
