internal import ArgumentParser
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct ReceiptsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "receipts",
    abstract: "Print which watchers of an item have taken over its new version.",
    discussion: """
      A watcher such as `vault watch --exec` notes in the audit log what became of each version. Administrators see \
      all watchers, others see only themselves.
      """)

  @Argument(help: ArgumentHelp("The item.", valueName: "name"), completion: ItemNames.completion)
  var name: String

  @OptionGroup var globals: Globals

  func run() throws {
    let session = try Session(globals)
    var query = Vault.AuditQuery()
    (query.item, query.action) = (name, "receipt")
    var report = ReceiptReport(name)
    do throws(Failure) {
      try session.unlocking(for: "vault receipts \(name)") { vault in
        report = ReceiptReport(name)
        try vault.audit(query) { report.add($0) }
        do throws(ClientError) { report.current = try vault.show(name).version } catch {
          // A caller that may read the log may lack the right to find the item, and an item that is gone may have
          // receipts.
          if report.isEmpty, case .fault(.noSuchItem) = error { throw error }
        }
      }
    } catch {
      if error.exit == .missing { noteOthers(of: report) }
      throw error
    }
    try report.write(json: globals.json)
    if report.isEmpty, !globals.json, Keyboard.isAttended {
      let whose = try AuditScope.isOwn(session) ? " of your own programs" : ""
      Output.note(
        "no watcher\(whose.isEmpty ? "" : " among your own programs") has reported anything about "
          + Printable.quoted(name) + AuditScope.note(whose))
    }
    if report.isEmpty { noteOthers(of: report) }
  }

  /// Tells a person the present names of items on which watchers reported under this name.
  private func noteOthers(of report: ReceiptReport) {
    guard !globals.json, Keyboard.isAttended else { return }
    for other in report.others.sorted() {
      Output.note("watchers reported on an item that had this name and is now \(Printable.quoted(other.text))")
    }
  }
}
