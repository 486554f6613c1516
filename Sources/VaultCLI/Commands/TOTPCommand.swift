internal import ArgumentParser

struct TOTPCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "totp",
    abstract: "Print the one-time code of a totp item.",
    discussion: """
      The daemon computes it: the secret behind it stays there. On a terminal the seconds that are left of it are \
      shown beside it; elsewhere it is printed alone. A code by a counter (otpauth://hotp) moves that on.
      """)

  @Argument(help: ArgumentHelp("The item.", valueName: "name"), completion: ItemNames.completion)
  var name: String

  @OptionGroup var waiting: WaitOptions

  @Flag(
    name: .shortAndLong, help: "Put the code on the clipboard instead of printing it; it is cleared after 45 seconds.")
  var clip = false

  @Flag(help: "Show each code as its time comes, until interrupted.")
  var watch = false

  @Flag(help: "Also make a code of a secret that has expired.")
  var expired = false

  @OptionGroup var globals: Globals

  func validate() throws {
    if clip && globals.json { throw ValidationError("--clip and --json exclude each other; give one of them") }
    if clip && watch { throw ValidationError("--clip and --watch exclude each other; give one of them") }
  }

  func run() throws { try CodeRequest(self).run() }
}
