internal import ArgumentParser
internal import VaultModel

struct EditCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit",
    abstract: "Change an item's value in an editor.",
    discussion: """
      $VISUAL or $EDITOR gets a file of the value, which lies in memory, in a folder of yours alone, and is removed \
      when it ends. What is unchanged is not stored. What an editor copies elsewhere, it leaves there: see vault(1).
      """)

  @Argument(help: ArgumentHelp("The item.", valueName: "name"), completion: ItemNames.completion)
  var name: String

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Make the item one of this kind; a key keeps its own.", valueName: "kind"),
    completion: .list(ItemKind.allCases.map(\.rawValue)), transform: Words.kind)
  var kind: String?

  @Flag(help: "Replace the value also by an empty one.")
  var allowEmpty = false

  @Flag(help: "Also edit a value that has expired.")
  var expired = false

  @OptionGroup var globals: Globals

  func run() throws { try EditRequest(self).run() }
}
