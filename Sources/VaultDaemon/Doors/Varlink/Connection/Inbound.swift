internal import VaultBytes
internal import VaultWire

/// The bytes that a client has sent and that are not handled yet: first a call that was deferred because it takes long,
/// then whole frames, and the beginning of one more.
struct Inbound: ~Copyable {
  private var reader = FrameReader()
  private var deferred: Frame?
  /// The number of bytes of the frame that was last taken, until it is taken back.
  private(set) var currentCount = 0

  /// Adds bytes that were read.
  mutating func append(_ bytes: RawSpan) throws(FrameError) { try reader.append(bytes) }

  /// True when a call was deferred.
  var hasDeferred: Bool { deferred != nil }
  /// True when a whole frame waits behind the call that was taken or deferred.
  var hasFrame: Bool { reader.hasFrame }
  /// True when there is a call to handle.
  var hasCall: Bool { hasDeferred || hasFrame }
  /// True when anything waits: a deferred call, one behind it, or the beginning of one.
  var isWaiting: Bool { hasDeferred || reader.pendingCount > 0 }
  /// The number of bytes that wait behind the call that was taken or deferred.
  var pendingCount: Int { reader.pendingCount }
  /// The number of all bytes held.
  var byteCount: Int { reader.pendingCount + currentCount }

  /// Takes the next call, a deferred one first; nil when no whole one is there.
  mutating func next() throws(FrameError) -> Frame? {
    if let frame = deferred.take() { return frame }
    let before = reader.pendingCount
    let frame = try reader.next()
    currentCount = before - reader.pendingCount
    return frame
  }

  /// Returns the next call without taking it; nil when no whole one is there, or it has more than `most` bytes.
  func peek(atMost most: Int) -> Frame? { hasDeferred ? nil : reader.peek(atMost: most) }

  /// Defers a call that was taken, so that it is the next one again.
  mutating func putOff(_ frame: consuming Frame) { deferred = consume frame }

  /// Takes back a handled call, and wipes it.
  mutating func takeBack(_ frame: consuming Frame) {
    reader.takeBack(frame)
    currentCount = 0
  }
}
