import VaultModel

@testable import VaultService
@testable import VaultStore

/// A kind of state that is in memory, or in the store and not settled, when a rekey ends.
enum PendingState: CaseIterable {
  /// The beginning of a chain of the audit log, sealed and not written.
  case beginning
  case deposit, keptDeposit, settledDeposit
  case request, approval, denial
  /// A grant that is given, needed or revoked.
  case grant, use, revocation
  /// Equal calls, of which the log has a count.
  case count
  case receipt
  case trash, restored
  case revokedToken

  private static var service: Caller { RoomStand.caller(991) }
  private static var depositor: Caller { RoomStand.caller(992) }

  /// Makes a vault with what the states are about.
  static func stand() throws -> RequestStand {
    var settings = VaultSettings()
    settings.trash = 86_400
    let stand = try RequestStand(settings, items: ["a", "b", "own/a"])
    let rooms = stand.rooms
    let key = ItemChange(name: try ItemName("key"), use: .jwt)
    _ = try rooms.items.set(key, .generated(.key(.hmac)), for: rooms.administrator) { _ in true }
    try GrantTests.give(rooms, "user:991", "own/*", "get,watch")
    try GrantTests.give(rooms, "user:992", "own/*", "deposit")
    rooms.hands.pass(seconds: 61)
    rooms.run()
    return stand
  }

  /// Makes a copy of such a vault whose store is closed. That takes fewer changes than to make another one.
  static func copy(of closed: RequestStand) throws -> RequestStand {
    let rooms = try closed.rooms.afterKill()
    rooms.hands.pass(seconds: 61)
    rooms.run()
    return RequestStand(rooms)
  }

  /// Makes the state.
  ///
  /// - Returns: a closure that is true if the state is there. Its argument is true after a restart, which ends requests
  ///   and approvals.
  func put(_ stand: RequestStand) throws -> (_ isRestarted: Bool) throws -> Bool {
    let rooms = stand.rooms
    let (service, depositor, administrator) = (Self.service, Self.depositor, rooms.administrator)
    let own = try ItemName("own/a")
    func value(_ name: String) throws -> String? { try DepositTests.value(rooms, name) }
    switch self {
    case .beginning:
      let purposes = (0..<3).map { "beginning \($0)" }
      rooms.vault.audit.endBlock()
      try rooms.vault.keychain().endAuditChain()
      for purpose in purposes { AuditTests.get(rooms, "own/a", for: purpose) }
      rooms.vault.audit.endBlock()
      return { _ in try AuditTests.found(rooms).compactMap(\.purpose).filter { purposes.contains($0) } == purposes }
    case .deposit:
      try DepositTests.leave(rooms, "own/new", by: depositor)
      return { _ in try value("own/new") == "left" }
    case .keptDeposit:
      try DepositTests.leave(rooms, "own/a", by: depositor)
      return { _ in try DepositTests.kept(rooms) == [.exists] && value("own/a") == "*" }
    case .settledDeposit:
      try DepositTests.leave(rooms, "own/a", by: depositor)
      for told in try rooms.items.deposits() {
        _ = try rooms.items.settleDeposit(told.number, isAccepted: true, for: administrator)
      }
      return { _ in try DepositTests.kept(rooms).isEmpty && value("own/a") == "left" }
    case .request:
      let number = try stand.number("a")
      return { isRestarted in
        guard !isRestarted else { return true }
        try stand.approve(number)
        return try stand.ask("a") == .served
      }
    case .approval:
      try stand.approve(try stand.number("a"), uses: 2)
      let first = try stand.ask("a")
      return { isRestarted in
        guard !isRestarted else { return true }
        // The third use is one too many.
        let others = try (0..<2).map { _ in try stand.ask("a") }
        return first == .served && others[0] == .served && others[1] != .served
      }
    case .denial:
      try stand.deny(try stand.number("a"), always: true)
      return { _ in
        let answer = try stand.ask("a")
        if case .refused(.denied) = answer { return true }
        return false
      }
    case .grant:
      try GrantTests.give(rooms, "user:993", "own/*", "get")
      return { _ in try GrantTests.isServed(rooms, "own/a", RoomStand.caller(993)) }
    case .use:
      AuditTests.get(rooms, "own/a", service)
      let used = rooms.hands.wall.value
      return { _ in rooms.access.book.all.compactMap { rooms.access.told($0.id, $0.grant).grant.used } == [used] }
    case .revocation:
      _ = try rooms.access.revoke(try Subject(parsing: "user:991"), nil, for: administrator)
      return { _ in (try? GrantTests.isServed(rooms, "own/a", service)) != true }
    case .count:
      for _ in 0..<5 { AuditTests.get(rooms, "own/a", service) }
      return { isRestarted in
        let gets = try AuditTests.found(rooms).filter { $0.action == .get && $0.caller?.uid == service.uid }
        return !isRestarted || gets.reduce(0) { $0 + ($1.repeats?.count ?? 1) } == 5
      }
    case .receipt:
      try rooms.items.receipt(1, of: own, succeeded: true, detail: "done", for: service)
      return { _ in try AuditTests.told(rooms).contains("receipt ok own/a") }
    case .trash:
      _ = try rooms.items.delete([own], isForGood: false, for: administrator)
      return { isRestarted in
        guard (try? value("own/a")) == nil else { return false }
        guard isRestarted else { return true }
        try rooms.items.undelete(own, for: administrator)
        return try value("own/a") == "*"
      }
    case .restored:
      _ = try rooms.items.delete([own], isForGood: false, for: administrator)
      try rooms.items.undelete(own, for: administrator)
      return { _ in try value("own/a") == "*" }
    case .revokedToken:
      let token = try TokenRevocationTests.token(rooms)
      let wasValid = try TokenRevocationTests.isValid(token, rooms)
      _ = try rooms.items.revoke(.all(of: "lamp"), of: try ItemName("key"), for: administrator)
      return { _ in try wasValid && !TokenRevocationTests.isValid(token, rooms) }
    }
  }
}
