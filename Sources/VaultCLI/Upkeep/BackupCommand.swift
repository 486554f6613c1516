internal import ArgumentParser
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

struct BackupCommand: SecretTaking {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copy the whole vault to a file that a password or a recovery code opens, or check such a file.",
    discussion: """
      The copy is the vault as it is when the command begins; meanwhile items are served and stored. The copy is \
      encrypted, and `vault restore` makes a vault from it on any machine. From the first unlock until the machine \
      sleeps, the command works even while the vault is locked, so a timer can run it. With --check nothing is copied \
      or written: the file is read and authenticated to its end, as for a restore. The command names any damage, and \
      then the exit code is 65; it is 75 if nobody gives a password, so that only its length could be checked.
      """)

  @Flag(help: "Check an existing backup: ask for one of its passwords, read it to its end, and write nothing.")
  var check = false

  @Flag(help: "Check with a recovery code instead of a password.")
  var recovery = false

  @Flag(help: "Replace an existing file; a backup of another vault only after a question.")
  var force = false

  @Argument(
    help: ArgumentHelp(
      "The file to write, where - is standard output; or the backup to check, where - is standard input.",
      valueName: "file"), completion: .file())
  var file: String

  @OptionGroup var secrets: SecretOptions
  @OptionGroup var globals: Globals

  @Argument(help: .hidden) var unexpected: [String] = []

  func validate() throws {
    if check {
      try Refused.secretArguments(unexpected, of: self)
      if force { throw ValidationError("--check writes nothing, so there is nothing for --force to replace") }
      if file == "-" && secrets.passwordStdin {
        throw ValidationError("standard input cannot supply both the backup and the password; name the backup's file")
      }
      return
    }
    if recovery || secrets.passwordStdin {
      throw ValidationError("--recovery and --password-stdin are for --check; making a backup needs no secret")
    }
    // The words may be a secret all the same, so the message does not repeat them.
    if !unexpected.isEmpty { throw ValidationError("a backup goes to one file; name only that") }
    if file == "-" && globals.json {
      throw ValidationError("the backup goes to standard output, so --json cannot; give one of them")
    }
  }

  func run() throws {
    if check { return try BackupChecking(file, secrets, recovery: recovery, globals).run() }
    if file == "-" {
      if Output.isTerminal {
        throw Failure(.usage, "a backup is not for a terminal", "redirect standard output, or name a file")
      }
    } else {
      try NewFile.check(file, replaces: force, reading: ["-"])
    }
    let session = try Session(globals)
    if force, file != "-" { try ReplacedBackup.check(file, session) }
    let room = try BackupRoom(for: file, session)
    try room?.check()
    var unchecked: [String] = []
    let size = try session.unlocking(for: "vault backup", isLong: true) { vault in
      file == "-" ? try copy(vault, room, &unchecked) : try write(vault, room, &unchecked)
    }
    if !unchecked.isEmpty {
      let parts = unchecked.map { Printable.text($0) }.joined(separator: ", ")
      Output.note(
        "not checked, because their keys are not in memory: \(parts); unlock the vault to have all of it checked")
    }
    if globals.json {
      try Output.json { object in
        object.add("file", file)
        object.add("size", size)
        if !unchecked.isEmpty { object.add("unchecked", unchecked) }
      }
    } else if Keyboard.isAttended {
      Output.note("the backup is made, \(Counted.size(size)); \(Hint.vault("restore")) makes a vault from it")
    }
  }

  private func copy(_ vault: Vault, _ room: BackupRoom?, _ unchecked: inout [String]) throws -> Int {
    try vault.backup(
      begin: { size in try room?.check(size) }, told: { unchecked = $0 },
      write: { bytes in try Output.write(bytes) }, keep: { try Output.awaitTaken() })
  }

  private func write(_ vault: Vault, _ room: BackupRoom?, _ unchecked: inout [String]) throws -> Int {
    try NewFile.write(file, replaces: force) { target, cancellation in
      var bar = ProgressBar("backing up", of: 0)
      var done = 0
      return try vault.backup(
        cancellation: cancellation,
        begin: { size in
          try room?.check(size)
          bar = ProgressBar("backing up", of: size)
        }, told: { unchecked = $0 },
        write: { bytes in
          try target.write(bytes)
          done += bytes.byteCount
          bar.show(done)
        }, keep: { try target.sync() })
    }
  }
}
