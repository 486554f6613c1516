internal import VaultCore
internal import VaultModel
internal import VaultStore

/// The audit log: the only place that writes entries.
///
/// Events are put into a block in secure memory, which is sealed and written within a second, so that nobody waits for
/// the disk. With ``AuditSettings/Mode/required`` the entry of a call is written before anybody is told its result.
package final class Audit: SecretHolder {
  let clock: Clock
  let log: Log
  let timer: Timer
  /// The open store; nil if none is open.
  var keychain: () -> Keychain? = { nil }
  /// True for the machine's vault. In it, services are units of the system's service manager; in a user's vault they
  /// are units of the user's service manager.
  var isSystem = false
  /// Returns the subject toward whose share of the log a caller's entries count.
  var subjectName: (Caller) -> AuditSubject.Name = { AuditSubject.Name(text: "user:\($0.uid)") }
  /// Returns the revision of the grants, on which the result of ``subjectName`` depends.
  var grantsRevision: () -> Int = { 0 }
  /// Returns the subject of an entry that names no subject, from the entry's caller.
  var toldName: (AuditEntry.Caller) -> AuditSubject.Name = { AuditSubject.Name(text: "user:\($0.uid)") }
  package internal(set) var settings = AuditSettings() {
    // A change that turns the log off is recorded before it is made.
    didSet { if settings.mode == .off, oldValue.mode != .off { hasToldOff = true } }
  }
  /// Makes a change of the store that must be possible on a full disk, as ``Vault/makingRoom(_:_:)``.
  var makingRoom: (Keychain, () throws(VaultError) -> Void) throws(VaultError) -> Void = {
    (_, change) throws(VaultError) in try change()
  }
  /// Called when ``problem`` appears and when it is gone, possibly within a transaction of the store.
  var problemChanged: () -> Void = {}

  /// The entries that are not sealed yet.
  var block = AuditBlock()
  /// True while the names in an entry must not wait in memory.
  private(set) var sealsAtOnce = false
  /// True once the daemon is ending. At that time the keys are wiped before the connections are closed.
  private(set) var isEnding = false
  var writing = Writing()
  var counting = Counting()
  var subjects = AuditSubjects()
  let readers: AuditReaders
  /// True once the log of the open store says that it is off.
  private var hasToldOff = false
  /// True once the usage of the log before this process is known.
  var hasJoined = false
  /// The number of entries that were lost because they could not be sealed, and that no entry has reported yet.
  package var lost: Int { writing.lost }
  /// The reason why the log cannot be written; nil if it can.
  package var problem: String? { writing.problem }

  init(clock: Clock, log: Log, timer: Timer, in holders: SecretHolders) {
    self.clock = clock
    self.log = log
    self.timer = timer
    readers = AuditReaders(in: holders)
    super.init(in: holders)
  }

  // MARK: Events

  /// Records an event with its outcome.
  ///
  /// - Parameters:
  ///   - caller: the caller who asked; nil for the daemon itself.
  ///   - item: the name of an item, or another subject matter.
  ///   - id: the item that has this name, if one was found.
  ///   - detail: more words about the call.
  ///   - version: for a get, the version that was asked for.
  func record(
    _ action: AuditAction, _ outcome: AuditOutcome, _ caller: Caller?, item: String? = nil, id: ItemID? = nil,
    detail: String? = nil, version: Int? = nil, _ said: Said? = nil
  ) {
    if let caller {
      return record(action, outcome, caller, item: item, id: id, detail: detail, version: version, said)
    }
    record(action, outcome, of: subjects.daemon, item: item, id: id, detail: detail, isDaemon: true)
  }

  /// Records an event with its outcome, for a caller who asked.
  ///
  /// - Parameter time: the time in Unix seconds; nil for now.
  func record(
    _ action: AuditAction, _ outcome: AuditOutcome, _ caller: Caller, at time: Int64? = nil, item: String? = nil,
    id: ItemID? = nil, detail: String? = nil, version: Int? = nil, _ said: Said? = nil
  ) {
    // A request to an administrator does not end the call, so the call still needs an entry with its outcome.
    if action != .request { caller.passage.isRecorded = true }
    caller.passage.isSettled = false
    guard mayRecord(action, outcome) else { return }
    let item = Self.cut(item ?? "")
    let id = outcome.tellsItem ? id : nil
    let given = detail
    let detail = Self.cut(Self.detail(given, version))
    let purpose = Self.line(said?.purpose ?? "")
    // Each text is turned into bytes only once, because that takes as long as hashing it.
    let (itemBytes, purposeBytes) = unsafe (item.utf8Span.span.bytes, purpose.utf8Span.span.bytes)
    let subject = subject(of: caller)
    let part = AuditPart(of: action, outcome, isDaemon: false)
    let time = time ?? clock.wall()
    var key: UInt?
    // Receipts are not counted as repetitions: only a watcher's last receipt is valid, so their order matters.
    let isReceipt = action == .receipt && (outcome == .ok || outcome == .failed)
    if action == .get || part == .calls && !isReceipt, settings.mode == .on {
      let one = AuditRepeats.key(action, outcome, caller, itemBytes, id, version, purposeBytes, detail: given)
      if count(one, of: subject, at: time) { return }
      key = one
    }
    commitLater()
    // `hasRoom()` may end a record. The size is determined after that, because the next record needs the caller again.
    guard hasRoom() else { return }
    let size = itemBytes.byteCount + detail.utf8.count + purposeBytes.byteCount
    guard
      mayTake(part, for: .entry),
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

  /// Records an action of the daemon on behalf of a subject that asked for the action earlier. The entry counts toward
  /// that subject's share of the log.
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
    guard mayRecord(action, outcome) else { return }
    let id = outcome.tellsItem ? id : nil
    let part = AuditPart(of: action, outcome, isDaemon: isDaemon)
    commitLater()
    guard hasRoom() else { return }
    let size = min(item?.utf8.count ?? 0, AuditEntry.longestText) + min(detail?.utf8.count ?? 0, AuditEntry.longestText)
    guard
      mayTake(part, for: .entry),
      subject.take(size + sizeBefore(nil), of: part, settings, now: writing.began)
    else {
      return count(
        beyond: part, of: subject, action, outcome, by: nil, Self.cut(item ?? ""), id, detail: Self.cut(detail ?? ""),
        at: clock.wall())
    }
    add(action, outcome, of: subject.told(besideCaller: false), item: item, id: id, detail: detail)
  }

  /// Adds an entry of the daemon itself, whether or not its part has room.
  ///
  /// - Parameters:
  ///   - time: the time in Unix seconds; nil for now.
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

  /// Adds an entry whose texts are short enough, whether or not its part has room.
  func add(_ entry: AuditEntry) {
    guard hasRoom() else { return }
    commitLater()
    block.add(entry)
    if sealsAtOnce { endBlock() }
  }

  // MARK: A log that is off

  /// True if an event is to be recorded. In place of the first value that is read or used while the log is off, the log
  /// records that it is off, even if the vault is never unlocked.
  private func mayRecord(_ action: AuditAction, _ outcome: AuditOutcome) -> Bool {
    guard isReady else { return false }
    if settings.mode == .off, action == .get || action == .use, outcome == .ok { tellThatOff() }
    return settings.mode != .off
  }

  /// Records once that the log is off, if the daemon was started with the log off, so that the log itself shows the
  /// point from which entries are missing.
  private func tellThatOff() {
    guard !hasToldOff else { return }
    let text = settings.text
    settings.mode = .on
    record(.audit, .ok, nil, item: text, detail: "since the daemon's start")
    settings.mode = .off
  }

  // MARK: Callers

  /// The place of a caller in the block, to which the caller is added if needed.
  private func place(of caller: Caller) -> UInt16 {
    if let known = known(caller) { return known }
    let place = block.add(told(of: caller))
    caller.memory.audit.place = (block.filling, place)
    return place
  }

  /// The place of a caller in the block; nil if the block does not have the caller.
  private func known(_ caller: Caller) -> UInt16? {
    guard let known = caller.memory.audit.place, known.filling == block.filling else { return nil }
    return known.place
  }

  /// The description of a caller in entries.
  private func told(of caller: Caller) -> AuditEntry.Caller {
    if let known = caller.memory.audit.told, known.time == writing.began { return known.caller }
    let told = AuditEntry.Caller(caller, isSystem: isSystem)
    caller.memory.audit.told = (writing.began, told)
    return told
  }

  /// The bytes to write before an entry: the beginning of a record if the entry is its first, and the caller if the
  /// block does not have it yet.
  private func sizeBefore(_ caller: Caller?) -> Int {
    let record = block.count == 0 ? AuditBlock.overhead : 0
    guard let caller, known(caller) == nil else { return record }
    return record + AuditBlock.size(of: told(of: caller))
  }

  func subject(of caller: Caller) -> AuditSubject {
    let revision = grantsRevision()
    if let known = caller.memory.audit.subject, known.revision == revision { return known.0 }
    let subject = subjects.subject(subjectName(caller))
    caller.memory.audit.subject = (subject, revision)
    return subject
  }

  // MARK: Texts

  /// The caller's own words, in the form that the log keeps. Words that are too long are cut, and end with an ellipsis.
  static func line(_ words: String) -> String {
    let longest = AuditEntry.longestPurpose
    // A character has at least one byte.
    if words.utf8.count <= longest, Printable.isPlain(words) { return words }
    // The words are cut before they are examined, because they may be as long as a frame.
    let beginning = words.unicodeScalars.prefix(200)
    let line = Printable.line(String(beginning))
    guard line.count > longest || beginning.endIndex < words.unicodeScalars.endIndex else { return line }
    return line.prefix(longest - 1) + "…"
  }

  @inline(__always) private static func detail(_ text: String?, _ version: Int?) -> String {
    guard let version else { return text ?? "" }
    return text.map { "\($0), version \(version)" } ?? "version \(version)"
  }

  /// The text, shortened to at most `longest` bytes.
  @inline(__always) fileprivate static func cut(_ text: String, to longest: Int = AuditEntry.longestText) -> String {
    text.utf8.count > longest ? shorten(text, to: longest) : text
  }

  private static func shorten(_ text: String, to longest: Int) -> String {
    var end = text.utf8.index(text.startIndex, offsetBy: longest - 3)
    while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
    return text[..<end] + "…"
  }

  // MARK: Locks

  /// Writes everything in memory before the keys that vouch for it are wiped.
  ///
  /// - Parameters:
  ///   - isEnd: true when the daemon ends.
  ///   - isSynced: false to leave the wait for the disk to ``sync(_:)``.
  func willLock(atEnd isEnd: Bool = false, isSynced: Bool = true) {
    if isEnd {
      countAll()
      isEnding = true
    }
    write(anchored: true, isSynced: isSynced, isLast: isEnd)
  }

  /// Notes that a store was opened, whose log does not say yet that it is off.
  func opened() { (isEnding, hasToldOff) = (false, false) }

  /// Seals each entry as soon as it is made, from now until the next unlock, so that no name waits in memory.
  func hideNames() {
    sealsAtOnce = true
    if block.count > 0 { endBlock() }
  }

  /// Handles an unlock: the entries from before it are checked, and vouched for if all are whole.
  func unlocked(_ keychain: Keychain) {
    sealsAtOnce = false
    endMinute(keychain)
    keychain.endAuditChain()
    guard settings.mode != .off || keychain.auditFacts.entries > 0 else { return }
    join(keychain)
    guard settings.mode == .off else { return }
    tellThatOff()
    write(anchored: true)
  }

  package override func letGo(for lock: Lock) {
    // While the daemon ends, the counts stay: the last calls still get entries, which replace the tally, so the counts
    // must be written again.
    if lock.reach.contains(.names), !isEnding {
      // Counts by item contain names of items.
      _ = tellCounts(for: .lastCount, most: Counting.mostAtLock)
      subjects.forgetNames()
      if subjects.isCounting { counting.hasNews = true }
      sealsAtOnce = true
    }
    guard block.count > 0, lock.reach.contains(.names) else { return }
    if let keychain = keychain() { seal(keychain) } else { block.empty() }
  }

  package override func outlives(_ lock: Lock) -> Bool {
    lock.reach.contains(.names) && (block.count > 0 || subjects.mayHoldNames && !isEnding)
  }
}

extension AuditEntry.Caller {
  /// The most bytes of each text about a caller.
  private static let longest = 512

  init(_ caller: Caller, isSystem: Bool) {
    self.init(
      door: caller.door.rawValue, uid: caller.uid, pid: caller.pid,
      unit: caller.grantedUnit(isSystem: isSystem).map { Audit.cut($0, to: Self.longest) },
      executable: caller.memory.executable().map { Audit.cut($0, to: Self.longest) })
  }
}
