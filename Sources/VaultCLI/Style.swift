internal import Glibc

/// Colour and weight, on a terminal that wants them.
///
/// See https://no-color.org: a `NO_COLOR` that is set and not empty turns them off.
enum Style {
  static func bold(_ text: String) -> String { wrap(text, "1") }
  static func green(_ text: String) -> String { wrap(text, "32") }
  static func yellow(_ text: String) -> String { wrap(text, "33") }
  static func red(_ text: String) -> String { wrap(text, "31") }

  /// The beginning of every sequence.
  static let escape: Unicode.Scalar = "\u{1B}"

  /// All that is ever written, so that ``Printable`` can tell it from what came from elsewhere.
  static let sequences = ["0", "1", "31", "32", "33"].map { "\u{1B}[\($0)m".unicodeScalars }

  private static func wrap(_ text: String, _ code: String) -> String {
    isWanted ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }

  private static let isWanted: Bool =
    Output.isTerminal && (Environment.variable("NO_COLOR") ?? "").isEmpty && Environment.variable("TERM") != "dumb"
}

/// The program's environment.
enum Environment {
  /// The value of a variable, or nil when it is not set.
  static func variable(_ name: String) -> String? {
    // Copied at once: what becomes another user's program changes its environment.
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }
}
