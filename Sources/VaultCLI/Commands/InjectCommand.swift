internal import ArgumentParser
internal import Glibc

struct InjectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inject",
    abstract: "Write a file from a template, with items in their places.",
    discussion: #"""
      The template says {{ vault "homebridge/pin" }}, or {{ vault "wifi/home" | field "ssid" | json }}; json, shell, \#
      base64 and yaml make a value a whole string or word of their kind, quotes and all. {{ "{{" }} is two braces. \#
      All items are fetched before anything is written.
      """#)

  @Option(
    name: [.customShort("i"), .customLong("input")],
    help: ArgumentHelp("The template; standard input unless given.", valueName: "path"), completion: .file())
  var input = "-"

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp(
      "The file to write, which is replaced as a whole; standard output unless given.", valueName: "path"),
    completion: .file())
  var output: String?

  @Option(
    help: ArgumentHelp("The mode of the file in octal; 0600 unless given.", valueName: "mode"), transform: Self.mode)
  var mode: mode_t?

  @Option(
    help: ArgumentHelp(
      "Do all of it as this user, whose the file then is: a name, or numbers such as 997:993. Only root may.",
      valueName: "user"))
  var owner: String?

  @Flag(help: "Stay, and write the file again when an item or the template changes.")
  var watch = false

  @Option(help: ArgumentHelp("With --watch: run this after each writing.", valueName: "command"))
  var exec: String?

  @Flag(help: "With --watch: take what another program changes in the file, but for values, into the template.")
  var adopt = false

  @Flag(
    help: "With --watch: write over what another program has written and was not adopted; it stays beside the file.")
  var overwrite = false

  @OptionGroup var fetch: FetchOptions

  @OptionGroup var globals: Globals

  mutating func validate() throws {
    if output == "-" { output = nil }
    if output == nil && mode != nil { throw ValidationError("--mode is for a file; give -o too") }
    if watch, let mode, mode & 0o400 == 0 {
      throw ValidationError("with --watch the file's owner has to be able to read it, as with 0400")
    }
    if watch && (output == nil || input == "-") { throw ValidationError("--watch is for two files; give -i and -o") }
    if !watch && (exec != nil || adopt || overwrite) {
      throw ValidationError("--exec, --adopt and --overwrite go with --watch")
    }
    if output == nil && owner != nil { throw ValidationError("--owner is for a file; give -o too") }
  }

  private static func mode(_ text: String) throws -> mode_t {
    guard (1...4).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x37).contains($0) }),
      let mode = mode_t(text, radix: 8), mode <= 0o777
    else { throw ValidationError("a mode is written in octal, such as 0640, and at most 0777") }
    return mode
  }

  func run() throws {
    // The change of user comes before any file is opened.
    if let owner { try Owner.become(owner) }
    let request = InjectRequest(
      input: input, output: output.map { OutputFile(path: $0, mode: mode ?? 0o600, isModeChosen: mode != nil) },
      fetch: fetch.fetch)
    // Root starts no daemon for another user.
    let session = try Session(globals, startsDaemon: owner == nil)
    guard watch, let output = request.output else { return try request.run(session, json: globals.json) }
    let ways = Keeper.Ways(adopts: adopt, overwrites: overwrite)
    let keeper = try Keeper(request, output, session, command: exec, ways, json: globals.json)
    try keeper.work()
  }
}
