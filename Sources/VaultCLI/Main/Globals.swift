internal import ArgumentParser

/// The options of every command.
struct Globals: ParsableArguments {
  @Flag(help: "Print JSON: one object, or one on each line if there are many.")
  var json = false

  @OptionGroup var daemon: DaemonOptions

  var socket: String? { daemon.socket }
  var system: Bool { daemon.system }
}

/// The options that select the vault.
struct DaemonOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Use the daemon at this socket instead of the user's own.", valueName: "path"),
    completion: .file())
  var socket: String?

  @Flag(help: "Use the machine's vault instead of the user's.")
  var system = false

  /// The fault of a value of `--socket`; nil if there is none. If a script's variable is empty, the user's own vault
  /// must not answer in place of the intended one.
  static func problem(_ socket: String?) -> String? {
    socket?.isEmpty == true ? "--socket is empty; give the path of a socket, or leave --socket out" : nil
  }

  func validate() throws {
    if let problem = Self.problem(socket) { throw ValidationError(problem) }
    if system && socket != nil { throw ValidationError("--system and --socket exclude each other; give one of them") }
  }
}

/// The options for giving a secret, on every command that asks for secrets.
struct SecretOptions: ParsableArguments {
  @Flag(help: "Read the answers from standard input, one line for each question.")
  var passwordStdin = false
}

/// The cost of Argon2id, on commands that make a slot.
struct CostOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The memory for Argon2id, 19m to 1g, instead of measuring this machine.", valueName: "size"),
    transform: Sizes.parse)
  var kdfMemory: Int?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The passes of Argon2id, 2 to 20, instead of measuring this machine.", valueName: "count"))
  var kdfPasses: Int?

  func validate() throws {
    if let kdfMemory, !(19 << 20...1 << 30).contains(kdfMemory) {
      throw ValidationError("--kdf-memory is out of range; give 19m to 1g")
    }
    if let kdfPasses, !(2...20).contains(kdfPasses) {
      throw ValidationError("--kdf-passes is out of range; give 2 to 20")
    }
  }
}
