public import VaultCore
public import VaultModel

/// The saving of everything that still authenticates in a damaged store into a second store with the same keys and
/// slots, in steps.
///
/// Each item is opened and sealed again, so whatever is in the second store was intact. The damaged store is only read.
/// An item is saved if its head and its current value open. Of its older versions, those that open are saved, up to the
/// number and size that an item keeps (``Keychain/keptVersions``, ``Keychain/keptBytes``). Saved records need not be
/// the latest: old records that were put back together still open.
///
/// For items, the salvage relies on nothing else in the damaged store. Rows are given anew, in the order in which the
/// items are found. Items without a head are lost. Tags of names tell which ones they are; the class records count the
/// heads, and so tell how many more were lost. If two items have the same name or the same identity, the item of the
/// stronger class is saved, or else the item that is later according to its own head.
///
/// The second store is nobody's vault: it exists so that a backup can be made of ``target``, and ``remove(_:)`` deletes
/// it. Both keychains have one owner, and all keys of the source must be in memory.
public final class Salvage {
  /// The saved items and the losses.
  public struct Result: Hashable, Sendable {
    /// The number of items that were saved.
    public internal(set) var saved = 0
    /// The losses, at most ``Finding/limit`` of them.
    public internal(set) var losses: [Finding] = []
    /// The number of losses beyond those in the list.
    public internal(set) var omitted = 0

    mutating func lose(_ finding: Finding) {
      if losses.count < Finding.limit { losses.append(finding) } else { omitted += 1 }
    }
  }

  /// The number of bytes that count as much as one item.
  static let unit = 16 << 10

  private enum Direction {
    /// From the first head on.
    case up
    /// From the last head back to where the walk up ended. This is used when the tree of pages is broken.
    case down
  }

  /// The result so far.
  public private(set) var result: Result

  /// True while losses or counts have names of items.
  public var holdsNames: Bool { !result.losses.isEmpty || counts.count > 0 }

  /// Forgets the losses, and the counts that are not written.
  public func forgetNames() {
    result.losses = []
    counts.empty()
  }
  /// The second store, whose keys are in memory.
  public let target: Keychain
  private let source: Keychain
  private var isOver = false
  private let grants: GrantSalvage
  private let deposits: DepositSalvage
  /// The place in the table of tags, and whether all tags were examined.
  private var tag = TagPlace()
  private var areTagsRead = false
  /// The number of items without a head, as far as they are not listed; and the numbers of those that tags led to.
  private var unlisted = 0
  private var others: Set<Int64> = []
  /// The number of heads of each class that the walks have met, without heads that are another state of an item.
  private var met = ByClass<Int64>(repeating: 0)
  private var metOfNoClass: Int64 = 0
  /// True when all items are saved, so that the copy of the audit log can begin.
  private var areItemsSaved = false
  private let audit: AuditSalvage
  /// Fills a block with counts that the log does not have; called when the end of the log is reached. `counts` is that
  /// block, which becomes the last record of the second store's log.
  private let count: (inout AuditBlock) -> Void
  private var counts = AuditBlock()
  /// The time at which the salvage began, Unix seconds.
  private let now: Int64
  private var direction = Direction.up
  // The last heads that were read on the way up and on the way down.
  private var lowest = Int64.min
  private var highest = Int64.max
  private var walked = 0
  /// The highest row that was given in the second store.
  private var given: Int64 = 0
  /// The rows of the second store, by the identity of the item in each.
  private var rows: [ItemID: Int64] = [:]

