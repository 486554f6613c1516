import VaultCore

/// The first stage of a check: that the file is made of trees of pages as SQLite writes them, in which no page is two things.
///
/// A walk over a table goes on, after each pause, from the last key that it met, and a request looks its row up. Pages can be
/// laid so that these are different rows, and no hash over what a walk meets tells of it. In whole trees they are the same;
/// and whatever is written after this, SQLite writes, which keeps the trees whole. So the main file is read, page by page, as
/// it was at one moment before the walk begins (``Snapshot``), and SQLite is not asked.
///
/// What is demanded is what `PRAGMA integrity_check` demands, in steps and without recursion, and besides that each row has
/// exactly the columns of its table.
struct FileShape {
  private enum Stage { case trees, freePages, end }

  /// What a page of a tree costs, in records: it has some dozens, of which each is looked at, and none is hashed.
  private static let pageCost = 6
  /// How many commits there may be between two steps. A check that nobody takes on must not let the log grow.
  private static let patience = 64

  private var stage = Stage.trees
  private var snapshot: Snapshot?
  private var pages = PageMap(count: 0)
  /// The tree that is being looked at, and those that come after it.
  private var tree = TreeShape(Schema.schema, root: 1)
  private var others: [TreeShape] = []
  private var free = FreeShape()
  /// What the table of older values says, and what its index says.
  private var versions: [RecordSet] = []
  private var isWhole = true
  private var commits = 0

  /// How many pages were looked at.
  var done: Int { pages.used }

  /// Goes on as far as `left` records last, which go down; whether that was the end.
  ///
  /// - Throws: ``VaultError/storage(_:)``. Whatever is not as it should be is a finding.
  mutating func step(
    _ keychain: Keychain, _ left: inout Int, _ verification: inout Verification
  ) throws(VaultError) -> Bool {
    commits = 0
    while left > 0, stage != .end {
      // Of a page of a long row only the next one's number is read.
      left -= stage == .trees && tree.isAtLongRow ? 1 : Self.pageCost
      do throws(VaultError) { try goOn(keychain) } catch {
        guard let reason = Self.damage(error, keychain) else { throw error }
        isWhole = false
        verification.add(Finding(.damaged, "\(subject): \(reason)"))
        // Without the file's header, and behind a page of free ones that is none, there is nothing to go on with.
        if snapshot == nil || stage == .freePages { stage = .end }
      }
    }
    if stage == .end { release() }
    return stage == .end
  }

  /// Lets go of the file, so that the log is written through again. What is not at its end begins anew with the next step.
  mutating func release() {
    snapshot?.end()
    snapshot = nil
    if stage != .end { self = FileShape() }
  }

  /// Takes note of a commit.
  mutating func noteCommit() {
    commits += 1
    if commits > Self.patience { release() }
  }

  /// What an error says of the store; nil when it says nothing. While a salvage reads what it can, a page that the disk does
  /// not give is damage like any other.
  private static func damage(_ error: VaultError, _ keychain: Keychain) -> String? {
    switch error {
    case .corrupt(let reason): reason
    case .storage(let reason) where keychain.isBeingSalvaged: reason
    default: nil
    }
  }

  /// What is being looked at, in words.
  private var subject: String {
    switch stage {
    case .trees: snapshot == nil ? "the file" : tree.tree.subject
    case .freePages: "the list of free pages"
    case .end: "the file"
    }
  }

  // MARK: One page after the other

  private mutating func goOn(_ keychain: Keychain) throws(VaultError) {
    guard let snapshot else { return try begin(keychain) }
    switch stage {
    case .trees:
      if try !tree.step(snapshot, &pages) { try nextTree() }
    case .freePages:
      if try !free.step(snapshot, &pages) { try conclude() }
    case .end: break
    }
  }

  private mutating func begin(_ keychain: Keychain) throws(VaultError) {
    let file = try keychain.frozenFile()
    do throws(VaultError) {
      let header = try file.page(1)
      try DatabaseHeader.check(header, pages: file.pageCount)
      free = FreeShape(header)
    } catch {
      file.end()
      throw error
    }
    pages = PageMap(count: file.pageCount)
    snapshot = file
  }

  private mutating func nextTree() throws(VaultError) {
    if tree.tree.table == Schema.vals { versions.append(tree.versions) }
    let isSchema = tree.tree.table == Schema.schema.table
    let rows = tree.rows
    if isSchema {
      let marks = VersionMarks()
      others = Schema.trees.compactMap { tree in
        rows.first(where: tree.isIn).map { TreeShape(tree, root: $0.root, marks) }
      }
    }
    let isOurs = !isSchema || others.count == Schema.trees.count && rows.count == others.count
    if others.isEmpty { stage = .freePages } else { tree = others.removeFirst() }
    guard isOurs else { throw .corrupt("there are other tables than ours") }
  }

  private mutating func conclude() throws(VaultError) {
    stage = .end
    // What was passed over cannot have been counted.
    guard isWhole else { return }
    guard versions.count == 2, versions[0] == versions[1] else {
      throw .corrupt("the index of \(Schema.vals) has other rows than the table")
    }
    guard pages.unused == 0 else { throw .corrupt("\(pages.unused) pages are for nothing") }
  }
}
