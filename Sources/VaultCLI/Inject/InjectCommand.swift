internal import ArgumentParser
internal import Glibc

struct InjectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inject",
    abstract: "Write a file from a template, with items in their places.",
    discussion: #"""
      The template contains {{ vault "homebridge/pin" }}, or {{ vault "wifi/home" | field "ssid" | json }}; json, \#
      shell, base64 and yaml turn a value into a whole string or word of that form, with its quotes. {{ "{{" }} \#
      stands for two braces. All items are fetched before anything is written.
      """#)

  @Option(
    name: [.customShort("i"), .customLong("input")],
    help: ArgumentHelp("The template; standard input by default.", valueName: "path"), completion: .file())
  var input = "-"

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp(
      "The file to write, which is replaced as a whole and is never the template; standard output by default.",
      valueName: "path"),
    completion: .file())
  var output: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The mode of the file, in octal; 0600 by default.", valueName: "mode"), transform: Self.mode)
  var mode: mode_t?

  @Option(
    help: ArgumentHelp(
      "First become this user, who then owns the file: a name, or numbers such as 997:993. Only root may do this.",
      valueName: "user"))
  var owner: String?

  @Flag(help: "Keep running, and write the file again when an item or the template changes.")
  var watch = false

  @Option(help: ArgumentHelp("With --watch: run this command after each write.", valueName: "command"))
  var exec: String?

  @Flag(help: "With --watch: adopt into the template what another program changes outside the values.")
  var adopt = false

  @Flag(
    help: "With --watch: overwrite another program's text that was not adopted; the text is kept beside the file.")
  var overwrite = false

  @OptionGroup var fetch: FetchOptions

  @OptionGroup var globals: Globals

  mutating func validate() throws {
    if output == "-" { output = nil }
    if output == nil && mode != nil { throw ValidationError("--mode is for a file; give -o too") }
    if watch, let mode, mode & 0o400 == 0 {
      throw ValidationError("with --watch the file's owner must be able to read it, as with 0400")
    }
    if watch && (output == nil || input == "-") { throw ValidationError("--watch is for two files; give -i and -o") }
    if !watch && (exec != nil || adopt || overwrite) {
      throw ValidationError("--exec, --adopt and --overwrite need --watch")
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
