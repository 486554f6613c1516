internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The work of `vault import` for files of other programs.
struct FileImport {
  private let imports: ImportOptions
  private let options: TransferOptions
  private let globals: Globals
  private let from: String?

  init(_ imports: ImportOptions, _ options: TransferOptions, _ globals: Globals, from: String?) {
    (self.imports, self.options, self.globals, self.from) = (imports, options, globals, from)
  }

  /// Throws if a question would be asked and nobody can be asked.
  static func checkTerminal(isAsked: Bool) throws(Failure) {
    guard isAsked, !Keyboard.canAsk else { return }
    throw Failure(
      .usage, "there is no terminal to ask on", "add --yes to confirm, or --dry-run to see what would be done")
  }

  func run(_ path: String) throws {
    try Self.checkTerminal(isAsked: !options.yes && !options.dryRun)
    try imports.files.check(reading: path)
    let session = try Session(globals)
    // Nobody types a password for a source that is not there.
    let source = try ImportSource(path, as: from)
    // A person unlocks the vault first, and then the source.
    try session.unlockIfLocked()
    try session.needAllNames()
    let answers = ImportAnswers(fromInput: imports.secrets.passwordStdin, keyFile: imports.keyFile)
    let text = imports.template == nil ? nil : SourceText()
    let content = try ImportReader.read(source, as: from, kdfMemory: imports.kdfMemory, answers, keeping: text)
    if text != nil { try ImportTemplate.check(content) }
    let importer = try Importer(session)
    let plan = try plan(content, source, session, importer)
    // A template that cannot be made must not be found out after the items are stored.
    if let text { _ = try ImportTemplate(text, plan, refused: []) }
    let opened = OpenedNames(plan.steps.map(\.name), importer.grants)
    var outcome = ImportSummary(content, plan, source, opened, isTrial: options.dryRun)
    if options.dryRun { return try show(outcome) }
    try allow(opened, plan)
    if !options.yes, !plan.steps.isEmpty { try ask(outcome, source) }
    if !plan.steps.isEmpty { try store(plan, content, session, &outcome) }
    try finish(outcome, text)
  }

  // MARK: Steps

  private func plan(
    _ content: ImportReader.Content, _ source: ImportSource, _ session: Session, _ importer: Importer
  ) throws -> ImportPlan {
    let now = Int64(time(nil))
    let name = ImportMapping.source(content.format, file: source.name)
    let entries = ImportMapping.map(content.entries, source: name, into: try imports.folder(), now: now)
    let isIdentified = ImportOrigin(rawValue: content.format.name)?.hasIdentifications == true
    var present = PresentItems(
      for: entries, source: name, isIdentified: isIdentified || !content.format.source.isEmpty,
      stranger: importer.stranger)
    try session.call { vault in
      try vault.find(nil) { items in
        for item in items { present.add(item) }
        return true
      }
    }
    let terms = try imports.terms()
    let values = PresentValues(session, expecting: ImportPlan.expected(entries, present, terms, now: now))
    var plan = try ImportPlan(entries, present, terms, now: now) { field, item throws(Failure) in
      try values.isSame(field, item)
    }
    plan.uncompared = values.uncompared
    let fields = content.entries.reduce(0) { $0 + $1.fields.count }
    guard ImportAccount(plan).totals == ImportTotals(entries: content.entries.count, fields: fields) else {
      throw Failure(.software, "the account of the fields does not add up, so nothing was stored", "report this")
    }
    return plan
  }

  /// Refuses to store anything under names that a grant opens, unless somebody allowed that by name of the option:
  /// `--yes` is for the import. A new version is no less a secret than a new item.
  private func allow(_ opened: OpenedNames, _ plan: ImportPlan) throws(Failure) {
    guard !opened.isEmpty, !imports.allowGranted else { return }
    let count = opened.names.count
    let ways = [
      "add --allow-granted to store \(count == 1 ? "it" : "them")",
      plan.steps.contains { $0.present == nil } ? "--into a folder for which no grant holds" : nil,
    ]
    var failure = Failure(
      .denied, "\(Counted.text(count, "item")) would be open to others by grants, so nothing was stored",
      ways.compactMap { $0 }.joined(separator: ", or "))
    failure.names = opened.lines
    throw failure
  }

