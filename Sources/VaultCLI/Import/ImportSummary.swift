internal import VaultModel
internal import VaultWire

/// The outcome of an import in words and as JSON: before it, what it would do, and afterwards, what it has done.
struct ImportSummary {
  /// The most names and folders that are shown before a question.
  private static let shown = (names: 20, folders: 10)

  let plan: ImportPlan
  private let content: ImportReader.Content
  private let source: ImportSource
  private let isTrial: Bool
  private(set) var account: ImportAccount
  /// The identification of the import; nil if nothing was stored.
  private var run: String?
  private(set) var stored = 0
  private var openTo: [Wire.Access] = []
  /// The items that the vault did not take.
  private(set) var refused: Set<ObjectIdentifier> = []
  /// The names of items to store that grants open.
  let opened: OpenedNames

  init(
    _ content: ImportReader.Content, _ plan: ImportPlan, _ source: ImportSource, _ opened: OpenedNames, isTrial: Bool
  ) {
    (self.content, self.plan, self.source, self.isTrial) = (content, plan, source, isTrial)
    self.opened = opened
    account = ImportAccount(plan)
  }

  /// Takes in what was stored.
  mutating func didStore(_ storing: ImportStoring, run: String) {
    (self.run, stored, openTo) = (run, storing.count, storing.openTo)
    account = ImportAccount(plan, refused: storing.refused)
    refused = Set(storing.refused.keys)
  }

  /// True if the vault refused something that the plan had.
  var isRefusing: Bool { run != nil && stored < plan.steps.count }

  // MARK: Words

  /// The summary: the format, what is stored, what is left out, and the account of the fields.
  var lines: [String] {
    var lines = ["\(Printable.text(content.format.name)): \(Printable.text(content.format.detail))"]
    if !plan.steps.isEmpty {
      let count = Counted.text(run == nil ? plan.steps.count : stored, "item")
      lines.append("\(count) \(run == nil ? "to store" : "stored"): \(kinds)")
      lines.append("  \(Self.folders(plan.steps.map(\.name)))")
    } else {
      lines.append("no item to store")
    }
    lines += leftOut + clashes + known + account.lines
    for (path, reason) in content.sent.undecrypted {
      let what = source.kind == .wallet ? "not read" : "not decrypted"
      lines.append("\(what): \(Printable.quoted(path)): \(Printable.text(reason))")
    }
    for (reason, count) in content.sent.passedOver {
      lines.append("passed over in the folder: \(count) (\(reason))")
    }
    return lines
  }

  /// The names of all items to store, with their kinds.
  var names: [String] { names(atMost: plan.steps.count) }

  /// The summary with the names, as many as a person reads before an answer.
  var facts: [String] { lines + names(atMost: Self.shown.names) + opened.lines }

  private func names(atMost most: Int) -> [String] {
    guard !plan.steps.isEmpty else { return [] }
    let names = plan.steps.prefix(most).map { step in
      "  \(Printable.whole(step.name.text)) (\(step.kind.rawValue))"
    }
    let rest = plan.steps.count - names.count
    return ["items to store:"] + names + (rest > 0 ? ["  and \(rest) more"] : [])
  }

  private var kinds: String {
    ItemKind.allCases.compactMap { kind in
      let count = plan.steps.count { $0.kind == kind }
      return count > 0 ? "\(count) of kind \(kind.rawValue)" : nil
    }.joined(separator: ", ")
  }

  /// The first folders of items, those with the most items first.
  private static func folders(_ names: [ItemName]) -> String {
    var counts: [ItemName?: Int] = [:]
    for name in names {
      let folder = name.folders.first.flatMap { try? ItemName($0) }
      counts[folder, default: 0] += 1
    }
    let sorted = counts.sorted { one, other in
      if one.value != other.value { return one.value > other.value }
      return (one.key?.text ?? "").utf8.lexicographicallyPrecedes((other.key?.text ?? "").utf8)
    }
    let texts = sorted.prefix(shown.folders).map { folder, count in
      "\(count) in \(folder.map { Printable.quoted($0.text + "/") } ?? "no folder")"
    }
    let rest = sorted.count - texts.count
    return texts.joined(separator: ", ") + (rest > 0 ? ", the rest in \(Counted.text(rest, "other folder"))" : "")
  }

