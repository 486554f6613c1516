internal import ArgumentParser
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct AuditItemCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "item",
    abstract: "Tell who has read an item, or used it, and when last.",
    discussion: """
      Of what was only counted in the log the number and the last time are told as well. Where it was counted without the names of \
      items, it is told apart: it may have been about this item or about others.
      """)

  @Argument(help: ArgumentHelp("The item.", valueName: "name"), completion: ItemNames.completion)
  var name: String

  @OptionGroup var options: AuditOptions

  @OptionGroup var globals: Globals

  private struct Reader: Hashable {
    let who: String
    let action: String
    /// False for counts that do not say which items they are about.
    let isCertain: Bool
  }

  private struct Uses {
    var last: Int64
    var count = 0
    /// The number of these that were only counted.
    var counted = 0
  }

  func run() throws {
    let session = try Session(globals)
    var query = options.query()
    query.items = name
    var uses: [Reader: Uses] = [:]
    try session.unlocking(for: "to read the audit log") { vault in
      uses = [:]
      try vault.audit(query) { entry in
        guard entry.outcome == "ok", entry.action == "get" || entry.action == "use" else { return }
        let isCertain = entry.item == name
        guard isCertain || entry.namesNoItem else { return }
        let who = entry.uid == nil ? entry.item ?? "vaultd" : AuditReport.who(entry, withProcess: false)
        let reader = Reader(who: who, action: entry.action, isCertain: isCertain)
        var known = uses[reader] ?? Uses(last: entry.time)
        known.last = max(known.last, entry.time)
        known.count += entry.count ?? 1
        if entry.isOnlyCounted { known.counted += entry.count ?? 1 }
        uses[reader] = known
      }
    }
    let rows = uses.sorted { $0.value.last > $1.value.last }
    try show(rows.map { ($0.key, $0.value) })
    guard !globals.json else { return }
    if !rows.contains(where: \.key.isCertain), Keyboard.isAttended {
      Output.note("nobody is known to have read \(Printable.quoted(name))")
    }
    let counted = rows.reduce(0) { $0 + ($1.key.isCertain ? $1.value.counted : 0) }
    if counted > 0 { Output.note("\(counted) of these were only counted in the log") }
    let others = rows.reduce(0) { $0 + ($1.key.isCertain ? 0 : $1.value.count) }
    if others > 0 { Output.note("\(others) more were counted without the items' names, and may have been of this one") }
  }

  private func show(_ rows: [(reader: Reader, uses: Uses)]) throws {
    if globals.json {
      for (reader, uses) in rows { try Output.json { Self.write(reader, uses, &$0) } }
    } else if Output.isTerminal {
      var table = Table("LAST", "WHO", "WHAT", "TIMES")
      for (reader, uses) in rows {
        table.add(
          .init(LocalTime.text(uses.last)), .init(reader.who), .init(reader.action), .init(Self.times(reader, uses)))
      }
      if table.count > 0 { try Output.text(table.text()) }
    } else {
      for (reader, uses) in rows {
        let fields = [LocalTime.text(uses.last), reader.who, reader.action, Self.times(reader, uses)]
        try Output.line(fields.map { Printable.line($0) }.joined(separator: "\t"))
      }
    }
  }

  private static func times(_ reader: Reader, _ uses: Uses) -> String {
    reader.isCertain ? "\(uses.count)" : "0 to \(uses.count)"
  }

  private static func write(_ reader: Reader, _ uses: Uses, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("caller")
    writer.string(reader.who)
    writer.key("action")
    writer.string(reader.action)
    writer.key("last")
    writer.integer(uses.last)
    writer.key("count")
    writer.integer(Int64(uses.count))
    if uses.counted > 0 {
      writer.key("counted")
      writer.integer(Int64(uses.counted))
    }
    if !reader.isCertain {
      writer.key("uncertain")
      writer.bool(true)
    }
    writer.endObject()
  }
}

extension Wire.AuditEntry {
  /// True for what is beyond a subject's part of the log: it was counted, and told no further.
  var isOnlyCounted: Bool { count != nil && of == nil }

  /// True for a count of things that may have been about any item. Earlier programs named their subject where others
  /// name the item.
  var namesNoItem: Bool { isOnlyCounted && (item == nil || uid == nil) }
}
