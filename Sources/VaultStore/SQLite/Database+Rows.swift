import VaultCore
import VaultModel

// The reading and writing of heads, values and tags.
extension Database {
  /// Finds the one item that has one of the tags, together with the value of `version` (nil: the current one), in one
  /// run of one statement. Nil when there is no such item.
  ///
  /// If an item of a weaker class has such a tag as well, the item of the strongest class is the answer, and `notice`
  /// is called with an error about the other item. `notice` is also called about ``StrayTags``.
  /// - Throws: what `body` throws; ``VaultError/corrupt(_:)`` when a second item of the same class has such a tag, or
  ///   when there are tags and none of them leads to its item.
  func read<R: ~Copyable>(
    _ tags: ClassTags, version: Int?, notice: (VaultError) -> Void, _ body: (Row) throws(VaultError) -> R
  ) throws(VaultError) -> R? {
    guard let version else { return try single(statements.tags.read, tags, notice, body) }
    try statements.tags.readVersion.statement.bind(4, Int64(version))
    return try single(statements.tags.readVersion, tags, notice, body)
  }

  /// Finds the one item that has one of the tags; nil when there is none. Otherwise like ``read(_:version:notice:_:)``.
  func locate<R: ~Copyable>(
    _ tags: ClassTags, notice: (VaultError) -> Void, _ body: (Row) throws(VaultError) -> R
  ) throws(VaultError) -> R? {
    try single(statements.tags.locate, tags, notice, body)
  }

  private func single<R: ~Copyable>(
    _ lookup: TagStatement, _ tags: ClassTags, _ notice: (VaultError) -> Void, _ body: (Row) throws(VaultError) -> R
  ) throws(VaultError) -> R? {
    try lookup.bind(tags)
    let statement = lookup.statement
    defer { statement.reset() }
    var strays = StrayTags()
    var result: R?
    var first: (item: Int64, rank: Int)?
    while try statement.step() {
      guard let rank = try Row.rank(statement, tags) else {
        try strays.passOver(statement, notice: notice)
        if strays.areTooMany { break }
        continue
      }
      guard let found = first else {
        // This check also comes before the item is opened, so that no item is opened in vain.
        try strays.check(rank: rank)
        let row = try Row(statement)
        first = (row.columns.row, rank)
        result = try body(row)
        continue
      }
      // The classes come in their order, the strongest first; a row out of that order is damage.
      guard found.rank < rank else { throw .corrupt("item \(found.item) shares its name with another") }
      notice(.corrupt(RecordWalk.namesake(try statement.integer(0))))
      break
    }
    if let first {
      try strays.check(rank: first.rank)
    } else if let error = strays.error {
      throw error
    }
    return result
  }

  /// Walks the items that have one of the tags and a row above `after`, ordered by row, until `body` returns false.
  ///
  /// - Parameters:
  ///   - notice: called with an error for ``StrayTags``, which are skipped.
  ///   - passing: called with the row that a stray tag leads to; false ends the walk before that row. Rows come in
  ///     ascending order, and a row may come more than once.
  ///   - body: gets the item's number, and its head or the error in reading the head.
  /// - Throws: what `body` throws; ``VaultError/corrupt(_:)`` when there are too many stray tags, or a stray tag counts
  ///   towards the strongest class.
  func each(
    tagged tags: ClassTags, after: Int64, notice: (VaultError) -> Void, passing: (Int64) -> Bool,
    _ body: (Int64, Result<Row, VaultError>) throws(VaultError) -> Bool
  ) throws(VaultError) {
    try statements.tags.tagged.bind(tags)
    try statements.tags.tagged.statement.bind(4, after)
    var strays = StrayTags()
    var (last, lastOwn) = (after, after)
    try statements.tags.tagged.statement.each { (found: Statement) throws(VaultError) in
      let next = try found.integer(0)
      guard next >= last else { throw Self.outOfOrder("tags") }
      if try Row.rank(found, tags) == nil {
        guard passing(next) else { return false }
        last = next
        try strays.passOver(found, notice: notice)
        if strays.areTooMany || strays.hideStrongest, let error = strays.error { throw error }
        return true
      }
      guard next > lastOwn else { throw Self.outOfOrder("heads") }
      (last, lastOwn) = (next, next)
      return try body(next, Self.row(found))
    }
  }

  /// Walks all items in rows above `after`, ordered by row, until `body` returns false.
  ///
  /// - Parameter body: gets the item's number, and its head or the error in reading the head.
  func each(
    after: Int64, _ body: (Int64, Result<Row, VaultError>) throws(VaultError) -> Bool
  ) throws(VaultError) {
    try statements.heads.all.bind(1, after)
    var last = after
    try statements.heads.all.each { (found: Statement) throws(VaultError) in
      let next = try found.integer(0)
      guard next > last else { throw Self.outOfOrder("heads") }
      last = next
      return try body(next, Self.row(found))
    }
  }

