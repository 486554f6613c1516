import Glibc
import VaultCore
import VaultModel

/// Saves what still authenticates of a damaged store: into a second one with the same keys and ways in, in steps.
///
/// Each item is opened and sealed again, so whatever is in the second store was whole; the damaged store is only read. An
/// item is saved when its head and its current value open; its older versions are as many as do, of those that an item
/// keeps at most (``Keychain/keptVersions``, ``Keychain/keptBytes``). Nobody is promised that
/// these are the latest: where old records were put back together, they open.
///
/// Nothing else counts of what the damaged store says: rows are given anew, in the order in which the items are met. Where two
/// have one name or one identity, that of the stronger class is saved, then that which by its own head is the later one.
///
/// The second store is nobody's vault: it is there for a backup to be made of ``target``, and goes with ``remove(_:)``. Both
/// keychains have one owner, and all keys of the source have to be in memory.
public final class Salvage {
  /// What was saved, and what was not.
  public struct Result: Hashable, Sendable {
    /// How many items were saved.
    public internal(set) var saved = 0
    /// What is lost, at most ``Finding/limit`` of it.
    public internal(set) var losses: [Finding] = []
    /// How many losses there are more.
    public internal(set) var omitted = 0

    mutating func lose(_ finding: Finding) {
      if losses.count < Finding.limit { losses.append(finding) } else { omitted += 1 }
    }
  }

  /// How many bytes count for as much as an item.
  private static let unit = 16 << 10

  private enum Direction {
    /// From the first head on.
    case up
    /// Where the tree of pages is broken: from the last head back to where the walk up ended.
    case down
  }

  /// What was saved until now.
  public private(set) var result: Result
  /// The second store, whose keys are in memory.
  public let target: Keychain
  private let source: Keychain
  private var isOver = false
  private var direction = Direction.up
  // The last heads that were met on the way up and on the way down.
  private var lowest = Int64.min
  private var highest = Int64.max
  private var walked = 0
  /// The highest row that was given in the second store.
  private var given: Int64 = 0
  /// The rows of the second store by what is in them.
  private var rows: [ItemID: Int64] = [:]

  /// Begins with a second store that has the keys and slots and no item.
  ///
  /// - Parameters:
  ///   - directory: where the second store is made. One that was left there is removed.
  ///   - now: Unix seconds.
  /// - Throws: ``VaultError/locked`` unless all keys are in memory; ``VaultError/corrupt(_:)`` when no slot is left that
  ///   could open what is saved; ``VaultError/storage(_:)``.
  public init(_ source: Keychain, in directory: String, now: Int64) throws(VaultError) {
    guard source.holdsAllKeys else { throw .locked }
    self.source = source
    var result = Result()
    try Self.remove(directory)
    do throws(VaultError) {
      target = try source.makeEmptyCopy(in: directory, now: now) { result.lose($0) }
      // It need not outlive a crash.
      try target.database.connection.execute("PRAGMA synchronous = OFF")
      try target.database.connection.shrinkCache()
    } catch {
      try? Self.remove(directory)
      throw error
    }
    self.result = result
    source.isBeingSalvaged = true
  }

  // One that was given up; another one may be reading since this one came to its end.
  deinit { end() }

  /// How many items were looked at, of about how many.
  public var progress: (done: Int, of: Int) {
    let count = Int(clamping: source.knownItems)
    return (min(walked, count), count)
  }

  /// Goes on over at most so many items, where a long one counts for several; true at the last one. Then the source is no
  /// longer read, however long ``target`` is kept.
  ///
  /// - Throws: ``VaultError/locked`` when a key of the source is gone; ``VaultError/storage(_:)`` when the system fails to
  ///   read or to write. There is no going on after either.
  public func step(items: Int) throws(VaultError) -> Bool {
    guard source.holdsAllKeys else { throw .locked }
    var left = max(1, items)
    if isOver { return true }
    let isAtEnd = try target.transaction { () throws(VaultError) in
      if direction == .up, try walkUp(&left) { return true }
      return direction == .down ? try walkDown(&left) : false
    }
    if isAtEnd { end() }
    return isAtEnd
  }

