import Foundation
import Testing
import VaultCore
import VaultModel
import VaultTesting

@testable import VaultStore

/// The list that names what authenticates each part of the store.
@Suite struct AuthenticityTests {
  private static func name(_ statement: String) -> String {
    String(statement.dropFirst("CREATE TABLE ".count).prefix { $0 != "(" })
  }

  @Test("names every table of the schema and every row of meta, and no other")
  func complete() {
    let tables = Schema.tables.map(Self.name).filter { $0 != "meta" }
    #expect(Set(Authenticity.list.map(\.subject)) == Set(tables + MetaName.all.map { "meta " + $0 }))
    #expect(Authenticity.list.count == tables.count + MetaName.all.count)
  }

  @Test("is the list of vault-security(7)")
  func manual() throws {
    let page = try String(contentsOf: Repository.root.appending(path: "man/vault-security.7"), encoding: .utf8)
    let rest = page.split(separator: "\n").drop { $0 != "Every part of the store is one of these:" }
    let list = rest.prefix { $0 != ".El" }
    let subjects = list.filter { $0.hasPrefix(".It ") }.flatMap { $0.dropFirst(4).split(separator: ", ") }
    #expect(subjects.map(String.init).sorted() == Authenticity.list.map(\.subject).sorted())
  }

  @Test("a vault has no other row of meta, also while a rekey is under way")
  func rows() throws {
    let fixture = try Fixture.withItems(3)
    let keychain = try fixture.unlocked()
    try keychain.markStale(.recovery)
    _ = try keychain.joinAudit(rows: .max)
    try AuditStoreTests.write(1, to: keychain)
    let rekey = try fixture.rekey(keychain)
    let statement = try keychain.database.connection.prepare("SELECT name FROM meta")
    var found: Set<String> = []
    try statement.each { (row: Statement) throws(VaultError) in
      found.insert(try row.text(0))
      return true
    }
    #expect(found == Set(MetaName.all))
    withExtendedLifetime(rekey) {}
  }

  @Test("says the truth: a changed row of each part that something authenticates fails the check")
  func holds() throws {
    for entry in Authenticity.list {
      let sql: String
      switch entry.proof {
      case .needless: continue
      case .inItsClass, .inAllClasses, .itself:
        switch entry.subject {
        case "heads": sql = "UPDATE heads SET sealed = zeroblob(length(sealed)) WHERE id = 1"
        case "vals": sql = "UPDATE vals SET sealed = zeroblob(length(sealed)) WHERE item = 1"
        case "tags": sql = "DELETE FROM tags WHERE item = 1"
        case "grants": sql = "UPDATE grants SET sealed = zeroblob(length(sealed)) WHERE id = 1"
        case "slots": sql = "UPDATE slots SET record = zeroblob(length(record)) WHERE id = 2"
        case "keys": sql = "UPDATE keys SET sealed = zeroblob(72) WHERE name = 'always.boot'"
        case "hashes": sql = "UPDATE hashes SET record = zeroblob(length(record)) WHERE class = 2"
        case "audit": sql = "UPDATE audit SET sealed = zeroblob(length(sealed)) WHERE id = 2"
        case "deposits": sql = "UPDATE deposits SET sealed = zeroblob(length(sealed))"
        case "meta audit-end": sql = "UPDATE meta SET value = zeroblob(length(value)) WHERE name = 'audit-end'"
        case "meta audit-anchor": sql = "UPDATE meta SET value = zeroblob(length(value)) WHERE name = 'audit-anchor'"
        case "meta rekeying": sql = "INSERT INTO meta VALUES('rekeying', zeroblob(152))"
        default: throw RawError(text: "nothing changes \(entry.subject)")
        }
      }
      let fixture = try VerifyTests.fixture()
      let grant = Grant(
        subject: try Subject(parsing: "user:1"), pattern: try ItemPattern("a"), rights: .all, created: 1)
      let before = try fixture.unlocked()
      try before.changeGrants(removing: [], adding: [GrantRecord(.grant(grant))], now: 2000)
      _ = try before.joinAudit(rows: .max)
      try AuditStoreTests.write(2, to: before)
      // This deposit is kept aside.
      _ = try before.takeIn(LeftValue("left"), now: 2000) { _, _, _ in .denied }
      try before.close()
      try fixture.sql(sql)
      let keychain = try fixture.unlocked()
      #expect(try !keychain.verify().isOK, "\(entry.subject)")
      #expect(keychain.integrity == .failed, "\(entry.subject)")
    }
  }
}
