/// A line that a person may still be typing for a question that was withdrawn. The line answers no later question, and
/// a later question with echo must not show the rest of it.
struct UnfinishedLine {
  /// The time after the withdrawal in which what is typed still belongs to the withdrawn question, in microseconds: a
  /// person needs that long to notice the withdrawal.
  static let reaction: UInt64 = 2_000_000

  /// True if something was typed that no Enter has ended.
  private(set) var isBegun: Bool
  /// True once an Enter has ended the line.
  private(set) var isEnded = false
  private var since: UInt64

  init(isBegun: Bool, since: UInt64) { (self.isBegun, self.since) = (isBegun, since) }

  /// The line of a question for which nothing is typed: a person who types something means an earlier question.
  ///
  /// - Parameter before: the line of the earlier question, if it may still be typed.
  init(isBegun: Bool, after before: UnfinishedLine?) { self.init(isBegun: isBegun, since: before?.since ?? 0) }

  /// Takes the byte of a key that was typed at the time `now`.
  mutating func take(_ byte: UInt8, at now: UInt64) {
    switch byte {
    case 0x0A, 0x0D, 0x04: isEnded = true
    // Control-U: the person may type the line again.
    case 0x15: (isBegun, since) = (false, now)
    default: isBegun = true
    }
  }

  /// Returns the milliseconds for which the next question still waits: nil if it can be put, -1 for as long as the line
  /// has not ended.
  ///
  /// - Parameter isVisible: true if the next question shows what is typed.
  func pause(isVisible: Bool, at now: UInt64) -> Int32? {
    if isEnded { return nil }
    if isBegun { return -1 }
    let end = since + Self.reaction
    return isVisible && now < end ? Int32((end - now) / 1000 + 1) : nil
  }
}
