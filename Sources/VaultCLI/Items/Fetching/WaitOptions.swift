internal import ArgumentParser

/// The options of commands that may have to wait for a person.
struct WaitOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Wait this long for an unlock, or with --reason for an approval, such as 30s or 5m.", valueName: "duration"),
    transform: Times.wait)
  var wait: Int64?

  @Option(
    help: ArgumentHelp(
      "The purpose; if no grant gives you the item, an administrator is asked, see `vault requests`.", valueName: "text"
    ))
  var reason: String?
}
