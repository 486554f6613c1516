internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// Prints entries of the audit log as they arrive: as JSON lines, as tab-separated lines, or on a terminal as a table.
struct AuditReport {
  /// The number of table rows that are collected before they are printed.
  private static let page = 500

  private let json: Bool
  private var table = Table("TIME", "WHO", "WHAT", "ITEM", "RESULT")
  private(set) var count = 0

  init(json: Bool) { self.json = json }

  mutating func add(_ entry: Wire.AuditEntry) throws(Failure) {
    count += 1
    if json { return try Output.json(entry) }
    let result = [Self.words(for: entry), Self.count(of: entry)].compactMap { $0 }.joined(separator: " ")
    let detail = entry.detail.map { Self.detail($0, of: entry.action) }
    let item = entry.item.map(Printable.listed)
    let about = [item, detail, entry.purpose.map(Printable.said)].compactMap { $0 }.joined(separator: " ")
    guard Output.isTerminal else {
      let number = entry.number > 0 ? "\(entry.number)" : "-"
      let fields = [number, LocalTime.text(entry.time), Self.who(entry), entry.action, about, entry.outcome]
      let count = entry.count.map { ["\($0)"] } ?? []
      // A field's text must not look like another line or another field.
      return try Output.line((fields + count).map { Printable.line($0) }.joined(separator: "\t"))
    }
    table.add(
      .init(LocalTime.text(entry.time)), .init(Self.who(entry)), .init(entry.action), .init(about),
      .init(result, isRed: entry.outcome != "ok"))
    if table.count >= Self.page { try flush() }
  }

  /// The number of times that an event happened, as text, with a mark if the entry is not in the log yet; nil for a
  /// logged entry about a single event.
  private static func count(of entry: Wire.AuditEntry) -> String? {
    let times = entry.count.flatMap { $0 > 1 ? "×\($0)" : nil }
    return entry.number == 0 ? [times, "waits"].compactMap { $0 }.joined(separator: " ") : times
  }

  /// Returns the detail of an entry with its times as all others are shown.
  static func detail(
    _ detail: String, of action: String, _ format: (Int64) -> String = { LocalTime.text($0) }
  ) -> String {
    switch action {
    case "audit": return withTimes(detail, format)
    case "grant":
      // The pattern stands first and may have any words. The end of the grant stands last.
      let words = detail.split(separator: " ")
      guard words.count > 3, words[words.count - 2] == "until", let end = words.last, let time = Int64(end) else {
        return detail
      }
      return "\(detail.dropLast(end.count))\(format(time))"
    default: return detail
    }
  }

  /// Returns a filter in words with its times as all others are shown.
  static func withTimes(_ detail: String, _ format: (Int64) -> String = { LocalTime.text($0) }) -> String {
    var words = detail.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    for index in words.indices.dropFirst() where ["since", "until"].contains(words[index - 1]) {
      let digits = words[index].prefix { $0.isNumber }
      guard let time = Int64(digits) else { continue }
      words[index] = format(time) + words[index].dropFirst(digits.count)
    }
    return words.joined(separator: " ")
  }

  /// Prints the collected rows.
  mutating func flush() throws(Failure) {
    if !json, Output.isTerminal, table.count > 0 { try Output.text(table.text()) }
  }

  /// The outcome of an entry, in words for a person.
  static func words(for entry: Wire.AuditEntry) -> String {
    guard entry.outcome == AuditOutcome.unproven.name else { return entry.outcome }
    if entry.door == "ssh-agent" { return "wrong passphrase" }
    // An entry about no item holds the method in place of an item's name. Entries of earlier versions have no method.
    return switch entry.detail ?? entry.item {
    case "by recovery": "wrong recovery code"
    // A PAM module decides what it asks for, and some modules ask for no secret.
    case "by pam", "not recognized by PAM", "not recognised by PAM": "not recognized"
    default: "wrong password"
    }
  }

  /// The caller of an entry in words: the user, the service if there is one, and the process.
  static func who(_ entry: Wire.AuditEntry, withProcess: Bool = true) -> String {
    guard let uid = entry.uid else { return "vaultd" }
    // The log counts separately for a few users only; this uid stands for all others.
    if uid == UInt32.max { return "other users" }
    let unit = entry.unit.flatMap { $0.hasSuffix(".service") ? $0 : nil }
    let process = withProcess ? entry.pid.map { "[\($0)]" } : nil
    return [entry.user ?? "uid \(uid)", unit].compactMap { $0 }.joined(separator: " ") + (process ?? "")
  }

  /// The result of a check of the log, as lines of text.
  static func text(_ result: Wire.AuditReply) -> String {
    var text = ""
    for fault in result.faults ?? [] { text += AuditReport.line(fault) + "\n" }
    let (total, cut) = (result.total ?? 0, result.cut ?? 0)
    text += "entries:   \(total - cut)\(cut > 0 ? ", from \(cut + 1) on" : "")\n"
    let (compared, uncompared) = (result.compared ?? 0, result.uncompared ?? 0)
    if compared + uncompared > 0 {
      text += "compared:  \(Counted.text(compared, "note")) of the journal"
      text += uncompared > 0 ? ", not \(uncompared) about entries that were removed\n" : "\n"
    }
    if let unvouched = result.unvouched, unvouched > 0 {
      let reason =
        result.faults?.isEmpty ?? true ? "made before an unlock and without the boot key" : "which no key vouches for"
      text += "unvouched: \(unvouched), \(reason)\n"
    }
    if let link = result.link { text += "now:       audit entry \(total) \(Printable.line(link))\n" }
    return text
  }

  private static func line(_ fault: Wire.AuditFault) -> String {
    let text = Printable.line(fault.text)
    switch (fault.first, fault.last) {
    case (let first?, let last?) where first != last: return "entries \(first) to \(last): \(text)"
    case (let first?, _): return "entry \(first): \(text)"
    default: return "log: \(text)"
    }
  }
}

/// Notes of the audit log's position in a journal: lines with `audit entry NUMBER LINK`.
enum AuditMarks {
  /// The most notes that are read, and the size limit of the journal in bytes.
  private static let (most, longest) = (100_000, 64 << 20)

  static func read(_ path: String) throws(Failure) -> [Wire.AuditMark] {
    let text = try FileInput.readFile(path, limit: longest).withBytes { bytes in
      let bytes = Span<UInt8>(_bytes: bytes)
      return String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
    }
    var marks: [Wire.AuditMark] = []
    for line in text.split(whereSeparator: \.isNewline) {
      let words = line.split(separator: " ")
      guard let place = words.indices.first(where: { words[$0...].starts(with: ["audit", "entry"]) }),
        words.count >= place + 4, let entry = Int(words[place + 2]), words[place + 3].utf8.count == 64
      else { continue }
      marks.append(Wire.AuditMark(entry: entry, link: String(words[place + 3])))
      if marks.count > most {
        throw Failure(.invalid, "there are too many notes of the audit log", "give only the last ones")
      }
    }
    return marks
  }
}
