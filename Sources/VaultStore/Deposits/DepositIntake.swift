import VaultCore
import VaultModel

/// The processing of deposits within one transaction: each is taken in or kept aside.
struct DepositIntake {
  /// The clock, Unix seconds.
  private let now: Int64
  /// The time by which the ages of deposits are decided, Unix seconds: the clock, or the newest time that the strongest
  /// class knows, if that is later. It is stored nowhere, so that no class gets the time of another one.
  private let time: Int64
  private let decide: Keychain.DepositDecision
  private let judge: Keychain.DepositJudgment
  private let outer = Scratch()
  private let inner = Scratch()
  /// The item of which the deposit became a version; nil when it became none.
  private var item: ItemID?

  init(
    _ keychain: Keychain, now: Int64, _ decide: @escaping Keychain.DepositDecision,
    _ judge: @escaping Keychain.DepositJudgment
  ) {
    self.now = now
    time = keychain.effective(now, .whenUnlocked)
    self.decide = decide
    self.judge = judge
  }

  // MARK: One deposit

  /// Takes in the deposit that waits in a row, or keeps it aside.
  ///
  /// - Parameter isGiven: false when no deposit can have been given the row's number.
  mutating func take(_ row: DepositRow, isGiven: Bool, _ keychain: Keychain) throws(VaultError) -> TakenDeposit {
    item = nil
    var read: ReadDeposit?
    let judged: TakenDeposit.Result
    // The MAC is checked before anything of the row is opened.
    if isGiven, try row.isAuthentic(keychain) {
      var fault: DepositObstacle?
      do throws(DepositFault) {
        try ReadDeposit.open(row, keychain, outer)
        read = try ReadDeposit(row.id, keychain, outer, inner)
      } catch { fault = error.obstacle }
      judged = try store(read, fault, row.id, row.accessible, keychain, number: row.row)
    } else {
      judged = .kept(number: 0, .forged)
    }
    var taken = TakenDeposit(
      name: read?.item?.name, accessible: read?.item?.accessible, depositor: read?.record.depositor, result: judged)
    switch judged {
    case .stored:
      taken.item = item
      try keychain.forget(row, of: read?.record.depositor.author, stored: item)
    case .kept(_, let obstacle):
      taken.item = Self.found(read, keychain)
      taken.result = .kept(number: try keychain.keep(row, obstacle), obstacle)
    }
    return taken
  }

  /// Takes in a deposit that never waited. If it cannot be taken in, the row that `seal` makes of it is kept aside.
  mutating func take(
    _ plaintext: Scratch, _ id: ItemID, _ accessible: AccessClass, _ keychain: Keychain,
    _ seal: () throws(VaultError) -> DepositRow
  ) throws(VaultError) -> TakenDeposit {
    let read: ReadDeposit
    do throws(DepositFault) { read = try ReadDeposit(id, keychain, plaintext, inner) } catch {
      throw .invalidValue(error.obstacle.text)
    }
    let judged = try store(read, nil, id, accessible, keychain, outer: plaintext)
    var taken = TakenDeposit(
      name: read.item?.name, accessible: read.item?.accessible, depositor: read.record.depositor, result: judged)
    switch judged {
    case .stored: taken.item = item
    case .kept(_, let obstacle):
      taken.item = Self.found(read, keychain)
      var row = try seal()
      row.state = .kept
      row.sealed = [obstacle.rawValue] + row.sealed
      try keychain.add(row)
      taken.result = .kept(number: row.row, obstacle)
    }
    return taken
  }

  /// The item that has the name for which a deposit was left; nil when there is none, or the deposit or the item cannot
  /// be read.
  private static func found(_ read: ReadDeposit?, _ keychain: Keychain) -> ItemID? {
    guard let name = read?.item?.name else { return nil }
    return (try? keychain.find(name))?.columns.item
  }

