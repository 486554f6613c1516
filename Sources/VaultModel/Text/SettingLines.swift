/// The lines of a settings file: `key = value`, each key once. Blank lines and lines that begin with `#` are ignored.
public enum SettingLines {
  /// A line that cannot be followed.
  public struct Problem: Error, Equatable, Sendable {
    /// The number of the line, counted from 1.
    public let line: Int
    public let reason: String

    public init(line: Int, reason: String) { (self.line, self.reason) = (line, reason) }
  }

  /// Passes each setting to `set`, in their order.
  ///
  /// - Parameter set: Stores a setting; returns the reason when its value is wrong or its key is unknown.
  public static func read(_ text: String, set: (_ key: String, _ value: String) -> String?) throws(Problem) {
    var seen: Set<String> = []
    // A CR LF is one Character, so the text is split at every kind of line end.
    for (index, raw) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      let line = trim(raw)
      if line.isEmpty || line.hasPrefix("#") { continue }
      guard let equals = line.firstIndex(of: "=") else {
        throw Problem(line: index + 1, reason: "expected `key = value`")
      }
      let key = String(trim(line[..<equals]))
      guard seen.insert(key).inserted else { throw Problem(line: index + 1, reason: "\(key) is set twice") }
      if let reason = set(key, String(trim(line[line.index(after: equals)...]))) {
        throw Problem(line: index + 1, reason: reason)
      }
    }
  }

  /// The reason to refuse an unknown key, with the setting that may have been meant.
  public static func unknown(_ key: String, among keys: [String]) -> String {
    let nearest = Nearest.names(to: key, among: keys, most: 1).first.map { "; did you mean `\($0)`?" }
    return "unknown setting \(Printable.quoted(key))" + (nearest ?? "")
  }

  private static func trim(_ text: Substring) -> Substring {
    var rest = text
    while let first = rest.first, first == " " || first == "\t" { rest.removeFirst() }
    while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
    return rest
  }
}
