internal import ArgumentParser
internal import VaultModel

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

  func validate() throws { try Purpose.check(reason) }
}

/// The words of `--reason`.
enum Purpose {
  /// Refuses words that say nothing, and those that the daemon would cut: what is cut off may be what matters.
  static func check(_ words: String?) throws {
    guard let words else { return }
    guard words.contains(where: { !$0.isWhitespace }) else {
      throw ValidationError("--reason is empty; say in a few words what the item is for, or leave --reason out")
    }
    let (count, longest) = (Printable.line(words).count, AuditEntry.longestPurpose)
    guard count <= longest else {
      throw ValidationError("--reason has \(count) characters, and at most \(longest) are kept; say it in fewer")
    }
  }
}
