internal import VaultModel

/// The time since the last backup that the daemon knows of.
struct BackupAge {
  /// The age in seconds from which on it is time for another one.
  static let old: Int64 = 30 * 86_400

  private let time: Int64
  private let now: Int64

  /// - Parameter time: its time as the daemon tells it, Unix seconds; 0 for none.
  init(_ time: Int64, now: Int64) { (self.time, self.now) = (time, now) }

  private var isKnown: Bool { time > 0 }

  /// Nil where none is known.
  private var seconds: Int64? { isKnown ? max(0, Seconds.from(time, to: now)) : nil }

  /// As `vault status` shows it.
  var text: String { isKnown ? StatusCommand.moment(time, now: now) : "never; `vault backup` makes one" }

  /// As `vault doctor` judges it.
  var diagnosis: Diagnosis {
    let fix = "`vault backup FILE` makes one, and `vault backup --check FILE` reads it"
    guard let seconds else { return .warn("backup", "none of this vault is known", fix: fix) }
    let text = "the last one is \(Seconds.format(seconds)) old"
    return seconds > Self.old ? .warn("backup", text, fix: fix) : .ok("backup", text)
  }
}
