internal import ArgumentParser
internal import VaultBytes
internal import VaultClient
internal import VaultWire

struct GenerateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate",
    abstract: "Print a new password or phrase, and store nothing.",
    discussion: "The daemon generates it, as for `vault set --generate`. A newline is added only for a terminal.")

  @Argument(
    help: ArgumentHelp(
      "One of \(GeneratedStyle.printed.map(\.rawValue).joined(separator: ", ")); the first by default.",
      valueName: "style"),
    completion: .list(GeneratedStyle.printed.map(\.rawValue)), transform: GenerateCommand.style)
  var chosen: GeneratedStyle?

  private var style: GeneratedStyle { chosen ?? GeneratedStyle.printed[0] }

  private static func style(_ text: String) throws -> GeneratedStyle {
    guard let style = GeneratedStyle(rawValue: text) else {
      if Mistake.isLength(text) { throw ValidationError("a length is given with --length \(text)") }
      let names = GeneratedStyle.printed.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("give one of \(names); \(Hint.vault("set NAME --generate")) makes the value of an item")
    }
    if style.isKey {
      throw ValidationError("a key stays in the vault: \(Hint.vault("set --generate \(text) --use …"))")
    }
    return style
  }

  @OptionGroup var recipe: RecipeOptions

  @Flag(
    name: .shortAndLong,
    help: "Put the result on the clipboard instead of printing it; a desktop's is cleared after 45 seconds."
  )
  var clip = false

  @OptionGroup var globals: Globals

  func validate() throws {
    if clip && globals.json { throw ValidationError("--clip and --json exclude each other; give one of them") }
    try recipe.check(style)
  }

  func run() throws {
    let session = try Session(globals)
    let value = try generated(session)
    if clip { return Output.note(try Clipboard.put(value)) }
    if globals.json {
      return try Output.json { object in value.withBytes { object.add(content: $0) } }
    }
    try value.withBytes { bytes in try Output.write(bytes) }
    if Output.isTerminal { try Output.text("\n") }
  }

  private func generated(_ session: Session) throws(Failure) -> SecretBuffer {
    do throws(Failure) { return try session.call { vault in try vault.generate(recipe.recipe(style)) } } catch {
      throw recipe.explained(error, style)
    }
  }
}
