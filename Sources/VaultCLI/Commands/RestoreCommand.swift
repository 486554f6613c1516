internal import ArgumentParser
internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct RestoreCommand: SecretTaking {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Make the vault from a backup.",
    discussion: """
      Asks for a password that the vault had when the backup was made. All of the backup is checked first, and only then \
      there is a vault; one that is there already is never touched. Ways in that need the machine they were made on do not \
      come along.
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
      throw ValidationError("standard input cannot give both the backup and the password; name the backup's file")
    }
  }

  func run() throws {
    let source = try BackupSource(file)
    let session = try Session(globals)
    let answers = Answers(secrets, json: globals.json)
    let header = try source.header()
    var bar = ProgressBar("restoring", of: source.size)
    let leftOut = try session.converse(answers) { vault, method, answer in
      var done = header.count
      return try vault.restore(
        header: header, method: method ?? (recovery ? "recovery" : nil),
        read: { bytes in
          // What follows takes its time, and asks nothing more.
          answers.finish()
          let count = try source.read(into: &bytes)
          done += count
          bar.show(done)
          return count
        }, answer: answer)
    }
    _ = consume bar
    if globals.json { return try write(leftOut) }
    for slot in leftOut {
      Output.note("slot \(slot.id) (\(Printable.text(slot.kind))) needs the machine it was made on and was left out")
    }
    if Keyboard.isAttended { Output.note("the vault is restored; open it with `vault unlock`") }
  }

  private func write(_ leftOut: [Wire.Slot]) throws(Failure) {
    try Output.json { writer in
      writer.beginObject()
      writer.key("restored")
      writer.bool(true)
      writer.key("left_out")
      writer.beginArray()
      for slot in leftOut { slot.write(to: &writer) }
      writer.endArray()
      writer.endObject()
    }
  }
}