  /// Makes the second store, with the keys and slots alone.
  ///
  /// - Parameters:
  ///   - directory: the place for the second store. A store that was left there is removed.
  ///   - now: Unix seconds.
  ///   - mostEarly: the most bytes of the log that a daemon writes before an unlock. If there are more, somebody else
  ///     has added them, and those that no unlocked vault has vouched for are left out.
  ///   - count: fills a block with counts that the log does not have.
  /// - Throws: ``VaultError/locked`` unless all keys are in memory; ``VaultError/corrupt(_:)`` when no slot is left
  ///   that could open the saved items; ``VaultError/storage(_:)``.
  public init(
    _ source: Keychain, in directory: String, now: Int64, mostEarly: Int64 = .max,
    count: @escaping (inout AuditBlock) -> Void = { _ in }
  ) throws(VaultError) {
    guard source.holdsAllKeys else { throw .locked }
    (self.source, self.now, self.count) = (source, now, count)
    var result = Result()
    try Self.remove(directory)
    do throws(VaultError) {
      target = try source.makeEmptyCopy(in: directory, now: now) { result.lose($0) }
      // The second store need not outlive a crash.
      try target.database.forgoDurability()
      try target.database.shrink()
    } catch {
      try? Self.remove(directory)
      throw error
    }
    self.result = result
    (grants, deposits) = (GrantSalvage(from: source, to: target), DepositSalvage(from: source, to: target))
    audit = AuditSalvage(from: source, to: target, mostEarly: mostEarly)
    source.isBeingSalvaged = true
    source.salvaged = ([], [])
  }

  // This is for a salvage that was abandoned. After the end of this salvage, another one may be reading the source;
  // this call then does nothing.
  deinit { end() }

  /// The number of items that were examined, and roughly the number of all items.
  public var progress: (done: Int, of: Int) {
    let count = Int(clamping: source.knownItems)
    return (min(walked, count), count)
  }

  /// Continues over at most `items` items, of which a long one counts as several; true after the last item. The source
  /// is then no longer read, however long ``target`` is kept.
  ///
  /// - Throws: ``VaultError/locked`` when a key of the source is no longer in memory; ``VaultError/storage(_:)`` when
  ///   the system fails to read or to write. The salvage cannot continue after either error.
  public func step(items: Int) throws(VaultError) -> Bool {
    guard source.holdsAllKeys else { throw .locked }
    var left = max(1, items)
    if isOver { return true }
    if target.hasLongLog {
      // The next part has a turn of its own.
      target.foldLog()
      return false
    }
    let isAtEnd = try target.transaction { () throws(VaultError) in
      guard try grants.step(&left, lose: { result.lose($0) }), try deposits.step(&left, lose: { result.lose($0) })
      else { return false }
      if !areItemsSaved {
        if direction == .up { areItemsSaved = try walkUp(&left) }
        if direction == .down { areItemsSaved = try walkDown(&left) }
        if areItemsSaved { unlisted = missingHeads }
      }
      if areItemsSaved, !areTagsRead {
        areTagsRead = try lookForOthers(&left)
        if areTagsRead, unlisted > 0 {
          let (more, are) = (Counted.text(unlisted, "more item"), unlisted == 1 ? "is" : "are")
          result.lose(Finding(.missing, "\(more) \(are) lost without a trace"))
        }
      }
      guard areTagsRead else { return false }
      return try audit.step(&left, lose: { result.lose($0) }, haveRead: { count(&counts) })
    }
    if isAtEnd {
      try audit.recordLosses(now: now)
      if counts.count > 0 { try recordCounts() }
      end()
    }
    return isAtEnd
  }

  private func end() {
    guard !isOver else { return }
    isOver = true
    source.isBeingSalvaged = false
    source.salvaged = nil
  }

  /// Removes the second store in `directory`, if there is one. Nothing may use that store any more: the last connection
  /// to close removes the file that has the log's name, even if that file belongs to another store.
  public static func remove(_ directory: String) throws(VaultError) {
    try Database.remove(directory)
  }

  private func recordCounts() throws(VaultError) {
    target.bound.isAuditJoined = true
    try target.sealAudit(&counts, now: now)
    try target.writeAudit(anchored: true)
  }

  // MARK: The walk

