internal import VaultModel
internal import VaultWire

/// The integrity of the records as a whole, in words.
enum Integrity {
  static func text(_ integrity: Wire.Integrity) -> String {
    switch integrity.state {
    case "ok": "all records are as they were written"
    case "checking": "being checked, \(percent(integrity))"
    case "unchecked": "not checked yet; the next unlock does"
    case "failed": Style.red("something is wrong, and nothing is written any more; see `vault verify`")
    default: Printable.text(integrity.state)
    }
  }

  /// The progress of a check, as a bar on a person's terminal.
  static func bar(_ what: String, _ integrity: Wire.Integrity, _ unit: String) -> String {
    let done = max(0, integrity.done ?? 0)
    return ProgressBar.text(what, done, of: integrity.of ?? 1, ", \(done) \(unit)")
  }

  /// The progress of a check.
  static func percent(_ integrity: Wire.Integrity) -> String {
    "\(Int(100 * ProgressBar.share(integrity.done ?? 0, of: integrity.of ?? 1))) %"
  }
}
