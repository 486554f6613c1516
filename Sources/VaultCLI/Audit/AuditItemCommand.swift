internal import ArgumentParser
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct AuditItemCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "item",
    abstract: "Print who has read or used an item, and when last.",
    discussion: """
      A copy counts as a read. Reads under earlier names of the item count; reads of another item that had its name do \
      not. If the log has only counted some of the reads, the command says how many. Counts that do not name their \
      items are printed separately: they may be about this item or about others. Entries of earlier versions record \
      only a name.
      """)

  @Argument(help: ArgumentHelp("The item.", valueName: "name"), completion: ItemNames.completion)
  var name: String

  @OptionGroup var options: AuditOptions

  @OptionGroup var globals: Globals

  private struct Reader: Hashable {
    let who: String
    let action: String
    /// False if the log only counted these uses and does not tell which items they were of.
    let isCertain: Bool
  }

  private struct Uses {
    var last: Int64
    var count = 0
    /// The number of uses that the log only counted, and the number of uses that it records by the item's name alone.
    var counted = 0
    var byName = 0
  }

  /// Everything that the log records about an item.
  private struct Known {
    var uses: [Reader: Uses] = [:]
    /// The uses of other items that once had this name and no longer have it: their number by the other item's present
    /// name.
    var others: [ItemName: Int] = [:]
    /// The number of entries that record only another name, which this item may have had.
    var otherNames = 0
    /// The times for which the log cannot tell what happened.
    var gaps: Wire.AuditGaps?

    mutating func add(_ entry: Wire.AuditEntry, of name: String) {
      guard entry.outcome == "ok", entry.action == "get" || entry.action == "use" else { return }
      let count = entry.count ?? 1
      if !entry.namesNoItem, let other = entry.itemNow(otherThan: name) {
        others[other, default: 0] += count
        return
      }
      let who = entry.uid == nil ? entry.item ?? "vaultd" : AuditReport.who(entry, withProcess: false)
      let reader = Reader(who: who, action: entry.action, isCertain: !entry.namesNoItem)
      var known = uses[reader] ?? Uses(last: entry.time)
      known.last = max(known.last, entry.time)
      known.count += count
      if entry.isOnlyCounted { known.counted += count }
      if entry.byName == true { known.byName += count }
      uses[reader] = known
    }

    /// Returns the sum of one of the counts over all uses that are certainly of this item or, on request, over all
    /// others.
    func sum(_ part: KeyPath<Uses, Int>, isCertain: Bool = true) -> Int {
      uses.reduce(0) { $0 + ($1.key.isCertain == isCertain ? $1.value[keyPath: part] : 0) }
    }
  }

  func run() throws {
    let session = try Session(globals)
    var query = try options.query()
    query.item = name
    let known: Known
    do throws(Failure) {
      known = try session.unlocking(for: "vault audit item \(name)") { vault in
        var known = Known()
        let omissions = try vault.audit(query) { known.add($0, of: name) }
        (known.otherNames, known.gaps) = (omissions.otherNames, omissions.gaps)
        return known
      }
    } catch {
      throw options.explained(error)
    }
    let remarks = globals.json ? [] : try AuditGap.texts(known.gaps, session)
    let rows = known.uses.sorted { $0.value.last > $1.value.last }
    let others = known.others.sorted { $0.key < $1.key }
    try show(rows.map { ($0.key, $0.value) })
    if globals.json {
      for (other, count) in others { try Self.write(other.text, count) }
      if known.otherNames > 0 { try Output.json { $0.add("other_names", known.otherNames) } }
      if let gaps = known.gaps { try Output.json { $0.add("gaps", gaps) } }
      return
    }
    if !rows.contains(where: \.key.isCertain), Keyboard.isAttended {
      let whose = try AuditScope.isOwn(session) ? " by your own programs" : ""
      let none = "no read or use of \(Printable.quoted(name))\(whose)"
      if options.isGiven {
        Output.note("\(none) matches" + AuditScope.note(whose))
      } else {
        Output.note(
          whose.isEmpty
            ? "nobody is known to have read \(Printable.quoted(name))" : "\(none) is known" + AuditScope.note(whose))
      }
    }
    for remark in remarks { Output.note(remark) }
    let (counted, byName) = (known.sum(\.counted), known.sum(\.byName))
    if counted > 0 { Output.note("\(counted) of these were only counted in the log") }
    if byName > 0 {
      Output.note("\(byName) of these are known only by the name, which another item may have had then")
    }
    let unknown = known.sum(\.count, isCertain: false)
    if unknown > 0 {
      Output.note("\(unknown) more were counted without the items' names, and may concern this item")
    }
    if known.otherNames > 0 {
      Output.note(
        "\(known.otherNames) entries of earlier versions record only other names: uses under an earlier "
          + "name of this item are not counted")
    }
    for (other, count) in others {
      Output.note("\(count) more concern an item that had this name and is now \(Printable.quoted(other.text))")
    }
  }

  private func show(_ rows: [(reader: Reader, uses: Uses)]) throws {
    if globals.json {
      for (reader, uses) in rows { try Self.write(reader, uses) }
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

  private static func write(_ reader: Reader, _ uses: Uses) throws(Failure) {
    try Output.json { object in
      object.add("caller", reader.who)
      object.add("action", reader.action)
      object.add("last", uses.last)
      object.add("count", uses.count)
      if uses.counted > 0 { object.add("counted", uses.counted) }
      if uses.byName > 0 { object.add("by_name", uses.byName) }
      if !reader.isCertain { object.add("uncertain", true) }
    }
  }

  /// Writes the number of uses of another item that once had the name.
  private static func write(_ other: String, _ count: Int) throws(Failure) {
    try Output.json { object in
      object.add("now", other)
      object.add("count", count)
    }
  }
}

extension Wire.AuditEntry {
  /// True if the entry only counts accesses, without further details, because the subject had used up its share of the
  /// log.
  var isOnlyCounted: Bool { count != nil && of == nil }

  /// True for a count of accesses that may be about any item. Earlier versions put the subject where other entries name
  /// the item.
  var namesNoItem: Bool { isOnlyCounted && (item == nil || uid == nil) }

  /// Returns the present name of the entry's item if it differs from `name`: the item had that name at the time, and
  /// another item may have it now. Nil if the entry is about the item with that name, or about a deleted one.
  func itemNow(otherThan name: String) -> ItemName? {
    guard gone != true, let present = (now ?? item).flatMap({ try? ItemName($0) }),
      !present.text.utf8.elementsEqual(name.utf8)
    else { return nil }
    return present
  }
}
