internal import VaultModel

/// The use of the fingerprint reader by the checks of prompts. The times are in `CLOCK_MONOTONIC` nanoseconds.
struct ReaderUse {
  /// The prompt that was the first to use the reader since it was free.
  weak var first: PresencePrompt?
  /// The user of that prompt.
  var user: UInt32?
  /// The time at which that prompt began its check.
  var taken = Int64.min / 2
  /// The time of the last sign of a person at that prompt, or that of its beginning. Signs at prompts that began later
  /// do not count: many prompts, one after the other, would keep the reader for ever.
  var lastSign = Int64.min / 2
  /// The time at which a check at the reader was last cut off.
  var left = Int64.min / 2
  /// Cancels the timer after which a prompt that waits begins.
  var turn: Timer.Cancel?
}
