internal import VaultModel

/// The reader of the words about an error, as far as the words depend on the reader.
public struct FaultReader: Sendable {
  /// True if the reader works on the machine's vault: commands are then advised with `--system`.
  let isSystem: Bool
  /// True for a person at a terminal, to whom the daemon put its questions.
  let isAttended: Bool
  /// The time by the reader's clock, in Unix seconds.
  let now: Int64
  /// Writes Unix seconds as the reader expects them.
  let date: @Sendable (Int64) -> String

  public init(isSystem: Bool, isAttended: Bool, now: Int64, date: @escaping @Sendable (Int64) -> String) {
    (self.isSystem, self.isAttended, self.now, self.date) = (isSystem, isAttended, now, date)
  }

  /// A program that passes the words on. It works on its own user's vault, and doubts no clock.
  public static let program = FaultReader(isSystem: false, isAttended: false, now: .max) { Timestamp.format($0) }

  /// The advice for a caller without the right for a call.
  public var askOwner: String { isSystem ? "ask an administrator" : "ask the owner of the vault" }

  /// A command with its arguments.
  public func line(_ words: String) -> String { isSystem ? "vault --system \(words)" : "vault \(words)" }

  /// A command with its arguments, between backticks.
  public func command(_ words: String) -> String { "`\(line(words))`" }

  /// The daemon's own advice, in which commands stand between backticks, made safe for a terminal.
  public func text(_ advice: String) -> String {
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
