internal import ArgumentParser

/// The options of commands that fetch items for another program or file, with the same meaning as for `vault get`.
struct FetchOptions: ParsableArguments {
  @OptionGroup var waiting: WaitOptions

  @Flag(help: "Also take a value that has expired.")
  var expired = false

  /// The options as a ``Fetch``.
  var fetch: Fetch { Fetch(waitSeconds: waiting.wait, reason: waiting.reason, expired: expired) }
}
