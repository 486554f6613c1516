import VaultCore

/// The first stage of a check: that the file is made of trees of pages as SQLite writes them, in which no page is two things.
///
/// A walk over a table goes on, after each pause, from the last key that it met, and a request looks its row up. Pages can be
/// laid so that these are different rows, and no hash over what a walk meets tells of it. In whole trees they are the same;
/// and whatever is written after this, SQLite writes, which keeps the trees whole. So the pages are read, one by one, as
/// they were at one moment before the walk begins (``FrozenPages``), and SQLite is not asked.
///
/// What is demanded is what `PRAGMA integrity_check` demands, in steps and without recursion, and besides that each row has
/// exactly the columns of its table.
struct FileShape {
  private enum Stage { case log, header, trees, freePages, end }

  /// What a page of a tree costs, in records: it has some dozens, of which each is looked at, and none is hashed. A frame of
  /// the log, which is hashed, costs about as much.
  private static let pageCost = 6
  /// By how many bytes the log may grow before whoever writes has to do a part of this.
  static let room = 4 << 20
  /// How many pages are to be looked at for each one that the log grows by beyond that.
  static let pace = 2
  /// The number of pages and frames that one commit looks at: as many as take a few milliseconds.
  static let mostAtOnce = 2000
  /// The size of a log in bytes beside a store of so many pages from which on a check is taken on from the first commit,
  /// and the faster the longer the log: one that crashes have made so long is to become not much longer by the next one.
  static func longLog(pages: Int) -> Int { 2 * room + pages * DatabaseHeader.pageSize }

  private var stage = Stage.log
  private var frozen: FrozenPages?
  /// How many pages and frames were looked at.
  private var work = 0
  private var pages = PageMap(count: 0)
  /// The tree that is being looked at, and those that come after it.
  private var tree = TreeShape(Schema.schema, root: 1)
  private var others: [TreeShape] = []
  private var free = FreeShape()
  /// What the table of older values says, and what its index says.
  private var versions: [RecordSet] = []
  private var isWhole = true

  /// How many pages were looked at.
  var done: Int { pages.used }

  /// Goes on as far as `left` records last, which go down; whether that was the end.
  ///
  /// - Throws: ``VaultError/storage(_:)``. Whatever is not as it should be is a finding.
  mutating func step(
    _ keychain: Keychain, _ left: inout Int, _ verification: inout Verification
  ) throws(VaultError) -> Bool {
    try frozen?.lookAtLog()
    while left > 0, stage != .end {
      // Of a page of a long row only the next one's number is read.
      left -= stage == .trees && tree.isAtLongRow ? 1 : Self.pageCost
      try goOn(keychain, &verification)
    }
    if stage == .end { release() }
    return stage == .end
  }

  /// Lets go of the pages, so that the log is folded in again. What is not at its end begins anew with the next step.
  mutating func release() {
    frozen?.end()
    frozen = nil
    if stage != .end { self = FileShape() }
  }

  /// Goes on after a commit, when the log has grown faster than the pages were looked at: it cannot be folded in before the
  /// last of them.
  ///
  /// So it grows by ``room`` and a part of the store's size at most, whoever writes how much, and this has an end also where
  /// nobody takes the check on. It costs a transaction as much as it has written itself, and more of it where crashes in the
  /// midst of checks have left a long log; see ``due(_:growth:)``.
  mutating func keepUp(_ keychain: Keychain, _ verification: inout Verification) {
    guard let frozen else { return }
    do throws(VaultError) {
      // What is more than that is left for the next commit.
      let due = min(Self.due(frozen, growth: try frozen.growth()), work + Self.mostAtOnce)
      try frozen.lookAtLog()
      while work < due, stage != .end { try goOn(keychain, &verification) }
      if stage == .end { release() }
    } catch {
      // The next step begins anew, and says why if it cannot.
      release()
    }
  }

  /// How many pages and frames are to be looked at when the log has grown by so much.
  ///
  /// The log is not folded in before a check, which would change a store of which it is not known yet whether it fails. So
  /// each crash amid a check leaves a longer one for the next check to hold, unless the growth that is allowed goes to
  /// nothing as the log comes to ``longLog(pages:)`` and four times ``room``. No commit does more than ``mostAtOnce`` for it,
  /// however long the log is: it is some commits then until it is looked at.
  private static func due(_ frozen: FrozenPages, growth: Int) -> Int {
    let excess = frozen.heldFrames * LogFrames.frameSize - longLog(pages: frozen.count)
    guard excess > 0 else { return pace * (growth - room) / LogFrames.frameSize }
    let allowed = max(LogFrames.frameSize, room - excess / 4)
    return (frozen.heldFrames + frozen.count) * min(growth, allowed) / allowed + 1
  }

  /// The words of an error about the store; nil when it has none. While a salvage reads what it can, a page that the disk does
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
    case .log: "the log"
    case .trees: tree.tree.subject
    case .freePages: "the list of free pages"
    case .header, .end: "the file"
    }
  }

  // MARK: One page after the other

  private mutating func goOn(_ keychain: Keychain, _ verification: inout Verification) throws(VaultError) {
    work += 1
    do throws(VaultError) { try lookAtNext(keychain) } catch {
      guard let reason = Self.damage(error, keychain) else { throw error }
      isWhole = false
      verification.add(Finding(.damaged, "\(subject): \(reason)"))
      // Without the log and the file's header, and behind a page of free ones that is none, there is nothing to go on with.
      if stage != .trees { stage = .end }
    }
  }

  private mutating func lookAtNext(_ keychain: Keychain) throws(VaultError) {
    switch stage {
    case .log:
      if let frozen {
        if try !frozen.readLog() { stage = .header }
      } else {
        frozen = try FrozenPages(keychain.database.connection)
      }
    case .header:
      if let frozen { try begin(frozen) }
    case .trees:
      if let frozen, try !tree.step(frozen, &pages) { try nextTree() }
    case .freePages:
      if let frozen, try !free.step(frozen, &pages) { try conclude() }
    case .end: break
    }
  }

  private mutating func begin(_ frozen: FrozenPages) throws(VaultError) {
    try frozen.checkSize()
    let header = try frozen.page(1)
    try DatabaseHeader.check(header, pages: frozen.count)
    free = FreeShape(header)
    pages = PageMap(count: frozen.count)
    stage = .trees
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
