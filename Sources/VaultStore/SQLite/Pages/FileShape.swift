import VaultCore
import VaultModel

/// The first stage of a check. It proves that the file consists of trees of pages as SQLite writes them, and that no
/// page serves two purposes.
///
/// A walk over a table pauses and then resumes after the last key that it reached, whereas a request looks up its row
/// directly. Pages can be arranged so that a walk and a lookup find different rows, and no hash over the rows of a walk
/// shows that. In intact trees both find the same row, and whatever is written after this check is written by SQLite,
/// which keeps the trees intact. So this check reads the pages one by one, as they were at one moment before the walk
/// begins (``FrozenPages``), without SQLite.
///
/// This check demands what `PRAGMA integrity_check` demands, but works in steps and without recursion. It also demands
/// that each row has exactly the columns of its table.
///
/// `PRAGMA integrity_check` on a snapshot cannot take its place: a tree of some 60,000 levels overflows the stack of
/// that check, it passes a row with surplus columns and a log that ends early at a flipped byte, and a snapshot without
/// the log would first fold the log into a store that may prove faulty (SQLite 3.40.1).
struct FileShape {
  private enum Stage { case log, header, trees, freePages, end }

  /// The cost of a page of a tree, in records. Such a page holds some dozens of cells; each cell is examined, and none
  /// is hashed. A frame of the log, which is hashed, costs about as much.
  private static let pageCost = 6
  /// The number of bytes that the log may grow by before commits must do a part of this check.
  static let room = 4 << 20
  /// The number of pages to examine for each page that the log grows by beyond ``room``.
  static let pace = 2
  /// The most pages and frames that one commit examines: a few milliseconds of work.
  static let mostAtOnce = 2000
  /// The size of the log in bytes, beside a store of `pages` pages, above which every commit takes part in a check. The
  /// longer the log, the more pages each commit examines: once crashes have made a log this long, the next crash must
  /// not make it much longer.
  static func longLog(pages: Int) -> Int { 2 * room + pages * DatabaseHeader.pageSize }

  private var stage = Stage.log
  private var frozen: FrozenPages?
  /// The number of pages and frames examined so far.
  private var work = 0
  private var pages = PageMap(count: 0)
  /// The tree that is being examined. The trees that follow are in `others`.
  private var tree = TreeShape(Schema.schema, root: 1)
  private var others: [TreeShape] = []
  private var free = FreeShape()
  /// The hash over the rows of the table of older values, and the hash over the entries of its index.
  private var versions: [RecordSet] = []
  private var isWhole = true

  /// The number of pages accounted for so far.
  var done: Int { pages.used }

  /// Continues for up to `left` records, which it subtracts from `left`; true at the end of the check.
  ///
  /// - Throws: ``VaultError/storage(_:)``. A fault of the file is not thrown: it becomes a finding.
  mutating func step(
    _ keychain: Keychain, _ left: inout Int, _ verification: inout Verification
  ) throws(VaultError) -> Bool {
    try frozen?.lookAtLog()
    while left > 0, stage != .end {
      // On an overflow page only the number of the next page is read.
      left -= stage == .trees && tree.isAtLongRow ? 1 : Self.pageCost
      try goOn(keychain, &verification)
    }
    if stage == .end { release() }
    return stage == .end
  }

  /// Releases the pages, so that the log can be folded in again. A check that is not at its end starts over with the
  /// next step.
  mutating func release() {
    frozen?.end()
    frozen = nil
    if stage != .end { self = FileShape() }
  }

  /// Continues the check after a commit, if the log has grown faster than the pages were examined. The log cannot be
  /// folded in before all pages were examined.
  ///
  /// So the log grows by ``room`` and a part of the store's size at most, however much is written, and the check ends
  /// even if nobody else continues it. This adds to a transaction about as much time as its writing takes, and more if
  /// crashes during checks have left a long log; see ``due(_:growth:)``.
  mutating func keepUp(_ keychain: Keychain, _ verification: inout Verification) {
    guard let frozen else { return }
    do throws(VaultError) {
      // Anything beyond that is left for the next commit.
      let due = min(Self.due(frozen, growth: try frozen.growth()), work + Self.mostAtOnce)
      try frozen.lookAtLog()
      while work < due, stage != .end { try goOn(keychain, &verification) }
      if stage == .end { release() }
    } catch {
      // The next step starts over, and reports the error if it persists.
      release()
    }
  }

  /// The number of pages and frames that must be examined by the time the log has grown by `growth` bytes.
  ///
  /// The log is not folded in before a check, because that would change a store that may yet prove faulty. So each
  /// crash during a check leaves a longer log, which the next check must hold. To bound this, the allowed growth
  /// shrinks to nothing as the log grows from ``longLog(pages:)`` to four times ``room`` beyond that. No commit
  /// examines more than ``mostAtOnce``, so a long log takes several commits.
  private static func due(_ frozen: FrozenPages, growth: Int) -> Int {
    let excess = frozen.heldFrames * LogFrames.frameSize - longLog(pages: frozen.count)
    guard excess > 0 else { return pace * (growth - room) / LogFrames.frameSize }
    let allowed = max(LogFrames.frameSize, room - excess / 4)
    return (frozen.heldFrames + frozen.count) * min(growth, allowed) / allowed + 1
  }

  /// The text of an error about the store itself; nil for any other error. During a salvage, a page that the disk
  /// cannot read counts as damage, too.
  private static func damage(_ error: VaultError, _ keychain: Keychain) -> String? {
    switch error {
    case .corrupt(let reason): reason
    case .storage(let reason): keychain.isBeingSalvaged ? reason : nil
    case .noVault, .vaultExists, .inUse, .locked, .noSuchItem, .noSuchVersion, .alreadyExists, .expired, .notAllowed,
      .neverRead, .distrusted, .secondStore, .newer, .permissions, .invalidValue, .needsAnotherItem, .tooLarge,
      .lastSlot, .noSuchSlot, .overtaken, .backingUp, .rekeying:
      nil
    }
  }

  /// The name of the part of the file that is being examined, for a finding.
  private var subject: String {
    switch stage {
    case .log: "the log"
    case .trees: tree.tree.subject
    case .freePages: "the list of free pages"
    case .header, .end: "the file"
    }
  }

  // MARK: One page at a time

  private mutating func goOn(_ keychain: Keychain, _ verification: inout Verification) throws(VaultError) {
    work += 1
    do throws(VaultError) { try lookAtNext(keychain) } catch {
      guard let reason = Self.damage(error, keychain) else { throw error }
      isWhole = false
      verification.add(Finding(.damaged, "\(subject): \(reason)"))
      // Nothing can be read after a damaged log, a damaged file header or a damaged page of the free list.
      if stage != .trees { stage = .end }
    }
  }

  private mutating func lookAtNext(_ keychain: Keychain) throws(VaultError) {
    switch stage {
    case .log:
      if let frozen {
        if try !frozen.readLog() { stage = .header }
      } else {
        frozen = try keychain.database.frozenPages()
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
    guard isOurs else { throw .corrupt("there are tables that vault did not make") }
  }

  private mutating func conclude() throws(VaultError) {
    stage = .end
    // The pages below a damaged page were skipped and not counted, so the totals below mean nothing.
    guard isWhole else { return }
    guard versions.count == 2, versions[0] == versions[1] else {
      throw .corrupt("the index of \(Schema.vals) does not have the same rows as the table")
    }
    guard pages.unused == 0 else { throw .corrupt("\(pages.unused) pages are used by nothing") }
  }
}