  private func end() {
    guard !isOver else { return }
    isOver = true
    source.isBeingSalvaged = false
  }

  /// Removes the second store that is in `directory`, if one is. Whatever used it must be gone: the last connection to close
  /// removes the log that has its name, be it another's.
  public static func remove(_ directory: String) throws(VaultError) {
    guard let found = try StoreDirectory.open(directory) else { return }
    for name in Database.allNames { try found.remove(name) }
    if unsafe rmdir(found.path) != 0 { throw SystemCall.error("rmdir", found.path, errno) }
  }

  // MARK: The walk

  /// Whether the last head was met.
  private func walkUp(_ left: inout Int) throws(VaultError) -> Bool {
    let statement = source.database.statements.heads
    try statement.bind(1, lowest)
    defer { statement.reset() }
    do throws(VaultError) {
      while left > 0 {
        guard try statement.step() else { return true }
        let item = try statement.integer(0)
        // In a tree that is whole they ascend.
        guard item > lowest else { throw .corrupt("heads are not in their order") }
        lowest = item
        try save(statement, item, &left)
      }
    } catch .corrupt(let reason) {
      result.lose(Finding(.damaged, "the table of heads cannot be read on after item \(max(lowest, 0)): \(reason)"))
      direction = .down
    }
    return false
  }

  /// Whether it is where the walk up had to end.
  private func walkDown(_ left: inout Int) throws(VaultError) -> Bool {
    let backwards = source.database.statements.headsBackwards
    try backwards.bind(1, highest)
    defer { backwards.reset() }
    do throws(VaultError) {
      while left > 0 {
        guard try backwards.step() else { return true }
        let item = try backwards.integer(0)
        guard item < highest, item > lowest else { return true }
        highest = item
        try save(backwards, item, &left)
      }
    } catch .corrupt(let reason) {
      result.lose(Finding(.damaged, "the table of heads cannot be read on before item \(highest): \(reason)"))
      return true
    }
    return false
  }

  /// Saves the item of the present row, or says why it is lost.
  private func save(_ statement: Statement, _ item: Int64, _ left: inout Int) throws(VaultError) {
    walked += 1
    left -= 1 + statement.size / Self.unit
    var name: ItemName?
    do throws(VaultError) {
      let row = try Row(statement)
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
        let text = "\(subject) are lost: an item keeps no more than the others"
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

  /// Sees to it that no two items have one name or one identity: takes out those that were saved before, or `new`, which is
  /// in the second store without tags. Whether `new` stays.
  private func makeRoom(for new: FoundItem, _ item: Int64) throws(VaultError) -> Bool {
    let name = new.head.item.name
    var others: [FoundItem] = []
    if let other = try target.find(name) { others.append(other) }
    if let row = rows[new.columns.item], row != others.first?.columns.row, let other = try target.head(inRow: row) {
      others.append(other)
    }
    if let better = others.first(where: { !isBetter(new, than: $0) }) {
      let what = better.columns.item == new.columns.item ? "another state of it" : "another item of its name"
      result.lose(Finding(.foreign, item: item, name: name, "item \(item) is lost: \(what) is saved"))
      try copy.remove(new.columns.row)
      return false
    }
    for other in others {
      let what = other.columns.item == new.columns.item ? "another state of it" : "another item of its name"
      result.lose(
        Finding(.foreign, item: item, name: other.head.item.name, "item \(item) is saved, and \(what) is lost"))
      try copy.remove(other.columns.row)
      rows[other.columns.item] = nil
      result.saved -= 1
    }
    return true
  }

  /// Whether an item is to be saved rather than one that was met before, by what authenticates of both. Where they are of
  /// one time, the row has to tell.
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
