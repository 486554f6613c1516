internal import VaultModel
internal import VaultWire

/// The account of every field of a source: what an import makes of it, or why it makes nothing.
struct ImportAccount {
  /// The way in which the vault gets a field.
  enum Outcome: Hashable {
    case name
    case value
    case attribute(String)
    case beside
    case version
    case expiry
    /// The vault has the field already.
    case known
    /// An item with another content is there, or one of others.
    case clash
    /// An earlier value that is not stored, because the item that gets a new version has other versions of its own.
    case history
    case leftOut(LeftOut)
    /// A setting, or a remark on a value, of which an import makes nothing; nothing of the user's own is lost.
    case setting(String)
    case refused(String)
  }

  /// One field.
  struct Line {
    let field: ImportedField
    let outcome: Outcome
    /// The name of the item that has the field; nil if none has it.
    let item: String?
    /// The fault of a value that was stored all the same, in words; nil if it has none.
    var fault: String?
  }

  /// An entry with its fields.
  struct Part {
    let entry: ImportedEntry
    let name: String
    /// True if the entry has no value of its own, so that its item is a note of its texts.
    let isValueless: Bool
    let lines: [Line]
  }

  private(set) var parts: [Part] = []

  /// Makes the account of a plan.
  ///
  /// - Parameter refused: the reasons why the vault took an item neither for its kind nor as a blob.
  init(_ plan: ImportPlan, refused: [ObjectIdentifier: String] = [:]) {
    parts = plan.entries.map { planned in
      let entry = planned.mapped
      let lines = zip(entry.source.fields, entry.places).map { field, place in
        Self.line(field.facts, place, planned, refused)
      }
      return Part(
        entry: entry.source.facts, name: entry.name.text, isValueless: entry.isValueless && planned.leftOut == nil,
        lines: lines)
    }
  }

  private static func line(
    _ field: ImportedField, _ place: FieldPlace, _ planned: PlannedEntry, _ refused: [ObjectIdentifier: String]
  ) -> Line {
    func line(_ outcome: Outcome, _ item: String? = nil) -> Line { Line(field: field, outcome: outcome, item: item) }
    if case .refused(let reason) = place.fate {
      return line(field.role == .setting ? .setting(reason) : .refused(reason))
    }
    if let leftOut = planned.leftOut { return line(.leftOut(leftOut)) }
    guard let index = place.item else { return line(.refused("the entry has no item for it")) }
    let name = planned.names[index]
    func stored(_ outcome: Outcome, _ item: String?) -> Line {
      Line(field: field, outcome: outcome, item: item, fault: fault(of: field, planned.mapped.items[index].kind))
    }
    if let reason = refused[ObjectIdentifier(planned.mapped.items[index])] { return line(.refused(reason)) }
    switch planned.standings[index] {
    case .known(let name): return stored(.known, name)
    case .attribute(let name): return line(.known, name)
    case .clash(let present, _) where name == nil: return line(.clash, present.name)
    case .foreign(let present, _) where name == nil: return line(.clash, present.name)
    case .skipped: return line(.clash)
    case .clash(let present, let past) where name?.utf8.elementsEqual(present.name.utf8) == true:
      return stored(past.outcome(of: place, in: planned.mapped.items[index]) ?? outcome(place.fate), name)
    case .new, .begun, .clash, .foreign: return stored(outcome(place.fate), name)
    }
  }

  /// The fault of a value that is kept as an item of another kind than its place in the source promises; nil if it has
  /// none. Whoever removes the source needs to know which codes the vault does not make.
  private static func fault(of field: ImportedField, _ kind: ItemKind) -> String? {
    guard field.role == .oneTime, kind != .totp else { return nil }
    return "no valid one-time secret, so kept as a \(kind.rawValue)"
  }

  private static func outcome(_ fate: FieldFate) -> Outcome {
    switch fate {
    case .name: .name
    case .value: .value
    case .attribute(let key): .attribute(key)
    case .beside: .beside
    case .version: .version
    case .expiry: .expiry
    case .refused(let reason): .refused(reason)
    }
  }

  /// The numbers of entries and fields, which must be those that the source has.
  var totals: ImportTotals { ImportTotals(entries: parts.count, fields: parts.reduce(0) { $0 + $1.lines.count }) }

  /// The number of fields with each way, in the order of ``Group``.
  var groups: [(group: Group, count: Int)] {
    var counts: [Group: Int] = [:]
    for part in parts { for line in part.lines { counts[Group(line.outcome), default: 0] += 1 } }
    return Group.allCases.compactMap { group in counts[group].map { (group, $0) } }
  }

  /// The ways without their details.
  enum Group: String, CaseIterable {
    case value
    case attribute
    case beside
    case version
    case name
    case expiry
    case known
    case clash
    case history
    case leftOut = "left_out"
    case setting
    case refused

    init(_ outcome: Outcome) {
      switch outcome {
      case .name: self = .name
      case .value: self = .value
      case .attribute: self = .attribute
      case .beside: self = .beside
      case .version: self = .version
      case .expiry: self = .expiry
      case .known: self = .known
      case .clash: self = .clash
      case .history: self = .history
      case .leftOut: self = .leftOut
      case .setting: self = .setting
      case .refused: self = .refused
      }
    }

    /// The way in words, after a number of fields.
    var text: String {
      switch self {
      case .value: "as the value of an item"
      case .attribute: "as an attribute"
      case .beside: "as an item of its own"
      case .version: "as an earlier version"
      case .name: "as a part of a name"
      case .expiry: "as the expiry of an item"
      case .known: "already there"
      case .clash: "left out, because another item is there"
      case .history: "left out, because the item has a history of its own"
      case .leftOut: "left out on purpose"
      case .setting: "not imported, because they are settings or remarks"
      case .refused: "refused"
      }
    }
  }
}

extension PastVersions {
  /// The outcome of an earlier value that the update of an item leaves out; nil for every other field.
  fileprivate func outcome(of place: FieldPlace, in item: ImportedItem) -> ImportAccount.Outcome? {
    let index = item.versions.count - place.age
    guard place.fate == .version, index < count else { return nil }
    return isKnown(index) ? .known : .history
  }
}

extension ImportAccount.Line {
  /// True for a field of an entry that has nothing to store.
  var isOfNothing: Bool { outcome == .refused(EntryMapping.noValue) }

  /// The account of the field in words, after its name.
  var text: String {
    fate + (fault.map { "; \($0)" } ?? "")
  }

  private var fate: String {
    let name = Printable.quoted(item ?? "")
    switch outcome {
    case .name: return "in the name of \(name)"
    case .value: return "value of \(name)"
    case .attribute(let key): return "attribute \(Printable.text(key)) of \(name)"
    case .beside: return "item of its own, \(name)"
    case .version: return "version of \(name)"
    case .expiry: return "expiry of \(name)"
    case .known: return "already there, \(name)"
    case .clash: return item == nil ? "left out with its entry" : "left out: another \(name) is there"
    case .history: return "left out: \(name) has a history of its own"
    case .leftOut(let reason): return "left out: \(reason.rawValue)"
    case .setting(let reason): return "not imported: \(Printable.text(reason))"
    case .refused(let reason): return "refused: \(Printable.text(reason))"
    }
  }
}
