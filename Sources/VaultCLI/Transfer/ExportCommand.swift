internal import ArgumentParser
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Copy the items of the vault's keyring to another keyring.",
    discussion: """
      With --to secret-service the command copies every collection that programs see through the Secret Service, but \
      not those of the session, to the keyring that runs on the session bus. From then on that keyring protects the \
      copies, and the vault no longer does. The other keyring keeps times of its own. An item that is there already \
      with the same attributes, label and secret is not copied, and nothing there is replaced. See \
      vault-secret-service(7).

      Items go to other programs by `vault env`, `run` and `inject`, and all of them to a backup by `vault backup`.
      """)

  @Option(help: ArgumentHelp("What to export to: secret-service.", valueName: "format"))
  var to: TransferFormat

  @OptionGroup var options: TransferOptions
  @OptionGroup var globals: Globals

  func run() throws {
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
