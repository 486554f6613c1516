internal import ArgumentParser
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct SalvageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "salvage",
    abstract: "Save whatever part of a damaged store still authenticates to a file, as a backup.",
    discussion: """
      The store is only read. An item is saved if its head and its current value authenticate, with those older \
      versions that authenticate, up to the number that an item keeps. If anything is lost, the command lists it and \
      exits with 65. To use the file, stop the daemon, move the damaged store aside, and give the file to `vault \
      restore`, see vault(1).
      """)

  @Flag(help: "Replace an existing file; a backup of another vault only after a question.")
  var force = false

  @Argument(help: ArgumentHelp("The file to write.", valueName: "file"), completion: .file())
  var file: String

  @OptionGroup var globals: Globals

  func validate() throws {
    if file == "-" {
      throw ValidationError("the list of losses goes to standard output, so the backup cannot; name a file")
    }
  }

  func run() throws {
    try NewFile.check(file, replaces: force, reading: ["-"])
    let session = try Session(globals)
    if force { try ReplacedBackup.check(file, session) }
    let room = try BackupRoom(for: file, session)
    var losses: [Wire.Finding] = []
    let (saved, omitted) = try session.unlocking(for: "vault salvage", isLong: true) { vault in
      losses = []
      let progress = Progress()
      defer { progress.clear() }
      let result = try vault.salvage { reply in
        if let done = reply.progress { progress.show(Integrity.bar("salvaging", done, "items")) }
        losses += reply.losses
      }
      progress.clear()
      try write(vault, room)
      return result
    }
    // The daemon may send any number.
    let (count, isTooMany) = losses.count.addingReportingOverflow(max(0, omitted))
    let failure: Failure? =
      switch isTooMany ? .max : count {
      case 0: nil
      case 1: Failure(.invalid, "1 loss", "an older backup may have it")
      case let count: Failure(.invalid, "\(count) losses", "an older backup may have them")
      }
    if globals.json {
      try printJSON(saved, losses, omitted)
      if let failure { throw failure }
      return
    }
    for loss in losses {
      let name = loss.name.map { " (\(Printable.whole($0)))" } ?? ""
      try Output.line("\(Printable.text(loss.text))\(name)")
    }
    if omitted > 0 { try Output.line("and \(omitted) more") }
    try Output.line("saved: \(Counted.text(saved, "item"))")
    let store = StorePaths(system: globals.system)?.directory ?? "the store's directory"
    Output.note(
      "what was saved is in \(Printable.quoted(file)); to use it, stop the daemon (see restore in vault(1)), move "
        + "\(Printable.text(store)) aside, then \(Hint.vault("restore"))")
    if let failure { throw failure }
  }

  private func write(_ vault: Vault, _ room: BackupRoom?) throws {
    try NewFile.write(file, replaces: force) { target, cancellation in
      _ = try vault.backup(
        salvaged: true, cancellation: cancellation, begin: { size in try room?.check(size) },
        write: { bytes in try target.write(bytes) })
    }
  }

  private func printJSON(_ saved: Int, _ losses: [Wire.Finding], _ omitted: Int) throws {
    try Output.json { object in
      object.add("file", file)
      object.add("saved", saved)
      object.add("losses", losses)
      object.add("omitted", omitted)
    }
  }
}
