package import VaultModel
internal import VaultStore

/// A deposit that waits or was kept aside, as shown to an administrator.
package struct ToldDeposit: Sendable {
  package let number: Int
  /// The reason why the deposit was kept aside; nil while it waits.
  package let obstacle: DepositObstacle?
  package let isWaiting: Bool
  package let item: DepositedItem?
  package let size: Int?
  package let time: Int64?
  /// The author of the deposit; nil if nothing vouches for one.
  package let author: String?
  package let isBox: Bool
}

// The handling of deposits: taking them in, keeping them aside, accepting and dropping them.
extension Items {
  /// Takes in the deposits that were left while the vault was locked, until a time. The table of deposits is read
  /// first. If reading takes all of the time, nothing is taken in yet.
  ///
  /// - Parameter end: the time, in `CLOCK_MONOTONIC` nanoseconds.
  /// - Returns: the number of deposits that were taken in, and the number of those kept aside.
  func takeInDeposits(
    _ waiting: inout WaitingDeposits, _ keychain: Keychain, until end: Int64
  ) throws(VaultError) -> (stored: Int, kept: Int) {
    guard try keychain.readDeposits(isTimeUp: { vault.clock.monotonic() >= end }) else { return (0, 0) }
    var taken: [TakenDeposit] = []
    func take() throws(VaultError) -> [Int64] {
      try keychain.takeInDeposits(&waiting, now: vault.clock.wall()) { [access] in
        access.decide(deposit: $1, by: $0, $2)
      } judging: { [unowned self] in
        judge($0, $1, $2)
      } isTimeUp: {
        vault.clock.monotonic() >= end
      } told: {
        taken.append($0)
      }
    }
    let missing: [Int64]
    if try keychain.lookForDeposits(&waiting) {
      missing = try vault.audit.making {
        () throws(VaultError) in
        try take()
      } of: { _ in
        taken.map(auditSubject)
      } entries: { _ in
        for one in taken { record(one) }
      }
    } else {
      // An unlock writes nothing if nothing waits.
      missing = try take()
    }
    for one in taken { announce(one) }
    for number in missing {
      let (text, detail) = ("deposit \(number)", "is missing: somebody has removed it from the store")
      vault.audit.record(.deposit, .failed, nil, item: text, detail: detail)
      vault.log.error("\(text) \(detail)")
    }
    let stored = taken.count { $0.outcome == .ok }
    return (stored, taken.count - stored)
  }

  /// Tells watchers of the item of a deposit that was taken in.
  func announce(_ taken: TakenDeposit) {
    if case .stored(let version) = taken.result, let name = taken.name {
      // A deposit brings a value, so a first version is that of a new item.
      vault.hooks.announce(.item(name, version == 1 ? .created : .updated, version: version))
    }
  }

  /// The subject against whose part of the log the result of a deposit counts.
  func auditSubject(_ taken: TakenDeposit) -> AuditSubject {
    let audit = vault.audit
    return taken.depositor.map { audit.subjects.subject(access.auditName(of: $0)) } ?? audit.subjects.daemon
  }

  /// Records the result of a deposit. The entry counts as one of the depositor's own, so that nobody can fill the log
  /// with deposits that wait for an unlock.
  func record(_ taken: TakenDeposit) {
    let item = taken.name?.text
    guard let depositor = taken.depositor else {
      return vault.audit.record(.deposit, taken.outcome, nil, item: item, id: taken.item, detail: taken.words)
    }
    vault.audit.record(
      .deposit, taken.outcome, for: access.auditName(of: depositor), item: item, id: taken.item,
      detail: "\(taken.words), left by \(depositor.author)")
  }

  /// The next deposits above a number that wait or are kept aside, for an administrator: as many as one turn reads,
  /// possibly none.
  ///
  /// - Returns: the deposits, and the number above which the next call continues; nil once there are no more.
  package func deposits(after number: Int, limit: Int) throws(Refusal) -> (told: [ToldDeposit], next: Int?) {
    let keychain = try vault.keychain()
    do throws(VaultError) {
      let (found, next) = try keychain.tellDeposits(after: Int64(number), limit: limit)
      let told = found.map { told in
        ToldDeposit(
          number: Int(told.number), obstacle: told.obstacle, isWaiting: told.isWaiting, item: told.item,
          size: told.size,
          time: told.time, author: told.depositor?.author, isBox: told.isBox)
      }
      return (told, next.map { Int($0) })
    } catch { throw Refusal(error) }
  }

  /// Accepts a deposit that was kept aside as the value of its item, or drops the deposit, for an administrator.
  ///
  /// - Returns: the name, if it can be read, and the version that was made.
  package func settleDeposit(
    _ number: Int, isAccepted: Bool, for caller: Caller
  ) throws(Refusal) -> (name: ItemName?, version: Int?) {
    let text = "deposit \(number)"
    let isTold = number > 0 && vault.openKeychain?.isReadingDeposits == false
    let told = isTold ? (try? vault.keychain().toldDeposit(Int64(number))) : nil
    let name = told?.item?.name
    let detail = "\(text) \(isAccepted ? "accepted" : "dropped")"
    return try vault.audit.recording(.deposit, caller, name?.text, detail: detail) { entry throws(Refusal) in
      if let name { entry.item = identity(of: name) }
      return try settle(number, text, isAccepted, caller, entry)
    }
  }

  private func settle(
    _ number: Int, _ text: String, _ isAccepted: Bool, _ caller: Caller, _ entry: Audit.Entry
  ) throws(Refusal) -> (name: ItemName?, version: Int?) {
    let keychain = try vault.keychain()
    guard vault.state.kind == .unlocked else { throw vault.locked }
    guard !keychain.isReadingDeposits else { throw .busy("the deposits are still being read; try again") }
    let now = vault.clock.wall()
    do throws(VaultError) {
      guard isAccepted else {
        return try vault.audit.taking(
          effect: { () throws(VaultError) in
            guard let name = try keychain.dropDeposit(Int64(number), now: now) else { throw .noSuchItem }
            return (name, nil)
          }, with: entry)
      }
      let (name, stored) = try vault.audit.taking(
        effect: { () throws(VaultError) in
          let accepted = try keychain.acceptDeposit(Int64(number), by: author(caller), now: now) {
            tokenList($0, for: caller)?.fault(of: $1)
          }
          guard let accepted else { throw .noSuchItem }
          entry.item = accepted.stored.item
          return accepted
        }, with: entry)
      vault.hooks.announce(.item(name, stored))
      return (name, stored.number)
    } catch .noSuchItem { throw .noSuchDeposit(number) } catch { throw vault.refusal(error, text) }
  }
}

extension TakenDeposit {
  /// The outcome of the deposit for the audit log.
  var outcome: AuditOutcome {
    switch result {
    case .stored: .ok
    case .kept(_, let obstacle): obstacle.outcome
    }
  }

  var words: String {
    switch result {
    case .stored(let version): "version \(version)"
    case .kept(let number, let obstacle): "deposit \(number) kept aside: \(obstacle.text)"
    }
  }
}

extension DepositObstacle {
  /// The outcome of a deposit kept aside, for the audit log.
  fileprivate var outcome: AuditOutcome {
    switch self {
    case .denied, .exists: .denied
    case .expired, .itemExpired: .expired
    case .unreadable, .tooMany, .full: .failed
    case .forged, .sealedToAnother, .malformed, .seen, .early, .changed, .otherClass, .otherItem, .invalid, .neverRead,
      .noList:
      .invalid
    }
  }
}
