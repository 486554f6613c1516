import VaultCore
import VaultModel

/// One check of all records, in steps, so that nobody waits for it.
///
/// First it checks that the file consists of whole trees of pages (``FileShape``). Then it walks over each table and
/// computes the hashes again (``RecordWalk``). If a class's hashes are the stored ones, every record of the class is
/// exactly the one that was written last; in all classes but the strongest, the values and tags must also be those that
/// the heads name. If something does not match, or a key is not in memory, a ``Survey`` opens the records to name the
/// faults. Changes that are made meanwhile are passed to ``apply(_:_:)``.
struct VerifyPass {
  private(set) var verification = Verification()
  /// The error that ends the check before its first step; nil if there is none.
  var obstacle: VaultError?
  private var shape = FileShape()
  private var walk = RecordWalk()
  private var audit = AuditStage.waiting
  private let expected: (records: Int, pages: Int)
  private var survey: Survey?
  // The number of items with a fault that have a head.
  private var harmed = ByClass<Int64>(repeating: 0)

  /// Begins a check. The two numbers serve only to show progress.
  ///
  /// - Parameters:
  ///   - records: the approximate number of records.
  ///   - pages: the number of pages in the file.
  init(expecting records: Int, pages: Int) { expected = (max(0, records), pages) }

  /// The progress of the check, in which a page counts as a record.
  var state: IntegrityState {
    .checking(
      done: min(verification.records, expected.records) + min(shape.done, expected.pages),
      of: expected.records + expected.pages)
  }

  /// Adds a finding that was made elsewhere.
  mutating func note(_ finding: Finding) { verification.add(finding) }

  /// Drops the names of items, which may no longer be shown.
  mutating func forgetNames() {
    verification.forgetNames()
    survey?.forgetName()
  }

  /// Releases the pages that the check may be reading, so that the log can be folded in. The check of the pages then
  /// starts over.
  mutating func thaw() { shape.release() }

  /// Drops the keys of the audit log. The walk over the log then starts over.
  mutating func forgetAudit() { if case .walking = audit { audit = .waiting } }

  /// Notes the changes of a committed transaction.
  mutating func apply(_ changes: RecordChanges, _ keychain: Keychain) {
    shape.keepUp(keychain, &verification)
    survey?.apply(changes)
    if survey == nil { walk.apply(changes) }
  }

  /// Continues over at most `records` records; true at the end.
  mutating func step(_ keychain: Keychain, records: Int) throws(VaultError) -> Bool {
    let isDone = try advance(keychain, records: records)
    for item in verification.takeNewlyHarmed() {
      if let accessible = try keychain.database.headClass(item) { harmed[accessible] += 1 }
    }
    if isDone {
      for accessible in AccessClass.allCases where !verification.unchecked.contains(accessible) {
        let heads = walk.sets[accessible][.init(.heads)].count
        verification.unharmed += Int(clamping: max(0, heads - harmed[accessible]))
      }
    }
    return isDone
  }

  private mutating func advance(_ keychain: Keychain, records: Int) throws(VaultError) -> Bool {
    var left = records
    if survey == nil {
      guard try makeHashes(keychain, &left) else { return false }
      survey = try compare(keychain)
    }
    guard var survey else { return true }
    // The survey follows in the same step, so that the check of a small store ends in one step.
    guard left > 0 else { return false }
    defer { self.survey = survey }
    let isDone = try survey.walk(keychain, records: left, &verification)
    if isDone { survey.conclude(&verification) }
    return isDone
  }

  /// Checks the pages and walks over the tables; true at the end of the last table.
  private mutating func makeHashes(_ keychain: Keychain, _ left: inout Int) throws(VaultError) -> Bool {
    guard try shape.step(keychain, &left, &verification), try walk.step(keychain, &left, &verification) else {
      return false
    }
    guard try walkAudit(keychain, &left) else { return false }
    do throws(VaultError) {
      try walk.walkFewRows(keychain, &verification)
      for finding in try keychain.database.foreignRows() + keychain.wrongNumbers() { verification.add(finding) }
    } catch .corrupt(let reason) {
      verification.add(Finding(.damaged, reason))
    }
    return true
  }

  /// The part of the check that is about the audit log.
  private enum AuditStage {
    case waiting
    case walking(AuditWalk)
    case over
  }

  /// Walks over the audit log, if the keys for it are in memory; true at its end.
  private mutating func walkAudit(_ keychain: Keychain, _ left: inout Int) throws(VaultError) -> Bool {
    do throws(VaultError) {
      if case .waiting = audit { audit = .walking(try AuditWalk(keychain, isTail: false)) }
      guard case .walking(let walk) = audit else { return true }
      guard left > 0 else { return false }
      guard try walk.step(keychain, rows: left) else {
        left = 0
        return false
      }
      for fault in walk.faults { verification.add(Finding(fault)) }
    } catch .locked {
      // The strongest class is not checked at all in this case.
    } catch .corrupt(let reason) {
      verification.add(Finding(.damaged, reason))
    }
    audit = .over
    return true
  }

  // MARK: The comparison

  /// Compares the hashes with the stored ones, and returns the survey that is needed; nil when there is no fault.
  private mutating func compare(_ keychain: Keychain) throws(VaultError) -> Survey? {
    var survey = Survey()
    for accessible in AccessClass.allCases {
      guard walk.isHashed(accessible, keychain) else {
        verification.leave(accessible)
        // A survey without the hashes still shows some of the faults.
        if keychain.opensNames(of: accessible) { survey.add(accessible, nil, walk.sets[accessible]) }
        continue
      }
      do throws(VaultError) {
        let (stored, found) = (try keychain.classRecord(accessible).sets, walk.sets[accessible])
        let isAsTold = walk.isAsTold(accessible)
        if stored != found, compareFewRows(stored, found) {
          verification.changed.append(accessible)
        } else if isAsTold {
          continue
        } else {
          // These records were written, and counted in the hashes, by somebody who has the key of the class.
          let what = "the values and tags of class \(accessible.name)"
          verification.add(Finding(.foreign, "\(what) are not those that its items have"))
        }
        survey.add(accessible, stored, found)
      } catch .corrupt(let reason) {
        verification.add(Finding(.damaged, reason))
        verification.changed.append(accessible)
        survey.add(accessible, nil, walk.sets[accessible])
      }
    }
    return survey.isEmpty ? nil : survey
  }

  /// Compares the tables with few rows; true when any other table differs.
  private mutating func compareFewRows(_ stored: RecordSets, _ found: RecordSets) -> Bool {
    var others = false
    for place in Set(stored.places + found.places).sorted() where stored[place] != found[place] {
      if walk.unread.contains(place) { continue }
      guard let subject = Self.subject(of: place) else {
        others = true
        continue
      }
      if found[place].count < stored[place].count {
        verification.add(Finding(.missing, "\(subject) is missing"))
      } else if stored[place].count < found[place].count {
        verification.add(Finding(.foreign, "\(subject) was put in by somebody else"))
      } else {
        verification.add(Finding(.damaged, "\(subject) is not the one that was stored last"))
      }
    }
    return others
  }

  /// The name of a row in a table with few rows, for a finding; nil for a place with many rows.
  static func subject(of place: RecordSets.Place) -> String? {
    switch place.table {
    case .slots: "slot \(place.part)"
    case .keys: "the wrapped key \(KeyName.name(part: place.part))"
    case .meta: "the next vault key"
    case .grants: "a grant"
    case .audit: "the anchor of the audit log"
    case .deposits: "a deposit that was settled or kept aside"
    case .heads, .values, .tags, .hashes: nil
    }
  }
}
