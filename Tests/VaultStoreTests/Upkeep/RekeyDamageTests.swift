import Foundation
import Testing
import VaultCore
import VaultModel

@testable import VaultStore

// Rekeys of stores that are not as they were written.
extension RekeyTests {
  @Test("a store whose check has failed gets no new key, and none that was begun is gone on with")
  func failed() throws {
    let fixture = try Fixture.withItems(3)
    let keychain = try fixture.unlocked()
    do { _ = try fixture.rekey(keychain) }
    keychain.notice(VaultError.corrupt("something was met"))
    expectCorrupt { _ = try Rekey(resuming: keychain, nextKey: secret(Fixture.nextKey)) }
    #expect(keychain.isRekeying)
    let other = try Fixture.withItems(3)
    let unlocked = try other.unlocked()
    unlocked.notice(VaultError.corrupt("something was met"))
    expectCorrupt { _ = try other.rekey(unlocked) }
    #expect(!unlocked.isRekeying)
  }

  @Test(
    "a damaged record ends it, and the live store stays as it was",
    arguments: [
      "UPDATE heads SET sealed = zeroblob(length(sealed)) WHERE id = 4",
      "UPDATE heads SET value = zeroblob(length(value)) WHERE id = 4", "UPDATE vals SET sealed = x'00'",
    ])
  func damaged(sql: String) throws {
    let fixture = try Fixture.withItems(8)
    try fixture.sql(sql)
    let keychain = try fixture.unlocked()
    do {
      let rekey = try fixture.rekey(keychain)
      expectCorrupt { while try !rekey.step(records: 2) {} }
    }
    try keychain.dropRekey()
    #expect(try keychain.text("folder 0/item 0") == "second 0")
    #expect(try fixture.names() == ["vault.db", "vault.db-wal", "vault.lock"])
  }

  @Test(
    "a second store that was changed by somebody else does not take the place of the first",
    arguments: [
      "DELETE FROM tags WHERE tag = (SELECT min(tag) FROM tags)", "DELETE FROM slots",
      "UPDATE vals SET sealed = zeroblob(length(sealed))", "DELETE FROM keys WHERE name = 'always'",
      "UPDATE slots SET record = zeroblob(length(record))", "DELETE FROM vals",
      "UPDATE heads SET sealed = zeroblob(length(sealed)) WHERE id = 2",
      "UPDATE heads SET value = zeroblob(length(value)) WHERE id = 2",
    ])
  func tampered(sql: String) throws {
    let fixture = try Fixture.withItems(12)
    let keychain = try fixture.unlocked()
    do {
      let rekey = try fixture.rekey(keychain)
      while try !rekey.step(records: 16) {}
    }
    _ = try Fixture.run(fixture.path("rekey/vault.db"), sql)
    expect(\.isOfSecondStore) { try fixture.resume(keychain).complete() }
    #expect(!keychain.hasFailed)
    #expect(try keychain.text("folder 0/item 0") == "second 0")
    try keychain.dropRekey()
    #expect(try keychain.verify().isOK)
  }
}
