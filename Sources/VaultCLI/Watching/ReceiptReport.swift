internal import VaultModel
internal import VaultWire

/// What the watchers of an item have said of its versions: JSON lines, lines with tabs, or a table on a terminal.
struct ReceiptReport {
  /// One who watches: a service, or another program by its process.
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

  /// What a watcher has said last.
  private struct Word {
    let entry: Wire.AuditEntry
    let version: Int
    /// The last version that it has taken over.
    var taken: Int?

    var isTaken: Bool { entry.outcome == "ok" }
  }

  private let name: String
  private var words: [Watcher: Word] = [:]
  /// The version that is served now; nil where it is not known.
  var current: Int?

  init(_ name: String) { self.name = name }

  var isEmpty: Bool { words.isEmpty }

  /// Takes an entry of the log, in their order.
  mutating func add(_ entry: Wire.AuditEntry) {
    // One that was refused is no receipt.
    guard entry.action == "receipt", entry.item == name, entry.outcome == "ok" || entry.outcome == "failed",
      let version = Self.version(entry.detail)
    else { return }
    let watcher = Watcher(entry)
    var word = Word(entry: entry, version: version, taken: words[watcher]?.taken)
    if word.isTaken { word.taken = version }
    words[watcher] = word
  }

  /// The version that the daemon has put before the watcher's own words.
  private static func version(_ detail: String?) -> Int? {
    guard let detail, detail.hasPrefix("version ") else { return nil }
    return Int(detail.dropFirst("version ".count))
  }

  /// Writes them, the last word first.
  func write(json: Bool) throws(Failure) {
    let words = words.values.sorted { $0.entry.number > $1.entry.number }
    if json {
      for word in words { try writeJSON(word) }
    } else if Output.isTerminal {
      var table = Table("LAST", "WHO", "VERSION", "STATE")
      for word in words {
        table.add(
          .init(LocalTime.text(word.entry.time)), .init(AuditReport.who(word.entry)), .init("\(word.version)"),
          .init(state(of: word), isRed: !word.isTaken))
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

  /// Whether a watcher has the version that is served, and what it said of a failure.
  private func state(of word: Word) -> String {
    guard word.isTaken else {
      let said = word.entry.purpose.map { ": “\($0)”" } ?? ""
      return "failed\(said)\(word.taken.map { ", has version \($0)" } ?? "")"
    }
    switch isCurrent(word) {
    case true?: return "has it"
    case false?: return "behind: version \(current ?? 0) is served"
    case nil: return "has had it"
    }
  }

  private func writeJSON(_ word: Word) throws(Failure) {
    try Output.json { writer in
      writer.beginObject()
      if let uid = word.entry.uid { writer.member("uid", uid) }
      if let user = word.entry.user { writer.member("user", user) }
      if let pid = word.entry.pid { writer.member("pid", pid) }
      if let unit = word.entry.unit { writer.member("unit", unit) }
      writer.member("time", Int(word.entry.time))
      writer.member("version", word.version)
      writer.key("succeeded")
      writer.bool(word.isTaken)
      if let said = word.entry.purpose { writer.member("detail", said) }
      if let taken = word.taken { writer.member("taken", taken) }
      if let isCurrent = isCurrent(word) {
        writer.key("current")
        writer.bool(isCurrent)
      }
      writer.endObject()
    }
  }
}

extension JSONWriter {
  fileprivate mutating func member(_ key: StaticString, _ number: Int) {
    self.key(key)
    integer(Int64(number))
  }

  fileprivate mutating func member(_ key: StaticString, _ text: String) {
    self.key(key)
    string(text)
  }
}
