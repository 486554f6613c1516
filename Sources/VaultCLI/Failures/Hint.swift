internal import VaultModel

/// The commands that a message advises, in the form that the reader must type.
///
/// All advice is made here: a command on the machine's vault is advised with `--system`. Without that option, the
/// advice would be about the user's own vault.
enum Hint {
  /// True if this run works on the machine's vault.
  private static let isSystem = isSystem(CommandLine.arguments)

  /// Returns true if a command line has the option `--system` before `--`; the words behind `--` belong to another
  /// program.
  static func isSystem(_ arguments: [String]) -> Bool {
    arguments.dropFirst().prefix { $0 != "--" }.contains("--system")
  }

  /// A command with its arguments, between backticks.
  static func vault(_ words: String) -> String { "`\(line(words))`" }

  /// A command with its arguments.
  static func line(_ words: String, isSystem: Bool = isSystem) -> String {
    isSystem ? "vault --system \(words)" : "vault \(words)"
  }

  /// The daemon's own advice, in which commands stand between backticks, made safe for a terminal.
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