  private var leftOut: [String] {
    [LeftOut.trash, .unmatched].compactMap { reason in
      let count = plan.entries.count { $0.leftOut == reason }
      return count > 0 ? "\(Counted.text(count, "entry")) left out: \(reason.rawValue)" : nil
    }
  }

  /// The items that are there in the place of others: with another content, or made or written by others.
  private var clashes: [String] {
    plan.entries.flatMap { entry in
      entry.standings.enumerated().compactMap { index, standing -> String? in
        let (item, state): (Wire.Item, String)
        switch standing {
        case .clash(let present, _): (item, state) = (present, self.state(of: present, in: entry))
        case .foreign(let present, let author):
          (item, state) = (present, "is there, made or written by \(Printable.text(author))")
        case .new, .known, .attribute, .begun, .skipped: return nil
        }
        let fate =
          entry.names[index].map { name in
            name.utf8.elementsEqual(item.name.utf8) ? version(of: item) : "stays, beside \(Printable.quoted(name))"
          } ?? "\(state), so this entry is left out"
        return "\(Printable.wholeQuoted(item.name)) \(fate)"
      }
    }
  }

  /// Says that an item gets a new version. What somebody has changed in the vault may be newer than the source.
  private func version(of present: Wire.Item) -> String {
    let version = "\(run == nil ? "gets" : "has") a new version"
    return present.isChangedSinceImport ? "\(Self.changed), and \(version)" : version
  }

  private static let changed = "was changed here since its import"

  private func state(of present: Wire.Item, in entry: PlannedEntry) -> String {
    switch plan.state(of: present, in: entry) {
    case .content, .others:
      "is there with another content" + (present.isChangedSinceImport ? " and \(Self.changed)" : "")
    case .proof: "is there and could not be compared, because it requires a proof of presence"
    case .kind: "is there as a key of kind \(Printable.text(present.kind)), which never changes"
    }
  }

  /// The number of items that the vault has already, with their folders, which may be others than those of the import.
  private var known: [String] {
    let names = plan.entries.flatMap { entry in
      entry.standings.compactMap { standing -> ItemName? in
        if case .known(let name) = standing { try? ItemName(name) } else { nil }
      }
    }
    return names.isEmpty ? [] : ["\(Counted.text(names.count, "item")) already there: \(Self.folders(names))"]
  }

  /// The names of the items of others that keep their entries out.
  private var foreign: [String] {
    plan.entries.filter(\.isBlocked).flatMap(\.standings).compactMap { standing in
      if case .foreign(let item, _) = standing { item.name } else { nil }
    }
  }

  // MARK: The end

  /// The notes for a person at the end.
  var notes: [String] {
    var notes: [String] = []
    if run != nil {
      // The first part of an interrupted import is another import.
      let known = plan.entries.flatMap(\.standings).contains { if case .known = $0 { true } else { false } }
      let way = "\(Hint.vault("import --undo")) takes that back" + (known ? ", and not what was there already" : "")
      let open = AccessChange.note(openTo)
      let them = stored == 1 ? "it" : "them"
      notes.append("imported \(Counted.text(stored, "item")) and compared \(them) with the source\(open); \(way)")
    }
    if let remains { notes.append(remains) }
    return notes
  }

  /// The part of the source that the vault does not have.
  private var rest: ImportRest {
    var rest = account.rest
    rest.files += content.sent.undecrypted.count + content.sent.passedOver.reduce(0) { $0 + $1.count }
    return rest
  }

  /// Names an encrypted file of which a part was not taken; nil for any other source.
  private var keeping: String? {
    guard content.isEncrypted, source.path != "-", run != nil || plan.steps.isEmpty, let rest = rest.text else {
      return nil
    }
    switch source.kind {
    case .file, .folder:
      return "only \(Printable.quoted(source.path)) has what was not taken from it: \(rest); "
        + "keep it until nobody needs that"
    case .passStore, .ageStore, .wallet, .pipe: return nil
    }
  }

