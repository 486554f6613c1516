internal import ArgumentParser
internal import VaultModel
internal import VaultWire

/// The options of an export to a file.
struct ExportOptions: ParsableArguments {
  @Option(
    name: [.customShort("o"), .long],
    help: ArgumentHelp("Write to this new file, with mode 0600, instead of standard output.", valueName: "file"),
    completion: .file())
  var output: String?

  @Flag(help: "Write the values in the clear: for env and json, and for bitwarden-json without a password.")
  var plaintext = false

  @Option(
    help: ArgumentHelp("Write what the file does not hold to this new file, without values.", valueName: "file"),
    completion: .file())
  var report: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The memory with which Argon2id makes the key of the password, 16m to 1g; 64m otherwise.", valueName: "size"),
    transform: Sizes.parse)
  var kdfMemory: Int?

  @OptionGroup var secrets: SecretOptions

  func validate() throws {
    if let kdfMemory, !ExportOrder.memories.contains(kdfMemory >> 20) {
      throw ValidationError("--kdf-memory is out of range; give 16m to 1g")
    }
    if output?.isEmpty == true { throw ValidationError("--output is empty; name a new file") }
    if report?.isEmpty == true { throw ValidationError("--report is empty; name a new file") }
    if let report, report == output { throw ValidationError("--output and --report name the same file") }
  }

  /// The options that are given and that only an export to a file has.
  var ofFiles: [String] {
    let all = [
      ("--output", output != nil), ("--plaintext", plaintext), ("--report", report != nil),
      ("--kdf-memory", kdfMemory != nil), ("--password-stdin", secrets.passwordStdin),
    ]
    return all.filter(\.1).map(\.0)
  }

  /// The place of the file. A `-` is standard output.
  var target: ExportTarget { output.map { $0 == "-" ? .output : .file($0) } ?? .output }

  /// Checks what goes with a format.
  func check(_ format: FileFormat, json: Bool, isTrial: Bool) throws {
    switch format {
    case .kdbx:
      if plaintext { throw ValidationError("a KeePass database is always encrypted; leave --plaintext out") }
    case .bitwarden: break
    case .env, .json:
      guard plaintext else {
        throw ValidationError(
          "\(format.rawValue) holds every value in the clear; add --plaintext to allow that, or choose kdbx")
      }
    }
    if !format.hasPassword(isPlain: plaintext), secrets.passwordStdin || kdfMemory != nil {
      let option = secrets.passwordStdin ? "--password-stdin" : "--kdf-memory"
      throw ValidationError("\(option) is for a file that has a password")
    }
    if json, !isTrial, case .output = target {
      throw ValidationError("the export goes to standard output, so --json cannot; name a file with --output")
    }
  }
}
