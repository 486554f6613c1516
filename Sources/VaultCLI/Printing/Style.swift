internal import Glibc

/// Color and weight of text, on a terminal that wants them.
///
/// See https://no-color.org: a `NO_COLOR` that is set and not empty turns them off.
enum Style {
  static func bold(_ text: String) -> String { wrap(text, "1") }
  static func green(_ text: String) -> String { wrap(text, "32") }
  static func yellow(_ text: String) -> String { wrap(text, "33") }
  static func red(_ text: String) -> String { wrap(text, "31") }

  /// The character with which every sequence begins.
  static let escape: Unicode.Scalar = "\u{1B}"

  /// All sequences that this program writes, so that ``Printable`` can tell them from foreign ones.
  static let sequences = ["0", "1", "31", "32", "33"].map { "\u{1B}[\($0)m".unicodeScalars }

  private static func wrap(_ text: String, _ code: String) -> String {
    isWanted ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }

  private static let isWanted: Bool =
    Output.isTerminal && (Environment.variable("NO_COLOR") ?? "").isEmpty && Environment.variable("TERM") != "dumb"
}

/// The program's environment.
enum Environment {
  /// The value of a variable; nil if it is not set.
  static func variable(_ name: String) -> String? {
    // The text is copied at once: a process that becomes another user's program changes its environment.
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }
}