  private static func row(_ found: Statement) -> Result<Row, VaultError> {
    do throws(VaultError) { return .success(try Row(found)) } catch { return .failure(error) }
  }

  /// The error for a table whose keys do not ascend. The pages of such a table form no tree, and a walk over it might
  /// never end.
  static func outOfOrder(_ table: String) -> VaultError { .corrupt("vault.db: the table \(table) is out of order") }

  /// Lends the head in a row; nil when that row has none.
  func withHead<R>(_ row: Int64, _ body: (Row) throws(VaultError) -> R) throws(VaultError) -> R? {
    try statements.heads.one.bind(1, row)
    return try statements.heads.one.first { (row: Statement) throws(VaultError) in try body(Row(row)) }
  }

  /// The rows above `after` that one of the tags leads to, in ascending order, at most `limit` of them. The heads are
  /// not read.
  func rows(tagged tags: ClassTags, after: Int64, limit: Int) throws(VaultError) -> [Int64] {
    try statements.tags.rows.bind(tags)
    let statement = statements.tags.rows.statement
    try statement.bind(4, after)
    try statement.bind(5, Int64(limit))
    var rows: [Int64] = []
    try statement.each { (row: Statement) throws(VaultError) in
      rows.append(try row.integer(0))
      return true
    }
    return rows
  }

  /// The number of rows in the table of tags that have one of the tags, counted up to `limit`.
  func count(tagged tags: ClassTags, limit: Int) throws(VaultError) -> Int {
    try statements.tags.count.bind(tags)
    let statement = statements.tags.count.statement
    try statement.bind(4, Int64(limit))
    return try statement.first { (row: Statement) throws(VaultError) in Int(try row.integer(0)) } ?? 0
  }

  /// The highest row, up to `end`, that an item has; 0 when there is none.
  func lastRow(upTo end: Int64 = .max) throws(VaultError) -> Int64 {
    if highestRow == nil { highestRow = try readLastRow(upTo: .max) }
    if let highestRow, highestRow <= end { return highestRow }
    return try readLastRow(upTo: end)
  }

  private func readLastRow(upTo end: Int64) throws(VaultError) -> Int64 {
    try statements.heads.lastRow.bind(1, end)
    return try statements.heads.lastRow.first { (row: Statement) throws(VaultError) in
      row.isNull(0) ? 0 : try row.integer(0)
    } ?? 0
  }

  /// A row that no item has, near the start of `range` unless the rows there are taken; nil when the search found none.
  ///
  /// The search draws rows at random, because a walk over the taken rows could take as long as the maker of the file
  /// wants.
  func freeRow(in range: Range<Int64>) throws(VaultError) -> Int64? {
    for bits in 16...32 {
      let width = UInt32(clamping: min(range.upperBound - range.lowerBound, 1 << bits))
      let row = range.lowerBound + Int64(RandomBytes.uniform(below: width))
      try statements.heads.classOf.bind(1, row)
      if try statements.heads.classOf.first({ _ in true }) == nil { return row }
    }
    return nil
  }

  /// Stores the head of a new item and the current value beside it.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when the row is taken.
  func insertHead(_ columns: HeadColumns, sealed: [UInt8], value: [UInt8]) throws(VaultError) {
    try write(statements.heads.insert, columns, sealed, value)
    if let highest = highestRow { highestRow = max(highest, columns.row) }
  }

  /// Replaces the head of an item and the current value beside it.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when that row does not hold this item.
  func updateHead(_ columns: HeadColumns, sealed: [UInt8], value: [UInt8]) throws(VaultError) {
    try write(statements.heads.update, columns, sealed, value)
  }

  private func write(
    _ statement: Statement, _ columns: HeadColumns, _ sealed: [UInt8], _ value: [UInt8]
  ) throws(VaultError) {
    try statement.bind(1, columns.row)
    try columns.item.withBytes { (bytes: RawSpan) throws(VaultError) in try statement.bind(2, bytes) }
    try statement.bind(3, Int64(columns.accessible.rawValue))
    try statement.bind(4, Int64(columns.revision))
    try statement.bind(5, Int64(columns.policyRevision))
    try statement.bind(6, Int64(columns.current))
    try statement.bind(7, sealed)
    try statement.bind(8, value)
    try runOnOneRow(statement, "the head of item \(columns.row)")
  }

