/// Cuts a byte stream into NUL-terminated frames, as Varlink sends them.
///
/// Feed it what the socket delivers with ``append(_:)``, then take frames with ``next()`` until it gives `nil`. The
/// work is linear in the bytes, whether they come as one big frame byte by byte or as many frames at once. Frames
/// that were taken are wiped from its memory.
public struct FrameReader: ~Copyable, Sendable {
  /// The longest frame that is accepted by default: 2 MiB, the NUL not counted.
  public static let defaultLimit = 2 << 20
  /// The longest frame that is accepted, in bytes without the NUL.
  public let limit: Int
  private var buffer: SecretBuffer
  /// The start of the first frame that is not taken yet.
  private var start = 0
  /// The start of the frame whose NUL has not come yet.
  private var open = 0
  private var complete = 0
  private var failed = false
  /// The buffer that the last frame lay in, if it was given back.
  private var spare = Frame.Memory()

  /// Makes an empty reader.
  public init(limit: Int = FrameReader.defaultLimit) {
    self.limit = limit
    buffer = SecretBuffer()
  }

  /// The bytes received but not taken as frames yet.
  public var pendingCount: Int { buffer.count - start }

  /// True when a whole frame waits to be taken.
  public var hasFrame: Bool { complete > 0 }

  /// The bytes kept, taken frames that were not dropped yet among them.
  internal var heldCount: Int { buffer.count }

  /// Lends the bytes kept; tests find those of taken frames wiped.
  internal borrowing func withHeldBytes<R>(_ body: (RawSpan) -> R) -> R { buffer.withBytes(body) }

  /// The number of values that the next frame has room for already; tests hold it to what usual frames have.
  internal var spareCount: Int { spare.records.capacity }

  /// The number of bytes that were moved inside the reader so far; tests hold the work linear with it.
  internal var movedCount: Int { buffer.movedCount }

  /// Takes in bytes from the stream.
  ///
  /// Throws ``FrameError/tooLong(limit:)`` as soon as a frame passes the limit, also when its NUL has not come yet;
  /// the stream is lost then and every further call throws the same.
  public mutating func append(_ bytes: RawSpan) throws(FrameError) {
    guard !failed else { throw .tooLong(limit: limit) }
    // Everything before `start` was taken: give the room back once it is the larger half, so each byte moves at
    // most once on average.
    if start > buffer.count - start {
      buffer.removeFirst(start)
      open -= start
      start = 0
    }
    let scanned = buffer.count
    buffer.append(bytes)
    var from = scanned
    while let end = buffer.firstIndex(of: 0, from: from) {
      guard end - open <= limit else { throw fail() }
      complete += 1
      open = end + 1
      from = open
    }
    guard buffer.count - open <= limit else { throw fail() }
  }

  /// The next whole frame, or nil until its NUL arrives.
  ///
  /// Throws what ``Frame/init(parsing:)`` throws. The bad frame is gone then and the next one can be taken, though a
  /// peer that sent one bad frame is best disconnected.
  public mutating func next() throws(FrameError) -> Frame? {
    guard complete > 0, let end = buffer.firstIndex(of: 0, from: start) else { return nil }
    let begin = start
    complete -= 1
    start = end + 1
    var memory = Frame.Memory()
    swap(&memory, &spare)
    let frame: Frame
    do {
      frame = try buffer.withBytes { bytes throws(FrameError) in
        try Frame(parsing: bytes.extracting(begin..<end), in: &memory)
      }
    } catch {
      reclaim(begin)
      throw error
    }
    reclaim(begin)
    return frame
  }

  /// Takes back a frame that is done with, so that the next one need not allocate memory. It is wiped at once.
  public mutating func takeBack(_ frame: consuming Frame) { spare = frame.leaveMemory() }

  /// Gives away what came behind the frames that were taken, where other bytes than frames follow.
  public mutating func takeRest() -> SecretBuffer {
    let rest = buffer.withBytes { SecretBuffer(copying: $0.extracting(droppingFirst: start)) }
    self = FrameReader(limit: limit)
    return rest
  }

  private mutating func fail() -> FrameError {
    failed = true
    complete = 0
    start = 0
    open = 0
    buffer = SecretBuffer()
    return .tooLong(limit: limit)
  }

  /// Wipes the frame that was taken, which began at `begin`.
  private mutating func reclaim(_ begin: Int) {
    guard start == buffer.count else { return buffer.wipe(begin..<start) }
    buffer.removeAll()
    start = 0
    open = 0
  }
}
