internal import ArgumentParser

/// The options of the commands that fetch items for somebody else, with the meaning that they have for `vault get`.
struct FetchOptions: ParsableArguments {
  @OptionGroup var waiting: WaitOptions

  @Flag(help: "Also take a value that has expired.")
  var expired = false

  /// The same as a value.
  var fetch: Fetch { Fetch(waitSeconds: waiting.wait, reason: waiting.reason, expired: expired) }
}
