internal import VaultModel
internal import VaultWire

/// The integrity of the store as a whole, in words.
enum Integrity {
  /// The state of the integrity in words.
  ///
  /// - Parameter isCopy: whether the daemon reports that the store is a copy without the last writes.
  static func text(_ integrity: Wire.Integrity, isCopy: Bool = false) -> String {
    switch integrity.state {
    case "ok": isCopy ? "all records are consistent, but may be older copies" : "all records are as they were written"
    case "checking": "being checked, \(percent(integrity))"
    case "unchecked": "not checked yet; the next unlock starts the check"
    case "failed": Style.red("something is wrong, and nothing more is written; see \(Hint.vault("verify"))")
    default: Printable.text(integrity.state)
    }
  }

  /// The daemon's warning that the store is a copy without the last writes; nil if there is none.
  static func copyWarning(_ status: Wire.StatusReply) -> String? {
    status.warnings.first { $0.about == "copy" }.map { Printable.text($0.sentence) }
  }

  /// The daemon's warnings about the check of the store. If a check has failed, the first of them says what is wrong.
  static func warnings(_ status: Wire.StatusReply) -> [Wire.Warning] {
    let warnings = status.warnings.filter { $0.about == "integrity" }
    // An older daemon does not say what is wrong, nor does one whose files are lost.
    guard warnings.isEmpty, status.integrity?.state == "failed" else { return warnings }
    return [
      Wire.Warning(
        about: "integrity", text: "the check of the store found something wrong",
        advice: "\(Hint.vault("verify")) says what it is")
    ]
  }

  /// The progress of a check as a bar, for a person's terminal.
  static func bar(_ what: String, _ integrity: Wire.Integrity, _ unit: String) -> String {
    let done = max(0, integrity.done ?? 0)
    return ProgressBar.text(what, done, of: integrity.of ?? 1, ", \(done) \(unit)")
  }

  /// The progress of a check in percent.
  static func percent(_ integrity: Wire.Integrity) -> String {
    "\(Int(100 * ProgressBar.share(integrity.done ?? 0, of: integrity.of ?? 1))) %"
  }
}