  /// Walks up; true after the last head.
  private func walkUp(_ left: inout Int) throws(VaultError) -> Bool {
    guard left > 0 else { return false }
    do throws(VaultError) {
      return try source.database.walkHeads(after: lowest) { (head: Database.WalkedHead) throws(VaultError) in
        lowest = head.item
        try save(head, &left)
        return left > 0
      }
    } catch .corrupt(let reason) {
      result.lose(Finding(.damaged, "the table of heads cannot be read after item \(max(lowest, 0)): \(reason)"))
      direction = .down
    }
    return false
  }

  /// Walks down; true when the walk reached the place where the walk up had to end, or cannot continue.
  private func walkDown(_ left: inout Int) throws(VaultError) -> Bool {
    guard left > 0 else { return false }
    var isAtEnd = true
    do throws(VaultError) {
      try source.database.walkHeadsBackwards(before: highest) { (head: Database.WalkedHead) throws(VaultError) in
        guard head.item > lowest else { return false }
        highest = head.item
        try save(head, &left)
        isAtEnd = left > 0
        return isAtEnd
      }
    } catch .corrupt(let reason) {
      result.lose(Finding(.damaged, "the table of heads cannot be read before item \(highest): \(reason)"))
      return true
    }
    return isAtEnd
  }

  /// The number of heads that the class records count and no walk has met. A class record that cannot be read is listed
  /// as lost itself.
  private var missingHeads: Int {
    let missing = AccessClass.allCases.reduce(Int64(0)) { sum, accessible in
      let known = (try? source.classRecord(accessible))?.sets[.init(.heads)].count ?? 0
      let (next, isTooMany) = sum.addingReportingOverflow(max(0, known - met[accessible]))
      return isTooMany ? .max : next
    }
    // A head of no known class may be any of the missing heads.
    return Int(clamping: max(0, missing - metOfNoClass))
  }

  /// Looks for items that have a tag of their name and that no walk has met; true at the end.
  private func lookForOthers(_ left: inout Int) throws(VaultError) -> Bool {
    guard left > 0 else { return false }
    var (place, rest) = (tag, left)
    defer { (tag, left) = (place, rest) }
    do throws(VaultError) {
      try source.database.walkTags(from: &place) { (met: Database.WalkedTag) throws(VaultError) in
        rest -= met.weight
        if let tag = try met.tag(), tag.isOfName { try look(for: met.item, tag, &rest) }
        return rest > 0
      }
    } catch .corrupt(let reason) {
      let text = "the table of tags cannot be read any further, so not every lost item is listed: \(reason)"
      result.lose(Finding(.damaged, text))
      return true
    }
    return rest > 0
  }

  /// Saves an item that a tag of its name leads to, or records why it is lost, unless a walk has met its head.
  private func look(for item: Int64, _ tag: Tag, _ left: inout Int) throws(VaultError) {
    let isPassed = item <= lowest || item >= highest
    if !isPassed {
      // Several tags may lead to an item that somebody has put there.
      guard others.insert(item).inserted else { return }
    }
    do throws(VaultError) {
      let found: Void? = try source.database.withWalkedHead(item) { (head: Database.WalkedHead) throws(VaultError) in
        if !isPassed { try save(head, &left) }
      }
      if found != nil {
        if !isPassed { unlisted -= 1 }
        return
      }
      if isPassed { guard others.insert(item).inserted else { return } }
      // If the second store has this tag, the item was saved from another row than the one that the tag leads to.
      guard try target.database.count(tagged: ClassTags(tag, .whenUnlocked), limit: 1) == 0 else { return }
      unlisted -= 1
      result.lose(Finding(.missing, item: item, "item \(item) is lost: its record is gone"))
    } catch .corrupt(let reason) {
      // A walk has read the head, or reported that it cannot be read.
      guard !isPassed else { return }
      unlisted -= 1
      result.lose(Finding(.damaged, item: item, "item \(item) is lost: \(reason)"))
    }
  }

