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
  private var stored = 0
  private var openTo: [Wire.Access] = []
  /// The items that the vault did not take.
  private(set) var refused: Set<ObjectIdentifier> = []
  /// The new names that grants open.
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
      lines.append("  \(folders)")
    } else {
      lines.append("no item to store")
    }
    lines += leftOut + clashes + account.lines
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

  /// The folders of entries with items to store, those with the most items first.
  private var folders: String {
    var counts: [ItemName?: Int] = [:]
    for step in plan.steps {
      let folder = step.name.folders.first.flatMap { try? ItemName($0) }
      counts[folder, default: 0] += 1
    }
    let sorted = counts.sorted { one, other in
      if one.value != other.value { return one.value > other.value }
      return (one.key?.text ?? "").utf8.lexicographicallyPrecedes((other.key?.text ?? "").utf8)
    }
    let texts = sorted.prefix(Self.shown.folders).map { folder, count in
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

  /// The items that are there with another content.
  private var clashes: [String] {
    plan.entries.flatMap { entry in
      entry.standings.enumerated().compactMap { index, standing -> String? in
        guard case .clash(let present, _) = standing else { return nil }
        let fate =
          entry.names[index].map { name in
            name.utf8.elementsEqual(present.name.utf8)
              ? "\(run == nil ? "gets" : "has") a new version" : "stays, beside \(Printable.quoted(name))"
          } ?? "is there with another content, so this entry is left out"
        return "\(Printable.wholeQuoted(present.name)) \(fate)"
      }
    }
  }

  // MARK: The end

  /// The notes for a person at the end.
  var notes: [String] {
    var notes: [String] = []
    if run != nil {
      let way = "\(Hint.vault("import --undo")) takes that back"
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
    rest.files = content.sent.undecrypted.count + content.sent.passedOver.reduce(0) { $0 + $1.count }
    return rest
  }

  /// Names the plaintext that remains and how to remove it, unless only the source has a part of it; nil if the source
  /// is encrypted or remains nowhere.
  var remains: String? {
    guard isPlaintextLeft else { return nil }
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
  ///
  /// - Parameter isChosen: whether somebody chose what becomes of items that clash.
  func failure(isChosen: Bool) -> Failure? {
    if plan.clashing > 0, !isChosen {
      return Failure(
        .exists,
        "\(Counted.text(plan.clashing, "entry")) left out, because \(plan.clashing == 1 ? "an item is" : "items are") "
          + "there with another content",
        "--update stores new versions, and --keep-both further items")
    }
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
    }
    object.add("granted", opened.names)
    if isPlaintextLeft, !isTrial { object.add("plaintext", source.path) }
    object.add("not_decrypted", content.sent.undecrypted.map(\.path))
    account.write(&object)
  }
}
