internal import ArgumentParser

struct TOTPCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "totp",
    abstract: "Print the one-time code of a totp item.",
    discussion: """
      The daemon computes the code, so the secret behind it stays in the daemon. On a terminal the command also shows \
      how many seconds the code has left; elsewhere it prints the code alone. A counter-based code (otpauth://hotp) \
      advances the counter.
      """)

  @Argument(help: ArgumentHelp("The item.", valueName: "name"), completion: ItemNames.completion)
  var name: String

  @OptionGroup var waiting: WaitOptions

  @Flag(
    name: .shortAndLong,
    help: "Put the code on the clipboard instead of printing it; a desktop's is cleared after 45 seconds.")
  var clip = false

  @Flag(help: "Show each code when its time comes, until interrupted.")
  var watch = false

  @Flag(help: "Also make a code from a secret that has expired.")
  var expired = false

  @OptionGroup var globals: Globals

  func validate() throws {
    if clip && globals.json { throw ValidationError("--clip and --json exclude each other; give one of them") }
    if clip && watch { throw ValidationError("--clip and --watch exclude each other; give one of them") }
  }

  func run() throws { try CodeRequest(self).run() }
}
