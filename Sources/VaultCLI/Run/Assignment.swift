internal import ArgumentParser
internal import VaultModel

/// The variable and the item of one `-e` option.
struct Assignment: Equatable {
  let name: String
  let item: ItemReference

  init(parsing text: String) throws {
    guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")), VariableName.isValid(text[..<equals].utf8) else {
      throw ValidationError(
        "\(Printable.quoted(text)) is not a variable and an item; write it like OWM_APPID=owm/appid, with only "
          + "letters, digits and _ in the variable")
    }
    name = String(text[..<equals])
    let reference = String(text[text.utf8.index(after: equals)...])
    do throws(ItemReference.Fault) {
      item = try ItemReference(parsing: reference)
    } catch {
      throw ValidationError("`\(Printable.text(reference))` is not the name of an item: \(error.reason)")
    }
  }
}

/// The options that define variables.
struct VariableOptions: ParsableArguments {
  @Option(
    name: [.customShort("e"), .customLong("env")],
    help: ArgumentHelp(
      "A variable and the item whose value it gets, or, with #FIELD after the item, one of its fields.",
      valueName: "name=item"),
    completion: Completes.variable.kind, transform: Assignment.init(parsing:))
  var assignments: [Assignment] = []

  @Option(
    help: ArgumentHelp(
      "Read variables from a .env file, where a value vault:ITEM stands for that item.", valueName: "path"),
    completion: .file())
  var envFile: [String] = []

  func validate() throws {
    if assignments.isEmpty && envFile.isEmpty {
      throw ValidationError("no variable is named; give -e NAME=ITEM or --env-file PATH")
    }
  }
}
