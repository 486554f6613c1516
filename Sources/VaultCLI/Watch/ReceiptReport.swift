internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The receipts from the watchers of an item: printed as JSON lines, as tab-separated lines, or on a terminal as a
/// table.
struct ReceiptReport {
  /// A watcher: a service, or another program by its process.
  private struct Watcher: Hashable {
    let uid: Int?
    let unit: String?
    let pid: Int?

    init(_ entry: Wire.AuditEntry) {
      uid = entry.uid
      unit = entry.unit.flatMap { $0.hasSuffix(".service") ? $0 : nil }
      pid = unit == nil ? entry.pid : nil
    }
  }

  /// The last receipt from a watcher.
  private struct Word {
    let entry: Wire.AuditEntry
    let version: Int
    /// True if the version waits for a person.
    let isHeld: Bool
    /// The last version that the watcher has taken over.
    var taken: Int?

    var isTaken: Bool { entry.outcome == "ok" }
  }

  private let name: String
  private var words: [Watcher: Word] = [:]
  /// The version that is served now; nil if it is not known.
  var current: Int?
  /// The present names of items that had this name when watchers reported on them. Another item, or none, has this name
  /// now.
  private(set) var others: Set<ItemName> = []

  init(_ name: String) { self.name = name }

  var isEmpty: Bool { words.isEmpty }

  /// Adds an entry of the log about the item; entries must come in their order. An entry with an earlier name of the
  /// item counts. An entry of another item that had this name does not.
  mutating func add(_ entry: Wire.AuditEntry) {
    // A refused receipt does not count.
    guard entry.action == "receipt", entry.outcome == "ok" || entry.outcome == "failed",
      let (version, isHeld) = Self.version(entry.detail)
    else { return }
    if let other = entry.itemNow(otherThan: name) {
      others.insert(other)
      return
    }
    let watcher = Watcher(entry)
    // A version that is held after it was taken over is no longer in place.
    let taken = words[watcher]?.taken
    var word = Word(entry: entry, version: version, isHeld: isHeld, taken: isHeld && taken == version ? nil : taken)
    if word.isTaken { word.taken = version }
    words[watcher] = word
  }

  /// Returns the version that the daemon wrote before the watcher's own words, and whether that version is held.
  private static func version(_ detail: String?) -> (Int, isHeld: Bool)? {
    guard let detail, detail.hasPrefix("version ") else { return nil }
    let isHeld = detail.hasSuffix(", held")
    return Int(detail.dropFirst("version ".count).dropLast(isHeld ? ", held".count : 0)).map { ($0, isHeld) }
  }

  /// Writes the receipts, the latest first.
  func write(json: Bool) throws(Failure) {
    // An entry without a number is a count that is not in the log yet, so it is the latest.
    func place(_ number: Int) -> Int { number > 0 ? number : .max }
    let words = words.values.sorted { place($0.entry.number) > place($1.entry.number) }
    if json {
      for word in words { try writeJSON(word) }
    } else if Output.isTerminal {
      var table = Table("LAST", "WHO", "VERSION", "STATE")
      for word in words {
        table.add(
          .init(LocalTime.text(word.entry.time)), .init(AuditReport.who(word.entry)), .init("\(word.version)"),
          .init(state(of: word), isRed: !word.isTaken || word.entry.watches == false))
      }
      if table.count > 0 { try Output.text(table.text()) }
    } else {
      for word in words {
        let fields = [
          LocalTime.text(word.entry.time), AuditReport.who(word.entry), "\(word.version)", state(of: word),
        ]
        try Output.line(fields.map { Printable.line($0) }.joined(separator: "\t"))
      }
    }
  }

  private func isCurrent(_ word: Word) -> Bool? { current.map { $0 == word.taken } }

  /// Describes a watcher: whether it has the version that is served, its words about a failure, and whether it is gone.
  /// A watcher that is gone takes over no more versions.
  private func state(of word: Word) -> String {
    word.entry.watches == false ? "gone; \(lastState(of: word))" : lastState(of: word)
  }

  private func lastState(of word: Word) -> String {
    guard word.isTaken else {
      let said = word.entry.purpose.map { ": \(Printable.said($0))" } ?? ""
      return "\(word.isHeld ? "held" : "failed")\(said)\(word.taken.map { ", has version \($0)" } ?? "")"
    }
    switch isCurrent(word) {
    case true?: return word.entry.watches == false ? "had it" : "has it"
    case false?: return "behind: version \(current ?? 0) is served"
    case nil: return "has had it"
    }
  }

  private func writeJSON(_ word: Word) throws(Failure) {
    try Output.json { object in
      object.add("uid", word.entry.uid)
      object.add("user", word.entry.user)
      object.add("pid", word.entry.pid)
      object.add("unit", word.entry.unit)
      object.add("time", Int(word.entry.time))
      object.add("version", word.version)
      object.add("succeeded", word.isTaken)
      if word.isHeld { object.add("held", true) }
      object.add("detail", word.entry.purpose)
      object.add("taken", word.taken)
      object.add("current", isCurrent(word))
      object.add("watches", word.entry.watches)
    }
  }
}
