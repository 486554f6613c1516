internal import ArgumentParser
internal import VaultModel

struct GetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Print an item's value, byte for byte.",
    discussion: """
      A newline is added only for a terminal. On a terminal a locked vault is unlocked first. Elsewhere an agent asks \
      for the unlock; without an agent the command ends at once with exit code 75, or waits with --wait.
      """)

  @Argument(help: ArgumentHelp("The item.", valueName: "name"), completion: ItemNames.completion)
  var name: String

  @Option(
    help: ArgumentHelp(
      """
      Print this field instead of the value: an attribute, or one of \(ItemField.names); attr:NAME is always the \
      attribute of that name.
      """, valueName: "field"),
    completion: Completes.field.kind)
  var field: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Print an earlier version of the value; see `vault history`.", valueName: "number"))
  var version: Int?

  @OptionGroup var waiting: WaitOptions

  @Flag(
    name: .shortAndLong,
    help: "Put the value on the clipboard instead of printing it; a desktop's is cleared after 45 seconds.")
  var clip = false

  @Flag(help: "Draw a QR code for a phone, which joins the network of a wifi item or makes the codes of a totp item.")
  var qr = false

  @Flag(help: "Also print a value that has expired.")
  var expired = false

  @Flag(help: "Print a value to a terminal even if it is not text.")
  var force = false

  @OptionGroup var globals: Globals

  func validate() throws {
    if let version, version < 1 { throw ValidationError("versions are counted from 1") }
    if version != nil, let field, !ItemField.ofVersions.contains(field) {
      throw ValidationError(
        "--version is for the value, and the field \(Printable.quoted(field)) is that of the item as it is now; "
          + "see \(Hint.vault("history"))")
    }
    if clip && globals.json { throw ValidationError("--clip and --json exclude each other; give one of them") }
    if qr && (clip || globals.json || field != nil) {
      throw ValidationError("--qr excludes --clip, --json and --field; give one of them")
    }
  }

  /// The request that the command line describes.
  var request: GetRequest {
    var request = GetRequest(name: name, socket: globals.socket, system: globals.system, json: globals.json)
    request.field = field
    request.version = version
    request.waitSeconds = waiting.wait
    request.reason = waiting.reason
    request.clip = clip
    request.qr = qr
    request.expired = expired
    request.force = force
    return request
  }

  func run() throws { try request.run() }
}
