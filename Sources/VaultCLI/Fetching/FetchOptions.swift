internal import ArgumentParser

/// The options of the commands that fetch items for somebody else, with the meaning that they have for `vault get`.
struct FetchOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Wait that long for an unlock, or with --reason for an approval, such as 30s or 5m.", valueName: "duration"),
    transform: Sizes.wait)
  var wait: Int64?

  @Option(
    help: ArgumentHelp(
      "What it is for: without a grant, an administrator is asked, see `vault requests`.", valueName: "text"))
  var reason: String?

  @Flag(help: "Also take a value that has expired.")
  var expired = false

  /// The same as a value.
  var fetch: Fetch { Fetch(waitSeconds: wait, reason: reason, expired: expired) }
}