  /// Makes a deposit the value of its item; otherwise returns the obstacle that prevents it.
  ///
  /// - Parameters:
  ///   - number: the number under which the deposit waited; nil for a deposit that never waited.
  ///   - outer: the plaintext of a deposit that never waited.
  private mutating func store(
    _ read: ReadDeposit?, _ fault: DepositObstacle?, _ id: ItemID, _ accessible: AccessClass, _ keychain: Keychain,
    number: Int64? = nil, outer: Scratch? = nil
  ) throws(VaultError) -> TakenDeposit.Result {
    if let fault { return .kept(number: 0, fault) }
    guard let read, let item = read.item, let value = read.value else {
      return .kept(number: 0, read?.fault ?? .malformed)
    }
    if let obstacle = try obstacle(to: read, id, item, accessible, isRow: number != nil, keychain) {
      return .kept(number: 0, obstacle)
    }
    let old: FoundItem?
    do throws(VaultError) { old = try keychain.find(item.name, marking: true) } catch .corrupt {
      return .kept(number: 0, .unreadable)
    }
    if let obstacle = decide(read.record.depositor, item, old?.head.item) { return .kept(number: 0, obstacle) }
    if let obstacle = try obstacle(to: read, item, old, number, keychain) { return .kept(number: 0, obstacle) }
    let source = read.boxID == nil ? outer ?? self.outer : inner
    let author = read.record.depositor.author
    let identity = old?.columns.item ?? .random()
    let result: TakenDeposit.Result = try source.withBytes { (bytes: RawSpan) throws(VaultError) in
      let value = bytes.extracting(value)
      let kind = old?.head.item.kind ?? item.kind ?? .password
      let use = old.map { $0.head.item.use } ?? kind.use
      let attributes = old?.head.item.attributes ?? item.attributes ?? [:]
      guard let facts = try? keychain.validate(value, kind, use, attributes) else { return .kept(number: 0, .invalid) }
      if let obstacle = judge(read.record.depositor, item, value) { return .kept(number: 0, obstacle) }
      if let old {
        let stored = try keychain.revise(
          old, to: old.head.item, expires: .none, value, by: author, now, checked: facts)
        return .stored(version: stored.number)
      }
      let change = ItemChange(
        name: item.name, kind: kind, attributes: attributes, accessible: item.accessible, author: author)
      return .stored(version: try keychain.insert(change, value, now, as: identity, checked: facts).number)
    }
    guard case .stored(let stored) = result else { return result }
    self.item = identity
    // The series is noted only for a deposit that waited. A deposit that is taken in at once precedes no waiting
    // deposit, because the deposits that wait for its item were left earlier.
    if let number {
      let current = old?.head.item.current.number ?? 0
      let before = try keychain.takenBase(of: identity, item.name)?.base
      let earlier = before.flatMap { $0.version == current ? $0.base : nil }
      // A deposit that was left with the current version in view does not follow deposits that were taken in earlier.
      let base = read.base?.version == current ? current : earlier ?? current
      keychain.takenBases[identity] = (TakenBase(base: base, version: stored, number: number), item.name)
    }
    if let boxID = read.boxID { try keychain.remember(boxID, of: keychain.seenTag(of: author).bytes) }
    return result
  }

  /// The obstacle that prevents a deposit from being taken in, whatever the state of the item; nil when there is none.
  private func obstacle(
    to read: ReadDeposit, _ id: ItemID, _ item: DepositedItem, _ accessible: AccessClass, isRow: Bool,
    _ keychain: Keychain
  ) throws(VaultError) -> DepositObstacle? {
    let table = try keychain.knownDeposits()
    if table.hasSeen(id) || read.boxID.map(table.hasSeen) == true { return .seen }
    // A deposit that waited, and a box, can be put back or handed in again, so both are remembered.
    let new = (isRow ? 1 : 0) + (read.boxID == nil ? 0 : 1)
    if new > 0 {
      let ofOne = try table.remembered(of: keychain.seenTag(of: read.record.depositor.author).bytes)
      if table.remembered.count + new > Keychain.mostSeen || ofOne + new > Keychain.mostSeenOfOne { return .tooMany }
    }
    // The item that a box is for is not known when the box is handed in, so the key of the strongest class
    // authenticates it.
    let isVouchedFor = accessible == item.accessible || read.boxID != nil && accessible == .whenUnlocked
    if !isVouchedFor { return .otherClass }
    for stated in [read.record.stamp.time, read.time] {
      if Seconds.from(stated, to: time) > Keychain.depositAge { return .expired }
      if Seconds.from(time, to: stated) > Keychain.depositLead { return .early }
    }
    return nil
  }

  /// The obstacle that the present state of the item, or its absence, puts in the way of a deposit; nil when there is
  /// none.
  private func obstacle(
    to read: ReadDeposit, _ item: DepositedItem, _ old: FoundItem?, _ number: Int64?, _ keychain: Keychain
  ) throws(VaultError) -> DepositObstacle? {
    let current = old?.head.item.current.number ?? 0
    if let base = read.base {
      if let item = base.item, item != old?.columns.item { return .changed }
      if base.version != current {
        guard let old, let number, let taken = try keychain.takenBase(of: old.columns.item, item.name),
          taken.base.precedes(base.version, number: number, current: current),
          // If the base does not state the item's identity, the item is known by its name alone, which it may have got
          // later.
          base.item != nil || taken.isForName
        else { return .changed }
      }
    }
    guard let old = old?.head.item else { return nil }
    if old.policy.isNeverRead { return .neverRead }
    if old.policy.accessible != item.accessible { return .otherClass }
    if let kind = item.kind, kind != old.kind { return .otherItem }
    if let attributes = item.attributes, attributes != old.attributes { return .otherItem }
    return nil
  }
}
