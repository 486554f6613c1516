internal import VaultModel

/// The time since the last backup that the daemon knows of.
struct BackupAge {
  /// The age in seconds after which a new backup is due.
  static let old: Int64 = 30 * 86_400

  private let time: Int64
  private let now: Int64

  /// - Parameter time: the time of the last backup as the daemon reports it, in Unix seconds; 0 if there is none.
  init(_ time: Int64, now: Int64) { (self.time, self.now) = (time, now) }

  private var isKnown: Bool { time > 0 }

  /// The age of the last backup in seconds; nil if no backup is known.
  private var seconds: Int64? { isKnown ? max(0, Seconds.from(time, to: now)) : nil }

  /// The age as `vault status` shows it.
  var text: String { isKnown ? StatusCommand.moment(time, now: now) : "never; \(Hint.vault("backup FILE")) makes one" }

  /// The verdict of `vault doctor` on the age.
  var diagnosis: Diagnosis {
    let fix =
      "\(Hint.vault("backup FILE")) makes one, and \(Hint.vault("backup --check FILE")) checks it with its password"
    guard let seconds else { return .warn("backup", "no backup of this vault is known", fix: fix) }
    let text = "the last one is \(Seconds.format(seconds)) old"
    return seconds > Self.old ? .warn("backup", text, fix: fix) : .ok("backup", text)
  }
}
