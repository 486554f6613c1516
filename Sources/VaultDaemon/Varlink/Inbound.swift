internal import VaultWire

/// The bytes that a client has sent and that are not handled yet: whole frames, the beginning of one more, and before
/// them a call that was put off because it takes long.
struct Inbound: ~Copyable {
  private var reader = FrameReader()
  private var deferred: Frame?
  /// The bytes of the frame that was taken last, until it is taken back.
  private(set) var currentCount = 0

  /// Takes in what was read.
  mutating func append(_ bytes: RawSpan) throws(FrameError) { try reader.append(bytes) }

  /// True when a call was put off.
  var hasDeferred: Bool { deferred != nil }
  /// True when a whole frame waits behind the call that was taken or put off.
  var hasFrame: Bool { reader.hasFrame }
  /// True when there is a call to handle.
  var hasCall: Bool { hasDeferred || hasFrame }
  /// True when anything waits: a call that was put off, one behind it, or the beginning of one.
  var isWaiting: Bool { hasDeferred || reader.pendingCount > 0 }
  /// The bytes that wait behind the call that was taken or put off.
  var pendingCount: Int { reader.pendingCount }
  /// All bytes.
  var byteCount: Int { reader.pendingCount + currentCount }

  /// The next call, the one that was put off first; nil when there is none that is whole.
  mutating func next() throws(FrameError) -> Frame? {
    if let frame = deferred.take() { return frame }
    let before = reader.pendingCount
    let frame = try reader.next()
    currentCount = before - reader.pendingCount
    return frame
  }

  /// Puts a call off that was taken: it is the next one again.
  mutating func putOff(_ frame: consuming Frame) { deferred = consume frame }

  /// Takes back a call that is handled, and wipes it.
  mutating func takeBack(_ frame: consuming Frame) {
    reader.takeBack(frame)
    currentCount = 0
  }
}