  private func ask(_ outcome: ImportSummary, _ source: ImportSource) throws(Failure) {
    let what = Counted.text(outcome.plan.steps.count, "item")
    try Confirmation(
      consequence: "this would store \(what)", question: "Import \(what) from \(Printable.quoted(source.path))?",
      facts: outcome.facts, advice: "add --yes to confirm, or --dry-run to see them"
    ).ask()
  }

  private func store(
    _ plan: ImportPlan, _ content: ImportReader.Content, _ session: Session, _ outcome: inout ImportSummary
  ) throws(Failure) {
    let run = ImportRun.identification()
    try ImportRun.record(from: content.format.name, count: plan.steps.count, session)
    let storing = ImportStoring(session, plan.steps, run: run)
    try storing.storeAll()
    outcome.didStore(storing, run: run)
    let differing = storing.differing
    guard differing.isEmpty else {
      var failure = Failure(
        .software, "\(Counted.text(differing.count, "item")) in the vault differ from the source",
        "\(Hint.vault("import --undo")) takes the import back; report this")
      failure.names = differing
      throw failure
    }
  }

  /// Shows the outcome of a trial, writes the report, and throws what the import itself would throw.
  private func show(_ outcome: ImportSummary) throws {
    let unwritten = imports.files.write(report: outcome.account.report, nil, stored: 0)
    if globals.json {
      try Output.json { outcome.write(&$0) }
    } else {
      try Output.lines(outcome.lines + outcome.names + outcome.opened.lines)
    }
    if let unwritten { throw unwritten }
    try allow(outcome.opened, outcome.plan)
    if let failure = outcome.failure { throw failure }
  }

  /// Shows the outcome, writes the report and the template, and throws if something was left out.
  private func finish(_ outcome: ImportSummary, _ text: SourceText?) throws {
    let template = text.map { text in { try ImportTemplate(text, outcome.plan, refused: outcome.refused) } }
    let unwritten = imports.files.write(report: outcome.account.report, template, stored: outcome.stored)
    if globals.json {
      try Output.json { outcome.write(&$0) }
    } else if options.yes || outcome.plan.steps.isEmpty || outcome.isRefusing {
      try Output.lines(outcome.lines + outcome.opened.lines)
    }
    // Nobody is to remove a source of which a file is missing.
    if let unwritten { throw unwritten }
    if !globals.json {
      for note in Keyboard.isAttended ? outcome.notes : outcome.remains.map({ [$0] }) ?? [] { Output.note(note) }
    }
    if let failure = outcome.failure { throw failure }
  }
}

/// One run of an import.
enum ImportRun {
  /// The identification of an import: its time in UTC and, as four hexadecimal digits, the part of the second. So a
  /// later import has a greater one.
  static func identification() -> String {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return identification(second: Int64(time.tv_sec), nanosecond: Int64(time.tv_nsec))
  }

  static func identification(second: Int64, nanosecond: Int64) -> String {
    let digits = String(min(0xFFFF, max(0, nanosecond) * 0x1_0000 / 1_000_000_000), radix: 16)
    return "\(Timestamp.format(second))-\(String(repeating: "0", count: 4 - digits.utf8.count))\(digits)"
  }

  /// True for a text that ``identification()`` makes; an attribute of somebody else's may have the same key.
  static func isIdentification(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.count == 4, let digits = parts.last, digits.count == 4 else { return false }
    return Timestamp.parse(String(text.dropLast(5))) != nil
      && digits.allSatisfy { "0123456789abcdef".utf8.contains($0) }
  }

  /// Records the import in the audit log, beside the entries of its items.
  static func record(from format: String, count: Int, _ session: Session) throws(Failure) {
    try session.unlocking(for: "vault import") { vault in try vault.beginImport(from: format, count: count) }
  }
}
