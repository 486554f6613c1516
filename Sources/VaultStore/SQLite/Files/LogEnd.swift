/// The end of a log: everything behind the first frame that does not continue the log. It decides whether a crash or
/// damage has ended the log there.
///
/// The rule rests on three promises of the writer (``SQLiteConnection``). A transaction is begun only when the one
/// before it is on the disk. What a transaction without an end has written is cut off, and that is on the disk, before
/// the next one is begun. And a log that begins anew gets salts whose first number is one higher.
///
/// So a crash leaves at most one transaction behind the end, any blocks of it, and whatever was there before: nothing,
/// or whole frames from an earlier use of the log. Its last frame alone ends a transaction. Therefore a frame of this
/// log that stands behind such an end was written by a later transaction, and the one before was on the disk: the log
/// is damaged. It is damaged, too, if the place behind such an end has neither nothing nor an earlier frame: a block of
/// the disk is shorter than a frame, so it can hide an end and the beginning of the only frame behind that.
///
/// Damage that hides the end of the last transaction but one looks like a crash. So does damage within the last
/// transaction.
struct LogEnd {
  /// A disk writes at least this many bytes at once.
  private static let sector = 512
  /// A log begins anew less often than this, as long as a frame from an earlier use is left in it.
  private static let mostUses: UInt32 = 1 << 20

  private let log: LogFrames
  /// The place of the frame that ends a transaction, counted from 0.
  private var end: Int?
  /// The log after the frame at the place before, according to that frame; nil if it is not of this log.
  private var before: LogFrames?

  /// Begins where a frame does not continue `log`.
  init(of log: LogFrames) { self.log = log }

  /// Takes the next place behind the end; true if a crash cannot have left this place as it is.
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

  /// True if the beginning of a frame's head and its salts were written together. A sector may end between them. Then
  /// the beginning may be that of an earlier frame, unless the checksum includes it.
  private func hasOneHead(_ frame: [UInt8], at place: Int) -> Bool {
    let salts = LogFrames.headerSize + place * LogFrames.frameSize + LogFrames.saltsInHead.lowerBound
    return !salts.isMultiple(of: Self.sector) || before?.isFollowed(by: frame) == true
  }

  /// True for a frame from an earlier use of the log.
  private func isEarlier(_ frame: [UInt8]) -> Bool {
    LogFrames.page(frame) != 0 && (1...Self.mostUses).contains(log.uses(since: frame))
  }
}
