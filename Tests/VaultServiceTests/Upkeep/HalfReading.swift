import VaultCore
import VaultModel

@testable import VaultService
@testable import VaultStore

/// A reading that is half way when a rekey ends. It is no state of the store's: the reader keeps its place, and goes on
/// in the store with the new keys.
enum HalfReading: CaseIterable {
  /// A reading of the audit log: of all of it, of what a user did itself, or of the last entries.
  case log, ownEntries, lastEntries
  /// A check of the log, with a link that was noted elsewhere.
  case logCheck
  case deposits, grants, search
  /// A reader who is told of new entries of the log. It comes last, because it makes one.
  case follower

  private static let names = (0..<5).map { "own/\($0)" }
  /// The purposes of the gets in the log, each of which is a record of its own. One step reads eight records.
  private static let purposes = (0..<24).map { "turn \($0)" }
  private static var service: Caller { RoomStand.caller(991) }

  /// Makes a vault with what the readings are about.
  static func stand() throws -> RoomStand {
    let rooms = try RoomStand.unlocked(system: true)
    for name in names { try rooms.set(name) }
    try GrantTests.give(rooms, "user:991", "own/*", "get,find")
    try GrantTests.give(rooms, "user:992", "own/*", "deposit")
    try GrantTests.give(rooms, "user:993", "other/*", "get")
    for name in names.prefix(3) { try DepositTests.leave(rooms, name, by: RoomStand.caller(992)) }
    for purpose in purposes {
      AuditTests.get(rooms, names[0], service, for: purpose)
      rooms.vault.audit.write()
    }
    return rooms
  }

  /// Begins the reading.
  ///
  /// - Returns: a closure that reads the rest, and is true if the reading was half way before and has returned
  ///   everything, each once.
  func begin(_ rooms: RoomStand) throws -> () throws -> Bool {
    let (administrator, keychain) = (rooms.administrator, try rooms.vault.keychain())
    switch self {
    case .log:
      let reading = try rooms.access.readAudit(AuditFilter(), for: administrator)
      let next = keychain.nextAuditEntry
      let (first, isOver) = try reading.page(until: 0) { 1 }
      return {
        let found = first + (try Self.rest(of: reading))
        reading.end()
        let numbers = found.map(\.number).filter { $0 > 0 && $0 < next }
        return !isOver && !first.isEmpty && numbers == Array(1..<next) && Self.gets(found) == Self.purposes
      }
    case .ownEntries: return try Self.gets(AuditFilter(), rooms, Self.service, are: Self.purposes)
    case .lastEntries:
      var filter = AuditFilter()
      (filter.action, filter.last) = (.get, 12)
      return try Self.gets(filter, rooms, administrator, are: Array(Self.purposes.suffix(12)))
    case .logCheck:
      rooms.vault.audit.write()
      let facts = keychain.auditFacts
      var noted = AuditNotes()
      noted.add(facts.link, for: facts.entries)
      let reading = try rooms.access.readAudit(AuditFilter(), noted: noted, for: administrator)
      let last = keychain.nextAuditEntry - 1
      let (_, isOver) = try reading.page(until: 0) { 1 }
      return {
        _ = try Self.rest(of: reading)
        reading.end()
        guard let result = reading.result else { return false }
        return !isOver && result.faults.isEmpty && result.total == last
      }
    case .deposits:
      let first = try rooms.items.deposits(after: 0, limit: 1)
      return {
        var (told, after) = (first.told, first.next)
        while let number = after {
          let page = try rooms.items.deposits(after: number, limit: 1)
          told += page.told
          after = page.next
        }
        return first.told.count == 1 && told.map(\.number) == [1, 2, 3]
          && told.compactMap(\.item?.name.text) == Array(Self.names.prefix(3))
          && told.allSatisfy { $0.obstacle == .exists && !$0.isWaiting }
      }
    case .grants:
      let reading = try rooms.access.grants(Access.GrantFilter(), for: administrator)
      let first = try reading.next(1)
      return {
        var (told, isOver) = (first.grants, first.isOver)
        while !isOver {
          let page = try reading.next(1)
          told += page.grants
          isOver = page.isOver
        }
        let words = told.map { "\($0.grant.subject) \($0.grant.pattern.text)" }
        return !first.isOver && words == ["user:991 own/*", "user:992 own/*", "user:993 other/*"]
          && told.allSatisfy { $0.isActive }
      }
    case .search:
      let callers = [Self.service, administrator]
      let firsts = try callers.map { try Self.page(rooms, $0, after: nil) }
      return {
        for (caller, first) in zip(callers, firsts) {
          var (names, after) = (first.names, first.next)
          while let place = after {
            let page = try Self.page(rooms, caller, after: place)
            names += page.names
            after = page.next
          }
          guard first.next != nil, names.sorted() == Self.names else { return false }
        }
        return true
      }
    case .follower:
      let reading = try rooms.access.readAudit(AuditFilter(), for: administrator)
      reading.isFollowing = true
      let first = try Self.rest(of: reading)
      var isTold = false
      reading.follow { isTold = true }
      return {
        AuditTests.get(rooms, Self.names[0], Self.service, for: "afterwards")
        rooms.hands.pass(seconds: 2)
        var found = first
        while isTold {
          isTold = false
          found += try Self.rest(of: reading)
          reading.follow { isTold = true }
        }
        reading.end()
        let isLast = found.contains { $0.entry.purpose == "afterwards" }
        return isLast && found.map(\.number) == Array(1..<keychain.nextAuditEntry)
      }
    }
  }

  /// Begins a reading of gets in the log, which is to return those with these purposes, in that order.
  private static func gets(
    _ filter: AuditFilter, _ rooms: RoomStand, _ caller: Caller, are purposes: [String]
  ) throws -> () throws -> Bool {
    let reading = try rooms.access.readAudit(filter, for: caller)
    let (first, isOver) = try reading.page(until: 0) { 1 }
    return {
      let found = first + (try Self.rest(of: reading))
      reading.end()
      return !isOver && Self.gets(found) == purposes
    }
  }

  /// Returns the purposes of the gets that ``stand()`` has made, as far as the items are there under the same names.
  private static func gets(_ found: [AuditReading.Found]) -> [String] {
    found.filter { !$0.isGone && $0.now == nil }.compactMap(\.entry.purpose).filter { $0.hasPrefix("turn ") }
  }

  /// Reads the log step by step, until the reading is over.
  private static func rest(of reading: AuditReading) throws -> [AuditReading.Found] {
    var found: [AuditReading.Found] = []
    while true {
      let (page, isOver) = try reading.page(until: 0) { 1 }
      found += page
      if isOver { return found }
    }
  }

  private static func page(
    _ rooms: RoomStand, _ caller: Caller, after: SearchPlace?
  ) throws -> (names: [String], next: SearchPlace?) {
    let query = try Query(parsing: "")
    let page = try rooms.items.find(query, limit: 2, after: after, until: .max, for: caller)
    return (page.items.map(\.name.text), page.next)
  }
}
