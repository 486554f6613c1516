/// Problems of the store that both ends of the socket recognize by their text.
public enum StoreProblem {
  /// The file system has no room for a change.
  public static let diskFull = "cannot write vault.db: disk full"

  /// A required entry of the audit log cannot be written.
  public static func unrecorded(_ reason: String) -> String {
    "the audit log, which is required, cannot be written: \(reason)"
  }

  /// A required entry cannot be written, because nothing is written to a store that has failed its check.
  public static let unrecordedInFailed = unrecorded("the store has failed its check")

  /// The files of the store were moved to another folder, all together, while the daemon has them open.
  public static let moved = "the store was moved while vaultd has it open"

  private static let look = "cannot look at "

  /// The system does not let the daemon look at the name of an open file of the store.
  ///
  /// - Parameter reason: the system's text for its error.
  public static func hidden(_ name: String, _ reason: String) -> String { "\(look)\(name): \(reason)" }

  /// The effect of ``moved`` or ``hidden(_:_:)``, and the end of that effect; nil for any other text.
  public static func effect(of text: String) -> String? {
    if text == moved { return "vaultd locks the vault and ends; move the store back, or start vaultd where it is now" }
    return text.hasPrefix(look) ? "nothing is written until vaultd can see it again; vaultd looks each time" : nil
  }
}
