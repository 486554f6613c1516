internal import ArgumentParser
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Copy items to a file of another program, or to another keyring.",
    discussion: """
      The formats are a KeePass database (kdbx), Bitwarden's JSON (bitwarden-json), variables for a shell or systemd \
      (env), and the lines that `vault set --batch` reads (json). The predicates choose the items, as for find; \
      without one it is all of them. A database, and Bitwarden's JSON without --plaintext, get a password of their \
      own, which is asked for twice. env and json hold the values in the clear, and need --plaintext.

      The file is a new one of mode 0600 that --output names, or goes to standard output if that is no terminal. The \
      command asks before it exports; without a terminal it needs --yes or --dry-run. It is for administrators, asks \
      for the proof of presence that an item requires, and is in the audit log, with each item. At the end it lists \
      what the file does not hold: keys that are never read, items in the trash unless you restore them first, grants, \
      and what the format has no place for.

      With --to secret-service the command copies every collection that programs see through the Secret Service, but \
      not those of the session, to the keyring that runs on the session bus. From then on that keyring protects the \
      copies, and the vault no longer does. The other keyring keeps times of its own. An item that is there already \
      with the same attributes, label and secret is not copied, and nothing there is replaced. See \
      vault-secret-service(7).

      Items go to other programs by `vault env`, `run` and `inject`, and all of them to a backup by `vault backup`.
      """)

  @Argument(
    help: ArgumentHelp("The predicates, all of which must hold.", valueName: "predicates"),
    completion: Completes.predicate.kind)
  var predicates: [String] = []

  @Option(help: ArgumentHelp("The format of the file, or secret-service for another keyring.", valueName: "format"))
  var to: TransferFormat

  @OptionGroup var exports: ExportOptions
  @OptionGroup var options: TransferOptions
  @OptionGroup var globals: Globals

  func validate() throws {
    guard let format = to.file else {
      if let option = exports.ofFiles.first { throw ValidationError("\(option) is for the export to a file") }
      if !predicates.isEmpty {
        throw ValidationError("--to secret-service copies whole collections; give no predicate")
      }
      return
    }
    if options.busName != nil { throw ValidationError("--bus-name is for --to secret-service") }
    // An empty word, as of a variable that is not set, would hold for all items.
    if predicates.contains(where: { $0.allSatisfy(\.isWhitespace) }) {
      throw ValidationError("a predicate is empty, and every item would match; leave it out to export all items")
    }
    do throws(QueryError) { if let query { _ = try Query(parsing: query) } } catch {
      throw ValidationError("the predicates are not valid: \(error.reason)")
    }
    try exports.check(format, json: globals.json, isTrial: options.dryRun)
  }

  private var query: String? { predicates.isEmpty ? nil : predicates.joined(separator: " ") }

  func run() throws {
    guard let format = to.file else { return try exportKeyring() }
    try FileExport(format, exports, options, globals).run(query)
  }

  private func exportKeyring() throws {
    let session = try options.session(globals)
    try session.unlockIfLocked()
    let source = try KeyringSource(session)
    let keyring = try OtherKeyring.found(options.busName, besides: session)
    let work = KeyringExport(session, keyring, source)
    if options.dryRun {
      if globals.json { return try Output.json { work.plan.write(&$0, isTrial: true) } }
      return try Output.lines(work.facts)
    }
    let count = Counted.text(source.count, "item")
    if !options.yes, source.count > 0 {
      try Confirmation(
        consequence: "this would copy \(count) out of the vault", question: "Copy \(count) out of the vault?",
        facts: work.facts + ["the vault does not protect the copies: that keyring and its password do"]
      ).ask()
    }
    let account = try work.run()
    try account.finish(globals, isTrial: false, isShown: false)
    if Keyboard.isAttended, !globals.json {
      Output.note("copied \(Counted.text(account.stored, "item")); the vault still has them, too")
    }
  }
}
