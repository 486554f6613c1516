internal import Glibc
internal import VaultClient
internal import VaultWire

/// Sentences about the times for which the audit log cannot tell who read what.
enum AuditGap {
  /// Returns a sentence for each reason.
  static func texts(_ gaps: Wire.AuditGaps?, _ session: Session) throws(Failure) -> [String] {
    guard let gaps else { return [] }
    let setting = gaps.off == true ? try session.call { vault in try vault.status() }.audit : nil
    return texts(gaps, areOff: setting == "off")
  }

  /// - Parameter areOff: true if the log is off now, which only administrators are told.
  static func texts(_ gaps: Wire.AuditGaps, areOff: Bool) -> [String] {
    var texts: [String] = []
    if let begin = gaps.begin {
      let time = LocalTime.text(begin, to: STDERR_FILENO)
      texts.append("the audit log was cut: reads before \(time) may not be known")
    }
    if gaps.off == true {
      texts.append(
        areOff
          ? "the audit log is off: reads are not recorded meanwhile"
          : "the audit log was off for a time: reads during that time are not known")
    }
    for restore in gaps.restores ?? [] {
      let until = LocalTime.text(restore.until, to: STDERR_FILENO)
      let times = restore.since.map { "between \(LocalTime.text($0, to: STDERR_FILENO)) and \(until)" }
      texts.append(
        "the vault was restored from a backup on \(until): reads \(times ?? "before that") are not known")
    }
    if gaps.lost == true { texts.append("the audit log has lost entries: some reads may not be known") }
    return texts
  }
}
