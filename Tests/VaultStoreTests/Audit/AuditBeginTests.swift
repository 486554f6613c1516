import Testing
import VaultCore
import VaultModel

@testable import VaultStore

@Suite("The beginning of an audit log that was cut") struct AuditBeginTests {
  @Test("is the time at which its first chain began, and links about entries before it are not compared")
  func begin() throws {
    let fixture = try Fixture.withItems(1)
    let keychain = try fixture.unlocked()
    #expect(try keychain.joinAudit(rows: .max) == [])
    // Each entry has a chain of its own.
    var links: [Int64: Digest] = [:]
    for number in 1...8 as ClosedRange<Int64> {
      var block = AuditBlock()
      block.add(AuditEntry(time: 5000 + number, action: .lock, outcome: .ok, item: "\(number)"))
      try keychain.sealAudit(&block, now: 5000 + number)
      try keychain.writeAudit(anchored: true)
      links[number] = keychain.auditFacts.link
      keychain.endAuditChain()
    }
    #expect(keychain.auditFacts.entries == 8 && keychain.auditBegin == nil)
    func compare(_ noted: [Int64: Digest]) throws -> (faults: Int, compared: Int, uncompared: Int) {
      let walk = try keychain.auditWalk(noted: noted)
      while try !walk.step(keychain, rows: 10) {}
      return (walk.faults.count, walk.notes - walk.uncompared, walk.uncompared)
    }
    #expect(try compare(links) == (0, 8, 0))

    let gone = try keychain.cutAudit(toBytes: keychain.auditFacts.bytes / 2, olderThan: nil, now: 6000)
    #expect((1..<7).contains(gone) && keychain.auditBegin == 5001 + gone)
    #expect(try compare(links) == (0, 8 - Int(gone), Int(gone)))
    let last = try #require(links[8])
    #expect(try compare([1: last]) == (0, 0, 1), "a link that is not right, about an entry that was removed")
    #expect(try compare([7: last]) == (1, 1, 0))
    keychain.lock(hidingNames: false)
    #expect(keychain.auditBegin == nil)
  }
}
