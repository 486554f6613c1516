internal import Glibc
internal import VaultClient
internal import VaultWire

/// The commands that a message advises, in the form that the reader must type.
///
/// All advice is made here: a command on the machine's vault is advised with `--system`. Without that option, the
/// advice would be about the user's own vault.
enum Hint {
  /// True if this run works on the machine's vault.
  static let isSystem = isSystem(CommandLine.arguments, variable: Environment.variable("VAULT_SOCKET"))

  /// Returns true if a command line asks for the machine's vault: by `--system`, or by its socket in `--socket` or
  /// `VAULT_SOCKET`. The words after `--` belong to another program.
  ///
  /// - Parameter variable: the value of `VAULT_SOCKET`, over which `--socket` takes precedence.
  static func isSystem(_ arguments: [String], variable: String? = nil) -> Bool {
    let words = arguments.dropFirst().prefix { $0 != "--" }
    if words.contains("--system") { return true }
    let (option, joined) = ("--socket", "--socket=")
    let next = words.firstIndex(of: option).flatMap { words[($0 + 1)...].first }
    let path = next ?? words.first { $0.hasPrefix(joined) }.map { String($0.dropFirst(joined.count)) }
    return (path ?? variable) == SocketLocation.systemPath
  }

  /// True if this run names the socket of its daemon.
  static let namesSocket =
    Environment.variable("VAULT_SOCKET") != nil
    || CommandLine.arguments.prefix { $0 != "--" }.contains { $0 == "--socket" || $0.hasPrefix("--socket=") }

  /// The reader of this program's messages: the user of this run.
  static func reader(isSystem: Bool = isSystem) -> FaultReader {
    FaultReader(isSystem: isSystem, isAttended: Keyboard.isAttended, now: Int64(time(nil))) {
      LocalTime.text($0, to: STDERR_FILENO)
    }
  }

  /// A command with its arguments, between backticks.
  static func vault(_ words: String) -> String { reader().command(words) }

  /// A command with its arguments.
  static func line(_ words: String, isSystem: Bool = isSystem) -> String { reader(isSystem: isSystem).line(words) }

  /// The daemon's own advice, in which commands stand between backticks, made safe for a terminal.
  static func text(_ advice: String, isSystem: Bool = isSystem) -> String { reader(isSystem: isSystem).text(advice) }
}
