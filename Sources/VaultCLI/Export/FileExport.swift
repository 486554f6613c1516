internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The work of `vault export` to a file of another program.
struct FileExport {
  /// The memory of Argon2id in MiB, unless somebody asks for another.
  private static let memory = 64
  /// The name of the database in a file.
  private static let title = "Vault"

  private let format: FileFormat
  private let exports: ExportOptions
  private let options: TransferOptions
  private let globals: Globals

  init(_ format: FileFormat, _ exports: ExportOptions, _ options: TransferOptions, _ globals: Globals) {
    (self.format, self.exports, self.options, self.globals) = (format, exports, options, globals)
  }

  private var hasPassword: Bool { format.hasPassword(isPlain: exports.plaintext) }

  /// Exports the items that match a query; nil stands for all items.
  func run(_ query: String?) throws {
    if !options.dryRun { try exports.target.check() }
    if let report = exports.report { try Self.check(report) }
    try FileImport.checkTerminal(isAsked: !options.yes && !options.dryRun)
    let session = try Session(globals)
    try session.unlockIfLocked(isForAdministrators: true)
    try session.needAllNames()
    let selection = try ExportSelection(query, for: format, session)
    guard !selection.items.isEmpty else {
      throw Failure(.missing, "there is no item to export", selection.account.lines.first)
    }
    if !options.yes, !options.dryRun { try ask(selection) }
    let password: SecretBuffer? = hasPassword && !options.dryRun ? try ExportPassword.ask(exports.secrets) : nil
    try session.unlocking(for: "vault export") { vault in
      try vault.export(to: format.rawValue + (options.dryRun ? " (dry run)" : ""), count: selection.items.count)
    }
    let items = try selection.read(format, session)
    var account = selection.account
    let content = try content(items, &account)
    if !options.dryRun { try write(content, password) }
    try finish(account)
  }

  // MARK: Steps

  private static func check(_ report: String) throws(Failure) {
    do throws(Failure) { try NewFile.check(report, replaces: false) } catch {
      guard error.exit == .exists else { throw error }
      throw Failure(.exists, error.event, "give another name for the report")
    }
  }

  /// The words about the protection of the file.
  private var warning: String {
    hasPassword
      ? "whoever has the file and its password has these values; the vault no longer protects them"
      : "the file holds these values in the clear: whoever reads it has them"
  }

  private func ask(_ selection: ExportSelection) throws(Failure) {
    let what = Counted.text(selection.items.count, "item")
    let place = exports.output.map { " to \(Printable.quoted($0))" } ?? ""
    try Confirmation(
      consequence: "this would copy \(what) out of the vault",
      question: "Export \(what) as \(format.rawValue)\(place)?", facts: selection.account.lines + [warning],
      advice: "add --yes to confirm, or --dry-run to see what the file would not hold"
    ).ask()
  }

  /// The content of the file.
  private enum Content: ~Copyable {
    case text(SecretBuffer)
    case entries([SourceEntry], ExportOrder.Format)
  }

  /// Maps the items, and adds what is lost to the account.
  private func content(_ items: [ExportedItem], _ account: inout ExportAccount) throws(Failure) -> Content {
    switch format {
    case .json:
      for item in items { for loss in BatchLines.losses(of: item) { account.lose(loss, of: item.name) } }
      return .text(BatchLines.text(items))
    case .env: return .text(try variables(items, &account))
    case .kdbx: return entries(items, .kdbx, &account)
    case .bitwarden: return entries(items, .bitwarden, &account)
    }
  }

  private func variables(
    _ items: [ExportedItem], _ account: inout ExportAccount
  ) throws(Failure) -> SecretBuffer {
    let names = try EnvironmentNames(items.map { ($0.name, $0.facts, $0.isOwn) })
    for item in items where !EnvironmentLines.canHold(item) {
      account.leaveOut(item.name.text, "no variable can hold its value, which is not text")
      account.items -= 1
    }
    let held = items.filter { EnvironmentLines.canHold($0) }
    for item in held { for loss in EnvironmentLines.losses(of: item, names) { account.lose(loss, of: item.name) } }
    return EnvironmentLines.text(held, names)
  }

  private func entries(
    _ items: [ExportedItem], _ order: ExportOrder.Format, _ account: inout ExportAccount
  ) -> Content {
    let form = ExportForm(order)
    for item in items {
      guard let reason = ExportPlace.reason(item, form) else { continue }
      account.leaveOut(item.name.text, reason)
      account.items -= 1
    }
    let entries = ExportMapping.map(items, form)
    LossFinder.find(entries, now: Int64(time(nil)), into: &account)
    return .entries(entries.map(\.entry), order)
  }

  private func write(_ content: consuming Content, _ password: borrowing SecretBuffer?) throws {
    switch consume content {
    case .text(let text): try exports.target.write { take in try take(text) }
    case .entries(let entries, let format):
      let memory = hasPassword ? exports.kdfMemory.map { $0 >> 20 } ?? Self.memory : nil
      let order = ExportOrder(format, name: Self.title, memory: memory, time: Int64(time(nil)))
      try exports.target.write { take in _ = try ExportWriter.write(entries, order, password: password, to: take) }
    }
  }

  /// Shows what the file does not hold, and writes the report. The account goes to standard error if the file itself
  /// goes to standard output.
  private func finish(_ account: ExportAccount) throws {
    if let report = exports.report { try NewFile.write(account.report, to: report, replaces: false) }
    let word = options.dryRun ? "to export" : "exported"
    let lines = ["\(Counted.text(account.items, "item")) \(word) as \(format.rawValue)"] + account.lines
    if globals.json {
      return try Output.json { object in
        object.add("dry_run", options.dryRun)
        object.add("format", format.rawValue)
        object.add("file", exports.output)
        account.write(&object)
      }
    }
    switch exports.target {
    case .output where !options.dryRun: for line in lines { Output.note(line) }
    case .file, .output: try Output.lines(lines)
    }
    // Somebody who was asked has read it already.
    if options.yes, Keyboard.isAttended { Output.note(warning) }
  }
}
