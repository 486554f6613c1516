internal import ArgumentParser
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Copy what other programs keep into the vault.",
    discussion: """
      The source is a file, a folder, or - for standard input: a KeePass database, a password store (pass or \
      passage), an export of Bitwarden or 1Password, a credential exchange (CXF), a CSV of a browser or another \
      password manager, a list of one-time secrets, a backup of an authenticator (Aegis, andOTP, 2FAS), a file or \
      folder in which developers' programs keep credentials, such as .netrc, .env or ~/.ssh, Wi-Fi networks, Secrets \
      of Kubernetes, what ansible-vault has encrypted, or the settings of a gateway's program such as Homebridge. The \
      command recognizes the format and reads the source in a sandbox, asking for a password if the source needs one. \
      Then it shows what becomes of every field, and asks. Without a terminal it needs --yes or --dry-run. At the end \
      it reads the vault back and compares it with the source.

      The name of an item consists of the folders and the title of its entry. The password is the item's value; user \
      name, URL and other short texts are attributes. One-time secrets, notes, other secrets and files are items in \
      the folder of that name. Earlier passwords become versions.

      Nothing in the vault is overwritten. An entry that the vault has already is skipped, so that an interrupted \
      import goes on, and a second import of the same source changes nothing. If an item with another content is \
      there, the entry is left out and listed, and the exit code is 73; --update stores a new version there, and \
      --keep-both a second item. An item that others have made or written is never touched, whatever it looks like. \
      --undo moves the items of your last import to the trash and restores the versions that it replaced.

      With --from kwallet, the source is the name of a wallet of KDE, usually kdewallet, which kwallet-query(1) reads.

      With --from secret-service and no source, the command copies every collection of the keyring that runs on the \
      session bus, which may ask for its password. An item with the same attributes but another secret is stored \
      beside the one that is there. See vault-secret-service(7).

      Items in any other form come in through `vault set --batch`.
      """)

  @Argument(
    help: ArgumentHelp("A file or a folder, or - for standard input.", valueName: "source"), completion: .file())
  var source: String?

  @Option(help: ArgumentHelp("The source's format, which is recognized otherwise.", valueName: "format"))
  var from: ImportOrigin?

  @OptionGroup var imports: ImportOptions
  @OptionGroup var options: TransferOptions
  @OptionGroup var globals: Globals

  func validate() throws {
    if imports.undo || from == .secretService, let option = imports.ofFiles.first {
      throw ValidationError("\(option) is for the import of a file or a folder")
    }
    if imports.undo {
      if options.busName != nil { throw ValidationError("--bus-name is for --from secret-service") }
      if source != nil || from != nil { throw ValidationError("--undo takes the last import back; it needs no source") }
      return
    }
    if from == .secretService {
      if source != nil { throw ValidationError("--from secret-service copies a keyring; leave the source out") }
      return
    }
    guard let source else { throw ValidationError("Missing expected argument '<source>'") }
    if source.isEmpty { throw ValidationError("the source is empty; name a file or a folder, or - for standard input") }
    if options.busName != nil { throw ValidationError("--bus-name is for --from secret-service") }
    if source == "-", imports.secrets.passwordStdin {
      throw ValidationError("standard input cannot be the source and hold the password; name a file")
    }
  }

  func run() throws {
    if imports.undo {
      return try ImportUndo(Session(globals)).run(globals, isTrial: options.dryRun, isAsked: !options.yes)
    }
    guard from == .secretService else {
      return try FileImport(imports, options, globals, from: from?.rawValue).run(source ?? "-")
    }
    try importKeyring()
  }

  private func importKeyring() throws {
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