  /// Names the plaintext that remains and how to remove it, unless only the source has a part of it; nil if the source
  /// is encrypted or remains nowhere.
  var remains: String? {
    guard isPlaintextLeft else { return keeping }
    if ImportOrigin(rawValue: content.format.name)?.isInUse == true {
      return "\(Printable.quoted(source.path)) still holds the secrets in the clear; remove them there once the "
        + "programs that read it get them from the vault"
        + (rest.text.map { ", but keep what was not taken from it: \($0)" } ?? "")
    }
    let word = ImportSummary.word(source.path)
    let command: String
    switch source.kind {
    case .file: command = "shred -u \(word)"
    case .folder: command = "rm -r \(word)"
    case .passStore, .ageStore, .wallet, .pipe: return nil
    }
    let state = "\(Printable.quoted(source.path)) still holds all of it in the clear"
    guard let rest = rest.text else { return "\(state); `\(command)` removes it" }
    return "\(state), and also what was not taken from it: \(rest); keep it until nobody needs that"
  }

  /// True if the source still holds everything in the clear.
  private var isPlaintextLeft: Bool {
    guard !content.isEncrypted, source.path != "-", run != nil || plan.steps.isEmpty else { return false }
    switch source.kind {
    case .file, .folder: return true
    case .passStore, .ageStore, .wallet, .pipe: return false
    }
  }

  private static func word(_ path: String) -> String {
    Printable.whole("'\((path.hasPrefix("-") ? "./" + path : path).replacing("'", with: #"'\''"#))'")
  }

  /// The failure of an import that left something out; nil if there is none.
  var failure: Failure? {
    if let blocked { return blocked }
    if isRefusing {
      let missing = plan.steps.count - stored
      let them = missing == 1 ? "it" : "them"
      return Failure(
        .invalid, "\(Counted.text(missing, "item")) could not be stored: the vault refused \(them)")
    }
    let lost = account.lostValues
    if lost > 0 {
      return Failure(
        .invalid,
        "\(Counted.text(lost, "value")) of the source \(lost == 1 ? "was" : "were") refused, so only the source has "
          + (lost == 1 ? "it" : "them"))
    }
    let count = content.sent.undecrypted.count
    guard count > 0 else { return nil }
    let what = source.kind == .wallet ? (noun: "entry", verb: "read") : (noun: "file", verb: "decrypted")
    return Failure(.invalid, "\(Counted.text(count, what.noun)) could not be \(what.verb)")
  }

  /// The failure of an import that left entries out because items of the vault are in their places.
  private var blocked: Failure? {
    func text(_ obstacle: Obstacle, _ reason: (one: String, several: String)) -> String? {
      let count = plan.blocked(by: obstacle)
      guard count > 0 else { return nil }
      return "\(Counted.text(count, "entry")) left out, because \(count == 1 ? reason.one : reason.several)"
    }
    let events = [
      text(.content, ("an item is there with another content", "items are there with another content")),
      text(
        .proof,
        (
          "an item could not be compared: it requires a proof of presence",
          "items could not be compared: they require a proof of presence"
        )),
      text(.kind, ("the kind of a key never changes", "the kinds of keys never change")),
      text(.others, ("an item of others has its name", "items of others have their names")),
    ].compactMap { $0 }
    guard !events.isEmpty else { return nil }
    var ways: [String] = []
    if plan.blocked(by: .proof) > 0 { ways.append("run the command on a terminal and give the proof to compare them") }
    ways.append(
      plan.blocked(by: .content) > 0
        ? "--update stores new versions, and --keep-both further items" : "--keep-both stores further items")
    return Failure(.exists, events.joined(separator: "; "), ways.joined(separator: "; "))
  }

  func write(_ object: inout JSONBuilder) {
    object.add("dry_run", isTrial)
    object.add("format", content.format.name)
    object.add("detail", content.format.detail)
    object.add("import", run)
    object.add("stored", stored)
    object.add("clashes", plan.clashing)
    object.add("items", plan.steps) { object, step in
      object.add("name", step.name.text)
      object.add("kind", step.kind.rawValue)
      object.add("versions", step.item.versionCount - step.skipped)
      object.add("replaces", step.present?.version)
      if step.present?.isChangedSinceImport == true { object.add("changed", true) }
    }
    object.add("granted", opened.names)
    if !foreign.isEmpty { object.add("foreign", foreign) }
    let uncompared = plan.uncompared.map(\.text).sorted()
    if !uncompared.isEmpty { object.add("uncompared", uncompared) }
    if isPlaintextLeft, !isTrial { object.add("plaintext", source.path) }
    object.add("not_decrypted", content.sent.undecrypted.map(\.path))
    account.write(&object)
  }
}
