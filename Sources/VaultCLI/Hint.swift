internal import VaultModel

/// The commands that a message advises, as whoever reads it has to type them.
///
/// All advice is made here: what was asked of the machine's vault is advised with `--system` again, which would otherwise be about
/// the user's own.
enum Hint {
  /// True where this run was asked of the machine's vault.
  private static let isSystem = isSystem(CommandLine.arguments)

  /// True where a command line has the option, and not the other program that it may run.
  static func isSystem(_ arguments: [String]) -> Bool {
    arguments.dropFirst().prefix { $0 != "--" }.contains("--system")
  }

  /// A command with its words, between backticks.
  static func vault(_ words: String) -> String { "`\(line(words))`" }

  /// A command with its words.
  static func line(_ words: String, isSystem: Bool = isSystem) -> String {
    isSystem ? "vault --system \(words)" : "vault \(words)"
  }

  /// A daemon's own advice, in which commands stand between backticks, made harmless for a terminal.
  static func text(_ advice: String, isSystem: Bool = isSystem) -> String {
    let (mark, option) = ("`vault ", "--system ")
    let text = Printable.text(advice)
    guard isSystem, text.contains(mark) else { return text }
    var parts = text.split(separator: mark, omittingEmptySubsequences: false).map(String.init)
    for index in parts.indices.dropFirst() where !parts[index].hasPrefix(option) {
      parts[index] = option + parts[index]
    }
    return parts.joined(separator: mark)
  }
}