  /// Saves an item, or records why it is lost.
  private func save(_ walkedHead: Database.WalkedHead, _ left: inout Int) throws(VaultError) {
    walked += 1
    left -= 1 + walkedHead.size / Self.unit
    let item = walkedHead.item
    var name: ItemName?
    var accessible: AccessClass?
    defer { if let accessible { met[accessible] += 1 } else { metOfNoClass += 1 } }
    do throws(VaultError) {
      let row = try walkedHead.row()
      accessible = row.columns.accessible
      let head = try openHead(row)
      name = head.item.name
      let copied = try copy.copy(row, to: given + 1, taggedAtOnce: false)
      left -= copied.head.item.versions.reduce(0) { $0 + $1.size } / Self.unit
      given += 1
      var columns = row.columns
      columns.row = given
      try target.takeRow(given, for: columns.accessible)
      guard try makeRoom(for: FoundItem(columns: columns, head: copied.head), item) else { return }
      try copy.putTags(of: copied.head, columns)
      rows[columns.item] = given
      result.saved += 1
      if copied.surplus > 0 {
        let subject = "the \(copied.surplus) oldest versions of item \(item)"
        let text = "\(subject) are lost: an item keeps only the newest ones"
        result.lose(Finding(.damaged, item: item, name: name, text))
      }
      for version in copied.lost {
        result.lose(Finding(.damaged, item: item, name: name, "version \(version) of item \(item) is lost"))
      }
    } catch .corrupt(let reason) {
      result.lose(Finding(.damaged, item: item, name: name, "item \(item) is lost: \(reason)"))
    }
  }

  private var copy: ItemCopy { ItemCopy(source: source, target: target, toleratesLoss: true) }

  private func openHead(_ row: Row) throws(VaultError) -> HeadRecord {
    let scratch = source.takeScratch()
    defer { source.giveBack(scratch) }
    return try source.openHead(row, scratch)
  }

  /// Ensures that no two items have the same name or the same identity. It removes the items that were saved before, or
  /// `new`, which is in the second store without tags. True when `new` stays. An item in the trash has given up its
  /// name, and may share the name with any item.
  private func makeRoom(for new: FoundItem, _ item: Int64) throws(VaultError) -> Bool {
    let name = new.head.item.name
    var others: [FoundItem] = []
    if new.head.item.trashed == nil, let other = try target.find(name) { others.append(other) }
    if let row = rows[new.columns.item], row != others.first?.columns.row, let other = try target.head(inRow: row) {
      others.append(other)
    }
    if let better = others.first(where: { !isBetter(new, than: $0) }) {
      let what = better.columns.item == new.columns.item ? "another state of it" : "another item of its name"
      result.lose(Finding(.foreign, item: item, name: name, "item \(item) is lost: \(what) is saved"))
      if better.columns.item == new.columns.item { met[new.columns.accessible] -= 1 }
      try copy.remove(new.columns.row)
      return false
    }
    for other in others {
      let what = other.columns.item == new.columns.item ? "another state of it" : "another item of its name"
      result.lose(
        Finding(.foreign, item: item, name: other.head.item.name, "item \(item) is saved, and \(what) is lost"))
      if other.columns.item == new.columns.item { met[other.columns.accessible] -= 1 }
      try copy.remove(other.columns.row)
      rows[other.columns.item] = nil
      result.saved -= 1
    }
    return true
  }

  /// True when a new item must be saved instead of an earlier one, according to the authenticated facts of both. If
  /// their times are the same, the rows decide.
  private func isBetter(_ new: FoundItem, than old: FoundItem) -> Bool {
    let (accessible, other) = (new.columns.accessible, old.columns.accessible)
    if accessible != other { return other.stronger.contains(accessible) }
    if new.columns.item == old.columns.item { return new.head.headRevision > old.head.headRevision }
    let (times, others) = (
      (new.head.item.created, new.head.item.modified), (old.head.item.created, old.head.item.modified)
    )
    return times == others ? direction == .up : times > others
  }
}
