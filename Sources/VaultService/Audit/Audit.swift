internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The audit log: the one place that writes entries.
///
/// What happens is put into a block in secure memory, which is sealed and written within a second, so that nobody waits for
/// the disk; with ``AuditSettings/Mode/required`` it is written before anybody hears of what came of a call.
package final class Audit: SecretHolder {
  /// The longest time that an entry is in memory alone, in nanoseconds.
  private static let commitInterval: Int64 = 1_000_000_000
  /// The longest time between two vouchings for the log while the vault is unlocked, in nanoseconds.
  private static let anchorInterval: Int64 = 60 * 1_000_000_000
  /// The number of entries, and the nanoseconds, after which the journal is told where the log is.
  private static let (headEntries, headInterval): (Int64, Int64) = (1000, 3600 * 1_000_000_000)
  /// The number of rows of the log before an unlock that are looked at before it is answered; the others soon after.
  private static let joinedAtOnce = 256

  let clock: Clock
  private let log: Log
  private let timer: Timer
  /// The store, where there is one that is open.
  var keychain: () -> Keychain? = { nil }
  /// True for the machine's vault, which takes the units of the system's service manager for services, where a user's takes those of
  /// its own.
  var isSystem = false
  /// True when nothing says that a caller may do anything here: such callers have one budget together.
  var isStranger: (Caller) -> Bool = { _ in false }
  /// Told when there are new entries.
  private var followers: [ObjectIdentifier: () -> Void] = [:]

  package private(set) var settings = AuditSettings()
  private var block = AuditBlock()
  private var repeats = AuditRepeats()
  private var budgets = AuditBudgets()
  private var commitTimer: Timer.Cancel?
  private var countTimer: Timer.Cancel?
  /// True while the names in an entry must not wait in memory.
  private var sealsAtOnce = false
  /// The time of the last anchor, and of the last word to the journal, `CLOCK_BOOTTIME` nanoseconds.
  private var anchored: Int64?
  private var told: (time: Int64, entry: Int64)?
  /// The number of entries that are lost, because they could not be kept until they could be written.
  package private(set) var lost = 0
  /// The reason why the log cannot be written, while it cannot.
  package private(set) var problem: String?

  init(clock: Clock, log: Log, timer: Timer, in holders: SecretHolders) {
    self.clock = clock
    self.log = log
    self.timer = timer
    super.init(in: holders)
  }

  // MARK: What happens

  /// Records something that came out so, for whoever asked; nil for the daemon itself.
  ///
  /// - Parameters:
  ///   - item: the name of an item, or what else it was about.
  ///   - detail: more of what was asked.
  ///   - version: of a get, the version that was asked for.
  func record(
    _ action: AuditAction, _ outcome: AuditOutcome, _ caller: Caller?, item: String? = nil, detail: String? = nil,
    version: Int? = nil, _ said: Said? = nil
  ) {
    guard settings.mode != .off, let keychain = keychain() else { return }
    let purpose = said?.purpose.map(Self.line)
    var repeated: Int?
    if let caller {
      // Those that are equal in all but time are counted.
      if action == .get || action == .use {
        let key = AuditRepeats.key(action, outcome, caller, item, version, purpose)
        if settings.mode != .required, repeats.count(key, now: clock.boot(), wall: clock.wall()) { return countLater() }
        repeated = key
      }
      let subject = isStranger(caller) ? AuditBudgets.strangers : caller.author(isSystem: isSystem)
      guard budgets.take(subject, AuditBudgets.size(item, detail, purpose), settings, now: clock.boot()) else {
        budgets.count(subject, action, outcome, now: clock.boot())
        return countLater()
      }
    }
    if let repeated {
      if block.isFull { seal(keychain) }
      let number = keychain.nextAuditEntry + Int64(block.count)
      repeats.begin(repeated, as: number, now: clock.boot(), wall: clock.wall())
    }
    add(
      action, outcome, caller, item: item, detail: detail ?? version.map { "version \($0)" }, purpose: purpose, keychain
    )
  }

  /// A caller's own words, as they are kept.
  private static func line(_ words: String) -> String {
    // Cut before it is looked at: it may be as long as a frame.
    String(Printable.line(String(words.unicodeScalars.prefix(200))).prefix(AuditEntry.longestPurpose))
  }

  private func add(
    _ action: AuditAction, _ outcome: AuditOutcome, _ caller: Caller?, item: String? = nil, detail: String? = nil,
    purpose: String? = nil, repeats: AuditEntry.Repeats? = nil, time: Int64? = nil, _ keychain: Keychain
  ) {
    if block.isFull { seal(keychain) }
    let place = caller.map { caller in
      if let known = caller.memory.audit, known.filling == block.filling { return known.place }
      let place = block.add(AuditEntry.Caller(caller, isSystem: isSystem))
      caller.memory.audit = (block.filling, place)
      return place
    }
    block.add(
      action, outcome, time: time ?? clock.wall(), caller: place, item: item.map(Self.cut),
      detail: detail.map(Self.cut),
      purpose: purpose, repeats: repeats)
    if sealsAtOnce { seal(keychain) }
    commitLater()
  }

  private static func cut(_ text: String) -> String { cut(text, to: AuditEntry.longestText) }

  /// A text of at most so many bytes.
  fileprivate static func cut(_ text: String, to longest: Int) -> String {
    guard text.utf8.count > longest else { return text }
    var end = text.utf8.index(text.startIndex, offsetBy: longest - 3)
    while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
    return text[..<end] + "…"
  }

  // MARK: Writing

  private func commitLater() {
    guard commitTimer == nil else { return }
    commitTimer = timer.after(Self.commitInterval) { [weak self] in
      self?.commitTimer = nil
      self?.write()
    }
  }

  /// Seals what is in memory. What cannot be sealed is lost, and counted.
  private func seal(_ keychain: Keychain) {
    guard block.count > 0 else { return }
    let count = block.count
    do throws(VaultError) { try keychain.sealAudit(&block, now: clock.wall()) } catch {
      lost += count
      block.empty()
      note(error)
    }
  }

  /// Writes what there is, and waits until it is on the disk; false when that cannot be.
  ///
  /// - Parameter anchored: true to vouch for all of it now, where that can be.
  @discardableResult
  func write(anchored isForced: Bool = false) -> Bool {
    guard let keychain = keychain() else { return true }
    tellOfLost(keychain)
    let isNew = block.count > 0 || keychain.hasUnwrittenAudit
    seal(keychain)
    let now = clock.boot()
    let isAnchored = isForced || anchored.map { now - $0 >= Self.anchorInterval } ?? true
    guard isNew || isForced else { return problem == nil }
    do throws(VaultError) {
      try keychain.writeAudit(anchored: isAnchored)
      if isAnchored { anchored = now }
      problem = nil
    } catch {
      note(error)
      // Where the disk is full it is tried again, so that nothing waits until somebody asks for something.
      commitLater()
      return false
    }
    tellJournal(keychain, isForced: isForced)
    for follower in followers.values { follower() }
    return true
  }

  private func note(_ error: VaultError) {
    if problem == nil { log.error("the audit log cannot be written: \(error.text)") }
    problem = error.text
  }

  private func tellOfLost(_ keychain: Keychain) {
    guard lost > 0, problem == nil else { return }
    let text = "\(lost) entries are lost"
    lost = 0
    add(.audit, .failed, nil, item: text, keychain)
  }

  /// Tells the journal where the log is, so that somebody who compares them sees when it is cut.
  private func tellJournal(_ keychain: Keychain, isForced: Bool) {
    let (now, facts) = (clock.boot(), keychain.auditFacts)
    if let told, !isForced || told.entry == facts.entries {
      guard
        facts.entries - told.entry >= Self.headEntries
          || facts.entries > told.entry && now - told.time >= Self.headInterval
      else { return }
    }
    told = (now, facts.entries)
    log.info("audit entry \(facts.entries) \(facts.link.array.hex)")
  }

  // MARK: Before an answer

  /// True when an entry has to be on the disk before its answer.
  package var isRequired: Bool { settings.mode == .required }

  /// Has everything that was recorded be on the disk now, where that is required.
  ///
  /// - Throws: the refusal of what is asked where it cannot be.
  func settle() throws(Refusal) {
    guard isRequired, !write() else { return }
    throw .storageFailed("the audit log, which is required, cannot be written: \(problem ?? "")")
  }

  // MARK: Locks

  /// Writes what is in memory before keys go that vouch for it.
  ///
  /// - Parameter isEnd: true at the daemon's end.
  func willLock(atEnd isEnd: Bool = false) {
    count(all: isEnd)
    write(anchored: true)
  }

  /// Takes note of an unlock: what was written before it is looked at, and vouched for when it is whole.
  func unlocked(_ keychain: Keychain) {
    sealsAtOnce = false
    keychain.endAuditChain()
    guard settings.mode != .off || keychain.auditFacts.entries > 0 else { return }
    join(keychain, rows: Self.joinedAtOnce)
  }

  private func join(_ keychain: Keychain, rows: Int) {
    do throws(VaultError) {
      guard let faults = try keychain.joinAudit(rows: rows) else {
        _ = timer.after(1_000_000) { [weak self, weak keychain] in
          if let self, let keychain, self.keychain() === keychain { join(keychain, rows: rows) }
        }
        return
      }
      for fault in faults { record(.audit, .failed, nil, item: fault) }
      if let note = keychain.auditNote {
        record(.audit, .failed, nil, item: note)
        log.error("the audit log: \(note)")
      }
      cut(keychain)
      write(anchored: true)
    } catch { if error != .locked { log.error("the audit log could not be looked at: \(error.text)") } }
  }

  package override func letGo(for lock: Lock) {
    if lock.reach.contains(.names) { sealsAtOnce = true }
    guard block.count > 0, lock.reach.contains(.names) else { return }
    if let keychain = keychain() { seal(keychain) } else { block.empty() }
  }

  package override func outlives(_ lock: Lock) -> Bool { lock.reach.contains(.names) && block.count > 0 }

  // MARK: Counts

  private func countLater() {
    guard countTimer == nil else { return }
    countTimer = timer.after(AuditRepeats.span) { [weak self] in
      self?.countTimer = nil
      self?.count()
    }
  }

  /// Writes down what was counted for as long as it is; with `all`, everything.
  private func count(all: Bool = false) {
    guard let keychain = keychain() else { return }
    let now = clock.boot()
    for (number, count, time) in repeats.take(until: all ? .max : now) {
      let repeats = AuditEntry.Repeats(of: number, count: count)
      add(.get, .ok, nil, repeats: repeats, time: time, keychain)
    }
    for one in budgets.takeCounts(now: all ? .max : now) {
      let repeats = AuditEntry.Repeats(of: nil, count: one.count)
      add(one.action, one.outcome, nil, item: one.subject, repeats: repeats, keychain)
    }
    if !repeats.isEmpty || budgets.hasCounts { countLater() }
  }

  // MARK: Settings

  /// Takes new settings over; that is an entry of its own where it is another one than before.
  func reconfigure(_ new: AuditSettings) {
    guard new != settings else { return }
    let old = settings
    if old.mode == .off { settings.mode = .on }
    record(.audit, .ok, nil, item: new.text, detail: "before: \(old.text)")
    write(anchored: true)
    settings = new
    if let keychain = keychain() { cut(keychain) }
  }

  /// Writes what is in memory before the store is closed; what is counted is not about the next one.
  func willClose() {
    write()
    repeats = AuditRepeats()
  }

  /// Takes the settings of the daemon's start.
  func configure(_ settings: AuditSettings) { self.settings = settings }

  /// Takes the oldest entries out, where that is due.
  func cut(_ keychain: Keychain) {
    do throws(VaultError) {
      let gone = try keychain.cutAudit(toBytes: settings.size, olderThan: settings.age, now: clock.wall())
      if gone > 0 { record(.audit, .ok, nil, item: "\(gone) entries were taken out", detail: settings.text) }
    } catch { if error != .locked { log.error("the audit log could not be cut: \(error.text)") } }
  }

  // MARK: Readers

  /// Has somebody told of new entries.
  func follow(_ id: ObjectIdentifier, _ tell: @escaping () -> Void) { followers[id] = tell }

  /// Has somebody told no more.
  func unfollow(_ id: ObjectIdentifier) { followers[id] = nil }
}

extension AuditEntry.Caller {
  /// The longest texts of a caller in bytes.
  private static let longest = 512

  init(_ caller: Caller, isSystem: Bool) {
    self.init(
      door: caller.door.rawValue, uid: caller.uid, pid: caller.pid,
      unit: caller.grantedUnit(isSystem: isSystem).map { Audit.cut($0, to: Self.longest) },
      executable: caller.memory.executable().map { Audit.cut($0, to: Self.longest) })
  }
}
