import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Changes that remove a damaged value before a check has met it. A backup begun earlier contains that value, and the
/// check that the backup waits for would no longer find the damage.
@Suite("A damaged value that a change takes away") struct DamagedRemovalTests {
  enum Removal: CaseIterable {
    case deleted, emptied, pushedOut, replaced, amended, moved, trashed, otherClass

    /// True if the change removes older values, too.
    var isOfOlder: Bool {
      switch self {
      case .deleted, .emptied, .pushedOut, .otherClass: true
      case .replaced, .amended, .moved, .trashed: false
      }
    }

    func change(_ keychain: Keychain) throws {
      let victim = try name("victim")
      switch self {
      case .deleted: try keychain.delete([victim])
      case .emptied: _ = try keychain.emptyTrash(ofAge: 0, examining: 10)
      case .pushedOut:
        for number in 0..<12 { try keychain.put("victim", "newer \(number)", update: true) }
      case .replaced: try keychain.put("victim", "newer", update: true)
      case .amended: try keychain.amend(victim, value: secret("newer"), now: 3000)
      case .moved: try keychain.move(from: victim, to: name("elsewhere"), now: 3000)
      case .trashed: try keychain.trash([victim], now: 3000)
      case .otherClass: try keychain.put("victim", "newer", accessible: .always, update: true)
      }
    }
  }

  private static func damaged(_ removal: Removal, older: Bool) throws -> Fixture {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      for number in 0..<20 { try keychain.put("item \(number)") }
      for version in 1...3 { try keychain.put("victim", "value \(version)", update: version > 1) }
      if removal == .emptied { try keychain.trash([name("victim")], now: 2500) }
    }
    let last = "CASE substr(%, -1) WHEN x'00' THEN x'01' ELSE x'00' END"
    let byte = "CAST(substr(%, 1, length(%) - 1) || \(last) AS BLOB)"
    try fixture.sql(
      older
        ? "UPDATE vals SET sealed = \(byte.replacing("%", with: "sealed")) WHERE version = 1"
        : "UPDATE heads SET value = \(byte.replacing("%", with: "value")) WHERE id = (SELECT max(id) FROM heads)")
    return fixture
  }

  @Test("is refused and named, before a check and within one", arguments: Removal.allCases)
  func named(removal: Removal) throws {
    for older in removal.isOfOlder ? [false, true] : [false] {
      for isChecking in [false, true] {
        let fixture = try Self.damaged(removal, older: older)
        let keychain = try fixture.unlocked()
        if isChecking {
          keychain.beginVerification()
          #expect(try keychain.continueVerification(records: 1) == nil)
        }
        let note = Comment("\(removal), older: \(older), checking: \(isChecking)")
        #expect(throws: VaultError.corrupt("version \(older ? 1 : 3) of item 21 is not the one its head names"), note) {
          try removal.change(keychain)
        }
        #expect(keychain.hasFailed, note)
        var result: Verification?
        while isChecking, result == nil { result = try keychain.continueVerification(records: 8) }
        let found = try (result ?? keychain.verify()).findings
        #expect(found.contains { $0.item == 21 }, note)
      }
    }
  }

  @Test("is one whose tag was given another class as well") func tag() throws {
    for index in 0..<3 {
      let fixture = try Fixture()
      try fixture.unlocked().put("folder/victim", attributes: ["number": "1"])
      let tag = "(SELECT tag FROM tags WHERE item = 1 ORDER BY tag LIMIT 1 OFFSET \(index))"
      try fixture.sql("UPDATE tags SET class = 3 WHERE item = 1 AND tag = \(tag)")
      let keychain = try fixture.unlocked()
      expectCorrupt { try keychain.delete([name("folder/victim")]) }
      #expect(keychain.hasFailed)
    }
  }

  @Test("is not read again once a check has found the store whole") func checked() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    for version in 1...3 { try keychain.put("victim", "value \(version)", update: version > 1) }
    try #require(try keychain.verify().isOK)
    for removal in [Removal.replaced, .amended, .pushedOut, .otherClass, .trashed, .emptied] {
      try removal.change(keychain)
    }
    #expect(try keychain.verify().isOK)
  }
}
