internal import ArgumentParser
internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct RestoreCommand: SecretTaking {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Make the vault from a backup.",
    discussion: """
      Asks for a password that the vault had when the backup was made. The whole backup is checked before there is a \
      vault, and an existing vault is never touched. Slots that need the machine on which they were made are left out.
      """)

  @Flag(help: "Open the backup with a recovery code instead of a password.")
  var recovery = false

  @Argument(
    help: ArgumentHelp("The backup; - is standard input.", valueName: "file"), completion: .file())
  var file: String

  @OptionGroup var secrets: SecretOptions
  @OptionGroup var globals: Globals

  @Argument(help: .hidden) var unexpected: [String] = []

  func validate() throws {
    try Refused.secretArguments(unexpected, of: self)
    if file == "-" && secrets.passwordStdin {
      throw ValidationError("standard input cannot supply both the backup and the password; name the backup's file")
    }
  }

  func run() throws {
    let source = try source()
    let session = try Session(globals)
    if file == "-" { try checkThereIsNone(session) }
    let answers = Answers(secrets, json: globals.json)
    let leftOut = try source.send(source.header(), session, answers, recovery: recovery, checks: false)
    if globals.json { return try write(leftOut) }
    for slot in leftOut {
      Output.note("slot \(slot.id) (\(Printable.text(slot.kind))) needs the machine it was made on and was left out")
    }
    guard Keyboard.isAttended else { return }
    Output.note("the vault is restored; open it with \(Hint.vault("unlock"))")
    Output.note("no grant that it had is in effect before \(Hint.vault("grants confirm"))")
  }

  /// Opens the file. The failure for the name of an item says how items are restored.
  private func source() throws(Failure) -> BackupSource {
    do throws(Failure) { return try BackupSource(file) } catch {
      guard error.exit == .io, (try? ItemName(file)) != nil,
        let session = try? Session(globals, startsDaemon: false)
      else { throw error }
      let (item, name) = (MissingItem(name: file, location: session.vault.location), Printable.line(file))
      if item.isThere {
        let way = Hint.vault("restore-version \(name) NUMBER")
        throw Failure(error.exit, error.event, "\(way) restores a version of the item")
      }
      guard item.isInTrash else { throw error }
      throw Failure(error.exit, error.event, "\(Hint.vault("trash restore \(name)")) restores the item")
    }
  }

  /// Refuses to restore beside an existing vault before standard input is read, which may be a person's keyboard.
  private func checkThereIsNone(_ session: Session) throws(Failure) {
    let status = try session.call { vault in try vault.status() }
    if ["cold", "locked", "unlocked"].contains(status.state) { throw session.vaultExists(status) }
  }

  private func write(_ leftOut: [Wire.Slot]) throws(Failure) {
    try Output.json { object in
      object.add("restored", true)
      object.add("left_out", leftOut)
    }
  }
}
