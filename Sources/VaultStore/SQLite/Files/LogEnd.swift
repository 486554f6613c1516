/// The end of a log: the first frame that does not continue the log, and everything behind that frame. This type
/// decides whether a crash or damage has ended the log there.
///
/// The rule rests on three promises of the writer (``SQLiteConnection``). A transaction is begun only when the one
/// before it is on the disk. The frames of an unfinished transaction are cut off, and the cut is on the disk, before
/// the next transaction is begun. And a log that begins anew gets salts whose first number is increased by one.
///
/// So the end that a crash leaves has blocks of at most one transaction, among whatever was there before: nothing, or
/// whole frames from an earlier use of the log. Of that transaction, only the last frame is marked as the last of a
/// transaction. Therefore a frame of this log behind a marked frame was written by a later transaction, which was begun
/// only when the marked frame was on the disk: the log is damaged. The log is also damaged if anything but an earlier
/// frame follows a marked frame: a damaged block of the disk can cover the end of a marked frame and the head of the
/// only frame behind it.
///
/// Damage that hides the end of the last transaction but one looks like a crash. So does damage within the last
/// transaction.
struct LogEnd {
  /// A disk writes at least this many bytes at once.
  private static let sector = 512
  /// A bound on the number of times that a log begins anew while a frame from an earlier use is left in it.
  private static let mostUses: UInt32 = 1 << 20

  private let log: LogFrames
  /// The place of the frame that is marked as the last of a transaction, counted from 0; nil until there is such a
  /// frame.
  private var end: Int?
  /// The state of the log after the previous frame, as that frame states it; nil if that frame is not of this log.
  private var before: LogFrames?

  /// Begins where a frame does not continue `log`.
  init(of log: LogFrames) { self.log = log }

  /// Examines the frame at the next place; true if a crash cannot have left that place as it is.
  mutating func isDamage(_ frame: [UInt8], at place: Int) -> Bool {
    guard log.isOurs(frame) else {
      before = nil
      return end == place - 1 && !isEarlier(frame)
    }
    if end != nil { return true }
    if LogFrames.pageCount(frame) != nil, hasOneHead(frame, at: place) { end = place }
    before = log.resumed(after: frame)
    return false
  }

  /// True if the beginning of a frame's head and its salts were written together. A sector may end between the two. The
  /// beginning may then be from an earlier frame, unless the checksum covers it.
  private func hasOneHead(_ frame: [UInt8], at place: Int) -> Bool {
    let salts = LogFrames.headerSize + place * LogFrames.frameSize + LogFrames.saltsInHead.lowerBound
    return !salts.isMultiple(of: Self.sector) || before?.isFollowed(by: frame) == true
  }

  /// True for a frame from an earlier use of the log.
  private func isEarlier(_ frame: [UInt8]) -> Bool {
    LogFrames.page(frame) != 0 && (1...Self.mostUses).contains(log.uses(since: frame))
  }
}
