import VaultCore
import VaultModel

/// The columns of a head record that are not encrypted. They are bound into the record's seal, so they are trusted only
/// after the seal was opened.
struct HeadColumns: Equatable {
  /// The item's number in this store.
  var row: Int64
  /// The identity that the item's records are bound to, in any store.
  var item: ItemID
  var accessible: AccessClass
  var revision: Int
  var policyRevision: Int
  var current: Int

  /// The associated data that the sealed part of the head is bound to.
  func associatedData(_ vault: VaultID) -> AssociatedData {
    AssociatedData(
      vault: vault, table: .heads, item: item, version: revision, accessible: accessible,
      policyRevision: policyRevision)
  }

  /// The columns that values are bound to: those that stay the same in each revision and in each store.
  var ofValue: HeadColumns {
    var columns = self
    (columns.row, columns.revision) = (0, 0)
    return columns
  }

  /// The associated data that the sealed value of one version of this item is bound to.
  func associatedData(_ vault: VaultID, version: Int) -> AssociatedData {
    AssociatedData(
      vault: vault, table: .values, item: item, version: version, accessible: accessible,
      policyRevision: policyRevision)
  }
}

/// An answer of the engine: a head record, and the tag by which it was found. It is valid until the closure that
/// receives it returns.
struct Row {
  let columns: HeadColumns
  private let statement: Statement

  /// Reads the columns that every statement over heads begins with.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when a tag leads to no head, or a number is impossible.
  init(_ statement: Statement) throws(VaultError) {
    self.statement = statement
    let row = try statement.integer(0)
    if statement.isNull(1) { throw .corrupt("a tag leads to item \(row), which has no head") }
    let item = try statement.withBlob(1) { (bytes: RawSpan) throws(VaultError) in ItemID(bytes) }
    guard row > 0, let item else { throw .corrupt("the head of item \(row) has no identity") }
    guard let accessible = AccessClass(rawValue: UInt8(clamping: try statement.integer(2))) else {
      throw .corrupt("the head of item \(row) has an unknown class")
    }
    columns = HeadColumns(
      row: row, item: item, accessible: accessible, revision: Int(try statement.integer(3)),
      policyRevision: Int(try statement.integer(4)), current: Int(try statement.integer(5)))
  }

  /// Lends the sealed head.
  func withSealedHead<R: ~Copyable>(_ body: (RawSpan) throws(VaultError) -> R) throws(VaultError) -> R {
    try statement.withBlob(6, body)
  }

  /// The tag by which the item was found.
  func tag() throws(VaultError) -> Tag { try Self.tag(statement) }

  /// The tag by which a lookup found its present row.
  static func tag(_ statement: Statement) throws(VaultError) -> Tag {
    let tag = try statement.withBlob(7) { (bytes: RawSpan) throws(VaultError) in Tag(bytes) }
    guard let tag else { throw .corrupt("a tag has the wrong size") }
    return tag
  }

  /// The rank of the class under whose key the tag in a lookup's present row was made: 0 for the strongest class. Nil
  /// when the tag counts towards another class, or leads to no item of that class.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` when the tag is not one of those that were looked up.
  static func rank(_ statement: Statement, _ tags: ClassTags) throws(VaultError) -> Int? {
    guard let rank = tags.rank(of: try tag(statement)) else { throw .corrupt("a lookup led to another tag") }
    let accessible = Int64(AccessClass.strongestFirst[rank].rawValue)
    guard try statement.integer(8) == accessible, !statement.isNull(1) else { return nil }
    return try statement.integer(2) == accessible ? rank : nil
  }

  /// The version of the value that came with the row; nil when the store does not have the requested version.
  func valueVersion() throws(VaultError) -> Int? { statement.isNull(9) ? nil : Int(try statement.integer(9)) }

  /// Lends the sealed value that came with the row.
  func withSealedValue<R: ~Copyable>(_ body: (RawSpan) throws(VaultError) -> R) throws(VaultError) -> R {
    try statement.withBlob(10, body)
  }
}

extension AccessClass {
  /// The classes ordered by how seldom their keys are in memory. The stronger a class, the more its records are
  /// trusted.
  static let strongestFirst: [AccessClass] = [.whenUnlocked, .afterFirstUnlock, .always]

  /// The classes that are stronger than this one.
  var stronger: ArraySlice<AccessClass> { Self.strongestFirst.prefix { $0 != self } }
}

/// The tags of one fact under the keys of the three classes. The tag of a class is nil if its key is not in memory.
struct ClassTags: Equatable {
  var whenUnlocked: Tag?
  var afterFirstUnlock: Tag?
  var always: Tag?

  /// Makes the tag of one class alone.
  init(_ tag: Tag, _ accessible: AccessClass) {
    switch accessible {
    case .whenUnlocked: whenUnlocked = tag
    case .afterFirstUnlock: afterFirstUnlock = tag
    case .always: always = tag
    }
  }

  /// Makes the tags under the keys that are in memory.
  init(whenUnlocked: Tag?, afterFirstUnlock: Tag?, always: Tag?) {
    self.whenUnlocked = whenUnlocked
    self.afterFirstUnlock = afterFirstUnlock
    self.always = always
  }

  /// The rank of the class that a tag belongs to, 0 for the strongest; nil when the tag is not one of these.
  func rank(of tag: Tag) -> Int? { AccessClass.strongestFirst.firstIndex { self[$0] == tag } }

  subscript(accessible: AccessClass) -> Tag? {
    switch accessible {
    case .whenUnlocked: whenUnlocked
    case .afterFirstUnlock: afterFirstUnlock
    case .always: always
    }
  }
}
