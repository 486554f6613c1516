internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The audit log: the one place that writes entries.
///
/// What happens is put into a block in secure memory, which is sealed and written within a second, so that nobody waits for
/// the disk; with ``AuditSettings/Mode/required`` it is written before anybody hears of what came of a call.
package final class Audit: SecretHolder {
  let clock: Clock
  let log: Log
  let timer: Timer
  /// The store, where there is one that is open.
  var keychain: () -> Keychain? = { nil }
  /// True for the machine's vault, which takes the units of the system's service manager for services, where a user's takes those of
  /// its own.
  var isSystem = false
  /// The subject whose parts of the log a caller takes, and the state of the grants, which that follows from.
  var subjectName: (Caller) -> AuditSubject.Name = { AuditSubject.Name(text: "user:\($0.uid)") }
  var grantsRevision: () -> Int = { 0 }
  /// The same of who an entry that names no subject was by.
  var toldName: (AuditEntry.Caller) -> AuditSubject.Name = { AuditSubject.Name(text: "user:\($0.uid)") }
  package internal(set) var settings = AuditSettings()

  /// What is not sealed yet.
  var block = AuditBlock()
  /// True while the names in an entry must not wait in memory.
  private(set) var sealsAtOnce = false
  /// True from the daemon's end on, at which the keys are wiped before the connections are closed.
  private(set) var isEnding = false
  var writing = Writing()
  var counting = Counting()
  var subjects = AuditSubjects()
  let readers: AuditReaders
  /// True once the log says that it is off since the daemon's start.
  private var hasToldOff = false
  /// True once it is known what was used of the log before this process.
  var hasJoined = false
  /// The number of entries that are lost, because they could not be kept until they could be written.
  package var lost: Int { writing.lost }
  /// The reason why the log cannot be written, while it cannot.
  package var problem: String? { writing.problem }

  init(clock: Clock, log: Log, timer: Timer, in holders: SecretHolders) {
    self.clock = clock
    self.log = log
    self.timer = timer
    readers = AuditReaders(in: holders)
    super.init(in: holders)
  }

  // MARK: What happens

  /// Records something that came out so, for whoever asked; nil for the daemon itself.
  ///
  /// - Parameters:
  ///   - item: the name of an item, or what else it was about.
  ///   - id: the item that has this name, where one was found.
  ///   - detail: more of what was asked.
  ///   - version: of a get, the version that was asked for.
  func record(
    _ action: AuditAction, _ outcome: AuditOutcome, _ caller: Caller?, item: String? = nil, id: ItemID? = nil,
    detail: String? = nil, version: Int? = nil, _ said: Said? = nil
  ) {
    if let caller {
      return record(action, outcome, caller, item: item, id: id, detail: detail, version: version, said)
    }
    record(action, outcome, of: subjects.daemon, item: item, id: id, detail: detail, isDaemon: true)
  }

  /// The same, of somebody who asked.
  ///
  /// - Parameter time: Unix seconds; nil for now.
  func record(
    _ action: AuditAction, _ outcome: AuditOutcome, _ caller: Caller, at time: Int64? = nil, item: String? = nil,
    id: ItemID? = nil, detail: String? = nil, version: Int? = nil, _ said: Said? = nil
  ) {
    // A request to an administrator is not yet an outcome.
    if action != .request { caller.memory.passage.isRecorded = true }
    caller.memory.passage.isSettled = false
    guard settings.mode != .off, isReady else { return }
    let item = Self.cut(item ?? "")
    let id = outcome.tellsItem ? id : nil
    let given = detail
    let detail = Self.cut(Self.detail(given, version))
    let purpose = Self.line(said?.purpose ?? "")
    // Each is turned into bytes once: that takes as long as their hash.
    let (itemBytes, purposeBytes) = unsafe (item.utf8Span.span.bytes, purpose.utf8Span.span.bytes)
    let subject = subject(of: caller)
    let part = AuditPart(of: action, outcome, isDaemon: false)
    let time = time ?? clock.wall()
    var key: UInt?
    // Of a watcher's words the last one counts, so their order tells something.
    let isReceipt = action == .receipt && (outcome == .ok || outcome == .failed)
    if action == .get || part == .calls && !isReceipt, settings.mode == .on {
      let one = AuditRepeats.key(action, outcome, caller, itemBytes, id, version, purposeBytes, detail: given)
      if count(one, of: subject, at: time) { return }
      key = one
    }
    commitLater()
    // Where this ends a record, the next one has its caller anew.
    guard hasRoom() else { return }
    let size = itemBytes.byteCount + detail.utf8.count + purposeBytes.byteCount
    guard
      writing.mayTake(part, for: .entry, settings, block.size),
      subject.take(size + sizeBefore(caller), of: part, settings, now: writing.began)
    else { return count(beyond: part, of: subject, action, outcome, by: caller, item, id, detail: detail, at: time) }
    let isCounted = key != nil && counting.hasRoom && subject.repeats.hasRoom
    block.add(
      action, outcome, time: time, caller: place(of: caller), of: subject.told(besideCaller: true), item: itemBytes,
      id: id, detail: unsafe detail.utf8Span.span.bytes, purpose: purposeBytes, isCounted: isCounted)
    let number = writing.first + Int64(block.count) - 1
    if isCounted, let key { begin(key, action, outcome, of: subject, as: number, at: time) }
    if sealsAtOnce { endBlock() }
  }

  /// Records something that the daemon does for a subject that has asked for it before, of whose part it takes.
  func record(
    _ action: AuditAction, _ outcome: AuditOutcome, for name: AuditSubject.Name, item: String?, id: ItemID? = nil,
    detail: String
  ) {
    record(action, outcome, of: subjects.subject(name), item: item, id: id, detail: detail)
  }

  private func record(
    _ action: AuditAction, _ outcome: AuditOutcome, of subject: AuditSubject, item: String?, id: ItemID?,
    detail: String?, isDaemon: Bool = false
  ) {
    guard settings.mode != .off, isReady else { return }
    let id = outcome.tellsItem ? id : nil
    let part = AuditPart(of: action, outcome, isDaemon: isDaemon)
    commitLater()
    guard hasRoom() else { return }
    let size = min(item?.utf8.count ?? 0, AuditEntry.longestText) + min(detail?.utf8.count ?? 0, AuditEntry.longestText)
    guard
      writing.mayTake(part, for: .entry, settings, block.size),
      subject.take(size + sizeBefore(nil), of: part, settings, now: writing.began)
    else {
      return count(
        beyond: part, of: subject, action, outcome, by: nil, Self.cut(item ?? ""), id, detail: Self.cut(detail ?? ""),
        at: clock.wall())
    }
    add(action, outcome, of: subject.told(besideCaller: false), item: item, id: id, detail: detail)
  }

  /// Adds an entry of the daemon itself without asking whether there is a part for it.
  ///
  /// - Parameters:
  ///   - time: Unix seconds; nil for now.
  ///   - subject: see ``AuditEntry/subject``.
  func add(
    _ action: AuditAction, _ outcome: AuditOutcome, _ time: Int64? = nil, of subject: AuditEntry.Subject? = nil,
    item: String? = nil, id: ItemID? = nil, detail: String? = nil, repeats: AuditEntry.Repeats? = nil
  ) {
    var entry = AuditEntry(
      time: time ?? clock.wall(), action: action, outcome: outcome, item: item.map { Self.cut($0) },
      detail: detail.map { Self.cut($0) }, repeats: repeats)
    (entry.subject, entry.id) = (subject, id)
    add(entry)
  }

  /// Adds an entry, whose texts are short enough, without asking whether there is a part for it.
  func add(_ entry: AuditEntry) {
    guard hasRoom() else { return }
    commitLater()
    block.add(entry)
    if sealsAtOnce { endBlock() }
  }

  // MARK: Who asks

  /// The place of a caller in the block.
  private func place(of caller: Caller) -> UInt16 {
    if let known = known(caller) { return known }
    let place = block.add(told(of: caller))
    caller.memory.audit.place = (block.filling, place)
    return place
  }

  /// The same, where the block has the caller; nil where it has not.
  private func known(_ caller: Caller) -> UInt16? {
    guard let known = caller.memory.audit.place, known.filling == block.filling else { return nil }
    return known.place
  }

  /// What entries tell of a caller.
  private func told(of caller: Caller) -> AuditEntry.Caller {
    if let known = caller.memory.audit.told, known.time == writing.began { return known.caller }
    let told = AuditEntry.Caller(caller, isSystem: isSystem)
    caller.memory.audit.told = (writing.began, told)
    return told
  }

  /// The bytes that an entry takes before itself: a record of its own where it is the first one, and its caller where the
  /// block does not have that yet.
  private func sizeBefore(_ caller: Caller?) -> Int {
    let record = block.count == 0 ? AuditBlock.overhead : 0
    guard let caller, known(caller) == nil else { return record }
    return record + AuditBlock.size(of: told(of: caller))
  }

  private func subject(of caller: Caller) -> AuditSubject {
    let revision = grantsRevision()
    if let known = caller.memory.audit.subject, known.revision == revision { return known.0 }
    let subject = subjects.subject(subjectName(caller))
    caller.memory.audit.subject = (subject, revision)
    return subject
  }

  // MARK: Texts

  /// A caller's own words, as they are kept.
  static func line(_ words: String) -> String {
    // A character has one byte at least.
    if words.utf8.count <= AuditEntry.longestPurpose, Printable.isPlain(words) { return words }
    // Cut before it is looked at: it may be as long as a frame.
    return String(Printable.line(String(words.unicodeScalars.prefix(200))).prefix(AuditEntry.longestPurpose))
  }

  @inline(__always) private static func detail(_ text: String?, _ version: Int?) -> String {
    guard let version else { return text ?? "" }
    return text.map { "\($0), version \(version)" } ?? "version \(version)"
  }

  /// A text of at most so many bytes.
  @inline(__always) fileprivate static func cut(_ text: String, to longest: Int = AuditEntry.longestText) -> String {
    text.utf8.count > longest ? shorten(text, to: longest) : text
  }

  private static func shorten(_ text: String, to longest: Int) -> String {
    var end = text.utf8.index(text.startIndex, offsetBy: longest - 3)
    while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
    return text[..<end] + "…"
  }

  // MARK: Locks

  /// Writes what is in memory before keys go that vouch for it.
  ///
  /// - Parameters:
  ///   - isEnd: true at the daemon's end.
  ///   - isSynced: false to leave the wait for the disk to ``sync(_:)``.
  func willLock(atEnd isEnd: Bool = false, isSynced: Bool = true) {
    if isEnd {
      countAll()
      isEnding = true
    }
    write(anchored: true, isSynced: isSynced, isLast: isEnd)
    // The tally has them, and is what the next process finds.
    if isEnd { subjects.haveToldAll() }
  }

  /// Takes note of a store that was opened.
  func opened() { isEnding = false }

  /// Takes note of an unlock: what was written before it is looked at, and vouched for when it is whole.
  func unlocked(_ keychain: Keychain) {
    sealsAtOnce = false
    endMinute(keychain)
    keychain.endAuditChain()
    guard settings.mode != .off || keychain.auditFacts.entries > 0 else { return }
    join(keychain)
    tellThatOff()
  }

  /// Records once that nothing is recorded, where the daemon was started so: what the log lacks from here on is to be seen in it.
  private func tellThatOff() {
    guard settings.mode == .off, !hasToldOff else { return }
    hasToldOff = true
    let text = settings.text
    settings.mode = .on
    record(.audit, .ok, nil, item: text, detail: "since the daemon's start")
    write(anchored: true)
    settings.mode = .off
  }

  package override func letGo(for lock: Lock) {
    if lock.reach.contains(.names) {
      // What is counted by item names items.
      _ = tellCounts(for: .lastCount)
      subjects.forgetNames()
      if subjects.isCounting { counting.hasNews = true }
      sealsAtOnce = true
    }
    guard block.count > 0, lock.reach.contains(.names) else { return }
    if let keychain = keychain() { seal(keychain) } else { block.empty() }
  }

  package override func outlives(_ lock: Lock) -> Bool {
    lock.reach.contains(.names) && (block.count > 0 || subjects.mayHoldNames)
  }
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
