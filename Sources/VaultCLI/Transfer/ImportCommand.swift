internal import ArgumentParser
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Copy the items of another keyring into the vault.",
    discussion: """
      With --from secret-service the command copies every collection of the keyring that runs on the session bus, \
      which may ask for its password. It shows what it will copy, and asks. Nothing in the vault is overwritten: an \
      item with the same attributes but another secret is stored beside the one that is there. A second import of the \
      same items copies nothing, and an interrupted import continues. See vault-secret-service(7).

      Items of other programs come in through `vault set --batch`.
      """)

  @Option(help: ArgumentHelp("What to import from: secret-service.", valueName: "format"))
  var from: TransferFormat

  @OptionGroup var options: TransferOptions
  @OptionGroup var globals: Globals

  func run() throws {
    let session = try options.session(globals)
    // A person unlocks the vault first, and then the other keyring.
    _ = try session.unlocking(for: "vault import") { vault in
      try vault.importCollection(nil, label: "", isDefault: false, trial: true)
    }
    let keyring = try OtherKeyring.found(options.busName, besides: session)
    let work = KeyringImport(session, keyring)
    try work.find()
    if options.dryRun {
      return try work.run(isTrial: true).finish(globals, isTrial: true, isShown: false)
    }
    var isShown = false
    if !options.yes {
      let planned = try work.run(isTrial: true)
      guard planned.changesAnything else { return try planned.finish(globals, isTrial: false, isShown: false) }
      try Confirmation(
        consequence: "this would copy \(planned.extent) into the vault",
        question: "Copy \(planned.extent) from \(Printable.text(keyring.name))?",
        facts: planned.lines(isTrial: true), advice: "add --yes to confirm, or --dry-run to see them"
      ).ask()
      isShown = !globals.json
    }
    let account = try work.run(isTrial: false)
    try account.finish(globals, isTrial: false, isShown: isShown)
    if Keyboard.isAttended, !globals.json {
      Output.note("copied \(Counted.text(account.stored, "item")); the other keyring still has them, too")
    }
  }
}