  /// Runs a statement that must change exactly one row.
  func runOnOneRow(_ statement: Statement, _ subject: @autoclosure () -> String) throws(VaultError) {
    try run(statement, onRows: 1, subject())
  }

  /// Runs a statement that must change exactly `count` rows. If it changes fewer, then a row that another statement
  /// found is not where this statement looks. The transaction must not continue as if that row were gone.
  private func run(
    _ statement: Statement, onRows count: Int, _ subject: @autoclosure () -> String
  ) throws(VaultError) {
    try statement.run()
    guard connection.changes == count else { throw .corrupt("\(subject()) is not where it should be") }
  }

  /// Lends the sealed value of one version; nil when there is none.
  func withValue<R: ~Copyable>(
    row: Int64, version: Int, _ body: (RawSpan) throws(VaultError) -> R
  ) throws(VaultError) -> R? {
    try statements.values.one.bind(1, row)
    try statements.values.one.bind(2, Int64(version))
    return try statements.values.one.first { (row: Statement) throws(VaultError) in try row.withBlob(0, body) }
  }

  /// Stores the sealed value of a version that is no longer the current one.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when the store already has a record of that version.
  func insertValue(row: Int64, version: Int, sealed: [UInt8]) throws(VaultError) {
    try write(statements.values.insert, row, version, sealed)
  }

  /// Replaces the sealed value of an older version.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when there is no such value.
  func updateValue(row: Int64, version: Int, sealed: [UInt8]) throws(VaultError) {
    try write(statements.values.update, row, version, sealed)
  }

  private func write(
    _ statement: Statement, _ row: Int64, _ version: Int, _ sealed: [UInt8]
  ) throws(VaultError) {
    try statement.bind(1, row)
    try statement.bind(2, Int64(version))
    try statement.bind(3, sealed)
    try runOnOneRow(statement, "version \(version) of item \(row)")
  }

  /// Removes the value of an older version.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when there is no such value.
  func deleteValue(row: Int64, version: Int) throws(VaultError) {
    try statements.values.delete.bind(1, row)
    try statements.values.delete.bind(2, Int64(version))
    try runOnOneRow(statements.values.delete, "version \(version) of item \(row)")
  }

  /// Removes an item's head and all its values. The caller removes the tags.
  ///
  /// - Parameter olderValues: the number of versions that the item has beside the current one.
  /// - Throws: ``VaultError/corrupt(_:)`` when the head is missing, or the number of older values differs.
  func delete(row: Int64, olderValues: Int) throws(VaultError) {
    highestRow = nil
    try statements.heads.delete.bind(1, row)
    try runOnOneRow(statements.heads.delete, "the head of item \(row)")
    try statements.values.deleteAll.bind(1, row)
    try run(statements.values.deleteAll, onRows: olderValues, "an older version of item \(row)")
  }

  /// Makes a tag lead to the item in a row, which is of the class `accessible`.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when the tag leads there already.
  func insert(_ tag: Tag, row: Int64, _ accessible: AccessClass) throws(VaultError) {
    try statements.tags.insert.bind(3, Int64(accessible.rawValue))
    try change(statements.tags.insert, tag, row)
  }

  /// The class with which a tag of an item is stored; nil when the tag does not lead to that item.
  func tagClass(_ tag: Tag, row: Int64) throws(VaultError) -> Int64? {
    let statement = statements.tags.classOf
    try tag.withBytes { (bytes: RawSpan) throws(VaultError) in try statement.bind(1, bytes) }
    try statement.bind(2, row)
    return try statement.first { (row: Statement) throws(VaultError) in try row.integer(0) }
  }

  /// The class of an item; nil when the item has no head, or its head has an unknown class.
  func headClass(_ row: Int64) throws(VaultError) -> AccessClass? {
    try statements.heads.classOf.bind(1, row)
    let number = try statements.heads.classOf.first { (row: Statement) throws(VaultError) in try row.integer(0) }
    return number.flatMap { UInt8(exactly: $0) }.flatMap(AccessClass.init(rawValue:))
  }

  /// Removes a tag from an item of the class `accessible`.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when the tag does not lead there, or is stored with another class.
  func delete(_ tag: Tag, row: Int64, _ accessible: AccessClass) throws(VaultError) {
    try statements.tags.delete.bind(3, Int64(accessible.rawValue))
    try change(statements.tags.delete, tag, row)
  }

  private func change(_ statement: Statement, _ tag: Tag, _ row: Int64) throws(VaultError) {
    try tag.withBytes { (bytes: RawSpan) throws(VaultError) in try statement.bind(1, bytes) }
    try statement.bind(2, row)
    try runOnOneRow(statement, "a tag of item \(row)")
  }
}
