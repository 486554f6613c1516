package import VaultModel

/// The times after which prompts of programs end as dismissed.
package struct PromptLimits: Sendable, Equatable {
  /// The programs that people run over ssh and from timers, so that perhaps nobody is there to answer.
  private static let impatient: [String: Int64?] = [
    "secret-tool": 120, "git-credential-libsecret": 120, "docker-credential-secretservice": 120,
  ]

  /// The time for all programs, in seconds; nil for none.
  private var usual: Int64?
  /// The times for single programs, by their file names.
  private var ofPrograms = Self.impatient

  package init() {}

  /// Reads a setting: a time for all programs, and `PROGRAM=TIME` for one, separated by blanks; `off` for none.
  ///
  /// - Throws: the reason why the setting is wrong.
  package init(parsing text: String) throws(ValueError) {
    for word in text.split(separator: " ") {
      let parts = word.split(separator: "=", omittingEmptySubsequences: false)
      guard let last = parts.last, let limit = Self.limit(last), parts.count <= 2 else {
        throw ValueError(reason: "write a time as 90s, 2m or off, alone or after PROGRAM=")
      }
      if parts.count == 1 {
        usual = limit
      } else {
        guard !parts[0].isEmpty, !parts[0].utf8.contains(UInt8(ascii: "/")) else {
          throw ValueError(reason: "name a program by its file name, without a folder")
        }
        ofPrograms[String(parts[0])] = limit
      }
    }
  }

  /// Reads a time; nil if the text is no time.
  private static func limit(_ text: Substring) -> Int64?? {
    if text == "off" { return .some(nil) }
    guard let seconds = Seconds.parse(String(text)), seconds > 0 else { return nil }
    return .some(seconds)
  }

  /// The nanoseconds after which a prompt of a program ends; nil for none.
  ///
  /// - Parameter executable: the path of the file that the program's process runs; nil if it is not known.
  package func limit(of executable: String?) -> Int64? {
    let file = executable?.split(separator: "/").last.map(String.init)
    guard let seconds = file.flatMap({ ofPrograms[$0] }) ?? usual else { return nil }
    let (nanoseconds, isTooMany) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return isTooMany ? nil : nanoseconds
  }
}
