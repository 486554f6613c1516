internal import ArgumentParser
internal import VaultModel

struct EditCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit",
    abstract: "Change an item's value in an editor.",
    discussion: """
      $VISUAL or $EDITOR gets the value in a file, which lies in memory in a folder of your own and is removed when \
      the editor ends. An unchanged value is not stored. If the value cannot be stored, the command asks on a \
      terminal what to do with it. What the editor copies elsewhere is not removed; see vault(1).
      """)

  @Argument(help: ArgumentHelp("The item.", valueName: "name"), completion: ItemNames.completion)
  var name: String

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Change the item to this kind; a key keeps its kind.", valueName: "kind"),
    completion: .list(ItemKind.allCases.map(\.rawValue)), transform: Words.kind)
  var kind: String?

  @Flag(help: "Let even an empty value replace the old one.")
  var allowEmpty = false

  @Flag(help: "Also edit a value that has expired.")
  var expired = false

  @OptionGroup var globals: Globals

  func run() throws {
    var request = EditRequest(self)
    try request.run()
  }
}
