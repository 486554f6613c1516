import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// Deposits of 64 KiB, each of which counts as five items in a step, and grants, of which a step has some more.
@Suite("Deposits and grants in a salvage, a few in each step") struct SalvageStepTests {
  /// A change of the deposits while a salvage is under way.
  enum Change: CaseIterable {
    case kept, dropped, accepted

    var numbers: [Int64] {
      switch self {
      case .kept: [1, 2, 3, 4]
      case .dropped: [1, 3]
      case .accepted: [1, 2]
      }
    }

    func make(_ keychain: Keychain) throws {
      switch self {
      case .kept: try DepositStepTests.keep(keychain)
      case .dropped: _ = try keychain.dropDeposit(2, now: 2001)
      case .accepted: _ = try keychain.acceptDeposit(3, by: "user:0", now: 2001)
      }
    }
  }

  private static func kept(_ count: Int) throws -> (Fixture, Keychain, Salvage) {
    let fixture = try Fixture.withItems(2)
    let keychain = try fixture.unlocked()
    try DepositStepTests.keep(keychain, count)
    return (fixture, keychain, try Salvage(keychain, in: fixture.path("salvage"), now: 5000))
  }

  private static func complete(_ salvage: Salvage) throws -> Int {
    var steps = 1
    while try !salvage.step(items: 4) { steps += 1 }
    return steps
  }

  private static func grants(_ count: Int) throws -> [GrantRecord] {
    try (1...count).map {
      let subject = try Subject(parsing: "user:\($0)")
      return GrantRecord(
        .grant(Grant(subject: subject, pattern: try ItemPattern("a/*"), rights: Rights(.get), created: 1)))
    }
  }

  @Test("a deposit that is long is the only one of a step") func steps() throws {
    let (fixture, _, salvage) = try Self.kept(12)
    defer { withExtendedLifetime(fixture) {} }
    #expect(try Self.complete(salvage) >= 12)
    #expect(salvage.result.losses.isEmpty && salvage.result.saved == 2)
    #expect(try salvage.target.keptAside().count == 12 && salvage.target.verify().isOK)
  }

  @Test("a deposit that is left meanwhile makes no step longer") func flooded() throws {
    let (fixture, keychain, salvage) = try Self.kept(12)
    defer { withExtendedLifetime(fixture) {} }
    for _ in 0..<9 { #expect(try !salvage.step(items: 4)) }
    var steps = 0
    repeat {
      try DepositStepTests.keep(keychain)
      steps += 1
    } while try !salvage.step(items: 4) && steps < 6
    // 3 of the 12 and these 6 were left to be copied.
    #expect(try steps == 6 && Self.complete(salvage) >= 3)
    #expect(salvage.result.losses.isEmpty)
    #expect(try salvage.target.keptAside().count == 18 && salvage.target.verify().isOK)
  }

  @Test("deposits that are changed meanwhile are saved as they were, or as they are", arguments: Change.allCases)
  func deposits(change: Change) throws {
    var (step, isAtEnd, seen) = (0, false, Set<[Int64]>())
    while !isAtEnd {
      let (fixture, keychain, salvage) = try Self.kept(3)
      defer { withExtendedLifetime(fixture) {} }
      for _ in 0..<step where !isAtEnd { isAtEnd = try salvage.step(items: 4) }
      try change.make(keychain)
      if !isAtEnd { _ = try Self.complete(salvage) }
      #expect(salvage.result.losses.isEmpty, "after step \(step): \(salvage.result.losses)")
      #expect(try salvage.target.verify().isOK, "after step \(step)")
      seen.insert(try salvage.target.toldDeposits(after: 0, limit: 9).map(\.number))
      step += 1
    }
    #expect(seen == [[1, 2, 3], change.numbers] && step > 3)
  }

  @Test("those that were kept aside are all lost, and those that wait are not, if one was changed on the disk")
  func edited() throws {
    let fixture = try Fixture.withItems(2)
    do {
      let keychain = try fixture.unlocked()
      try DepositStepTests.keep(keychain, 3)
      keychain.lock(hidingNames: false)
      try keychain.leave(LeftValue("left", "one", base: 0))
    }
    try fixture.sql("UPDATE deposits SET sealed = CAST(sealed || x'00' AS BLOB) WHERE id = 2")
    let keychain = try fixture.unlocked()
    let salvage = try Salvage(keychain, in: fixture.path("salvage"), now: 5000)
    _ = try Self.complete(salvage)
    let lost =
      "the deposits that were kept aside are lost, and sealed boxes that were used can be used again: "
      + "the records of both are not those that were stored last"
    #expect(salvage.result.losses.map(\.text) == [lost])
    #expect(try salvage.target.keptAside().isEmpty)
    #expect(try salvage.target.takeInAll() == [.stored(version: 1)] && salvage.target.text("left") == "one")
    #expect(try salvage.target.verify().isOK)
  }

  @Test("grants that are changed meanwhile are saved as they were, or as they are") func grants() throws {
    var (step, isAtEnd, seen) = (0, false, Set<Bool>())
    while !isAtEnd {
      let fixture = try Fixture.withItems(2)
      let keychain = try fixture.unlocked()
      let records = try Self.grants(40)
      try keychain.changeGrants(removing: [], adding: records, now: 2000)
      let salvage = try Salvage(keychain, in: fixture.path("salvage"), now: 5000)
      for _ in 0..<step where !isAtEnd { isAtEnd = try salvage.step(items: 1) }
      try keychain.changeGrants(removing: [records[39].id], adding: [], now: 2001)
      while !isAtEnd { if try salvage.step(items: 1) { break } }
      #expect(salvage.result.losses.isEmpty, "after step \(step): \(salvage.result.losses)")
      for accessible in AccessClass.allCases {
        let saved = try salvage.target.grants(of: accessible)
        #expect(saved == records || saved == records.dropLast(), "after step \(step)")
        seen.insert(saved == records)
      }
      #expect(try salvage.target.verify().isOK, "after step \(step)")
      step += 1
    }
    #expect(seen == [true, false] && step > 6)
  }
}
