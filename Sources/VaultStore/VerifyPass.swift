import VaultCore
import VaultModel

/// One check of all records, in steps, so that nobody waits for it.
///
/// First it looks whether the file is whole trees of pages (``FileShape``), then it walks over each table and makes the
/// hashes anew (``RecordWalk``). Where these are the stored ones, every record of the class is exactly the one that was
/// written last; in all classes but the strongest the values and tags have to be those that the heads tell of, too. Where
/// something does not fit, or the key is not in memory, a ``Survey`` opens the records to name what is wrong. Changes that
/// are made meanwhile reach it through ``apply(_:)``.
struct VerifyPass {
  private(set) var verification = Verification()
  private var shape = FileShape()
  private var walk = RecordWalk()
  private let expected: (records: Int, pages: Int)
  private var survey: Survey?
  // How many of the items that something is wrong with have a head.
  private var harmed = ByClass<Int64>(repeating: 0)

  /// - Parameters:
  ///   - records: about how many there are.
  ///   - pages: how many the file has.
  init(expecting records: Int, pages: Int) { expected = (max(0, records), pages) }

  /// How far it is: a page counts as a record.
  var state: IntegrityState {
    .checking(
      done: min(verification.records, expected.records) + min(shape.done, expected.pages),
      of: expected.records + expected.pages)
  }

  /// Adds what was found elsewhere.
  mutating func note(_ finding: Finding) { verification.add(finding) }

  /// Drops the names of items, which may not be told any more.
  mutating func forgetNames() {
    verification.forgetNames()
    survey?.forgetName()
  }

  /// Lets go of the pages that it may be reading: the log is folded into the main file again. That part then begins anew.
  mutating func thaw() { shape.release() }

  /// Takes a committed transaction's changes into account.
  mutating func apply(_ changes: RecordChanges, _ keychain: Keychain) {
    shape.keepUp(keychain, &verification)
    survey?.apply(changes)
    if survey == nil { walk.apply(changes) }
  }

  /// Goes on over at most so many records; whether that was the end.
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
    // In the same step: of a small store everything is known then.
    guard left > 0 else { return false }
    defer { self.survey = survey }
    let isDone = try survey.walk(keychain, records: left, &verification)
    if isDone { survey.conclude(&verification) }
    return isDone
  }

  /// Looks at the pages and goes over the tables; whether that was the end of the last one.
  private mutating func makeHashes(_ keychain: Keychain, _ left: inout Int) throws(VaultError) -> Bool {
    guard try shape.step(keychain, &left, &verification), try walk.step(keychain, &left, &verification) else {
      return false
    }
    do throws(VaultError) {
      try walk.walkFewRows(keychain)
      for finding in try keychain.database.foreignRows() + keychain.wrongNumbers() { verification.add(finding) }
    } catch .corrupt(let reason) {
      verification.add(Finding(.damaged, reason))
    }
    return true
  }

  // MARK: The comparison

  /// Compares with what is stored; what has to be surveyed, nil when all is well.
  private mutating func compare(_ keychain: Keychain) throws(VaultError) -> Survey? {
    var survey = Survey()
    for accessible in AccessClass.allCases {
      guard walk.isHashed(accessible, keychain) else {
        verification.unchecked.append(accessible)
        // What can be told without the hashes.
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
          // Counted by somebody who has the key of the class.
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

  /// Whether anything but the tables of a few rows differs.
  private mutating func compareFewRows(_ stored: RecordSets, _ found: RecordSets) -> Bool {
    var others = false
    for place in Set(stored.places + found.places).sorted() where stored[place] != found[place] {
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

  /// What a row of a table of a few rows is called; nil for a place of many rows.
  static func subject(of place: RecordSets.Place) -> String? {
    switch place.table {
    case .slots: "slot \(place.part)"
    case .keys: "the wrapped key \(KeyName.name(part: place.part))"
    case .meta: "the next vault key"
    default: nil
    }
  }
}
