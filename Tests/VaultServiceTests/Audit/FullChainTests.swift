import Testing
import VaultCore
import VaultModel
import VaultStore

@testable import VaultService

/// A chain of the audit log that is long enough, to which the repetitions of its last entries are still added.
@Suite("A full chain of the audit log") struct FullChainTests {
  @Test(
    "takes the numbers of repetitions where each entry is a record, and a check accepts it", arguments: [1, 2, 300])
  func repetitions(repeated: Int) throws {
    var settings = VaultSettings()
    settings.hideNames = true
    let stand = try RoomStand.unlocked(settings, system: true)
    stand.vault.lock(because: .asked)
    let stranger = RoomStand.caller(61_999)
    for number in Array(0..<1000) + Array(0..<repeated) + Array(1000..<1100) {
      let name = try ItemName("none/\(number)")
      #expect(throws: Refusal.self) { try stand.items.item(name, for: stranger) }
    }
    try stand.unlock()
    let keychain = try stand.vault.keychain()
    #expect(try keychain.verify().findings.map(\.text) == [])
    var searches = AuditFilter()
    searches.action = .find
    let times = try AuditTests.found(stand, searches).map { Int($0.repeats?.count ?? 1) }
    #expect(times.reduce(0, +) == 1100 + repeated)
    // A restart reads the log anew.
    try stand.restart()
    try stand.unlock()
    #expect(try stand.vault.keychain().verify().findings.map(\.text) == [])
  }
}
