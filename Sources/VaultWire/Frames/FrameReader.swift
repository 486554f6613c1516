public import VaultBytes

/// A reader that cuts a byte stream into NUL-terminated frames, as Varlink sends them.
///
/// Pass it the bytes from the socket with ``append(_:)``, and then take frames with ``next()`` until that returns
/// `nil`. The work is linear in the bytes, whether they arrive as one big frame byte by byte or as many frames at once.
/// Frames that were taken are wiped from the reader's memory.
public struct FrameReader: ~Copyable, Sendable {
  /// The default limit of a frame: 2 MiB, without the NUL.
  public static let defaultLimit = 2 << 20
  /// The longest accepted frame, in bytes without the NUL.
  public let limit: Int
  /// True for a client, whose daemon may be newer and have more members in its replies.
  private let ignoresUnknownMembers: Bool
  private var buffer: SecretBuffer
  /// The start of the first frame that was not taken yet.
  private var start = 0
  /// The start of the frame whose NUL has not arrived yet.
  private var open = 0
  private var complete = 0
  private var failed = false
  /// The buffer of the last frame that was given back, if any.
  private var spare = Frame.Memory()

  /// Makes an empty reader.
  ///
  /// - Parameter ignoresUnknownMembers: whether values are read from the frames without a look at members that their
  ///   definition lacks.
  public init(limit: Int = FrameReader.defaultLimit, ignoresUnknownMembers: Bool = false) {
    self.limit = limit
    self.ignoresUnknownMembers = ignoresUnknownMembers
    buffer = SecretBuffer()
  }

  /// The number of bytes received but not yet taken as frames.
  public var pendingCount: Int { buffer.count - start }

  /// True if a whole frame is ready to be taken.
  public var hasFrame: Bool { complete > 0 }

  /// The number of bytes in memory, including taken frames that were not dropped yet.
  internal var heldCount: Int { buffer.count }

  /// Lends the bytes in memory; tests check that those of taken frames are wiped.
  internal borrowing func withHeldBytes<R>(_ body: (RawSpan) -> R) -> R { buffer.withBytes(body) }

  /// The number of values for which the next frame has room already; tests compare it with that of usual frames.
  internal var spareCount: Int { spare.room }

  /// The number of bytes moved inside the reader so far; tests use it to check that the work is linear.
  internal var movedCount: Int { buffer.movedCount }

  /// Appends bytes from the stream.
  ///
  /// - Throws: ``FrameError/tooLong(limit:)`` as soon as a frame exceeds the limit, even if its NUL has not arrived
  ///   yet. The stream is then unusable, and every further call throws the same error.
  public mutating func append(_ bytes: RawSpan) throws(FrameError) {
    guard !failed else { throw .tooLong(limit: limit) }
    // All bytes before `start` were taken. Their room is reused once it is the larger half, so each byte moves at most
    // once on average.
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

  /// Returns the next whole frame, or nil until its NUL arrives.
  ///
  /// - Throws: The errors of ``Frame/init(parsing:)``. The invalid frame is then gone and the next one can be taken,
  ///   but it is best to disconnect a peer that sent an invalid frame.
  public mutating func next() throws(FrameError) -> Frame? {
    guard complete > 0, let end = buffer.firstIndex(of: 0, from: start) else { return nil }
    let begin = start
    complete -= 1
    start = end + 1
    var memory = Frame.Memory()
    swap(&memory, &spare)
    var frame: Frame
    do {
      frame = try buffer.withBytes { bytes throws(FrameError) in
        try Frame(parsing: bytes.extracting(begin..<end), in: &memory)
      }
    } catch {
      reclaim(begin)
      throw error
    }
    reclaim(begin)
    frame.ignoresUnknownMembers = ignoresUnknownMembers
    return frame
  }

  /// Returns the next whole frame without taking it. Returns nil until its NUL arrives, when it has more than `most`
  /// bytes, and when it is invalid.
  public func peek(atMost most: Int) -> Frame? {
    guard complete > 0, let end = buffer.firstIndex(of: 0, from: start), end - start <= most else { return nil }
    var memory = Frame.Memory()
    return buffer.withBytes { try? Frame(parsing: $0.extracting(start..<end), in: &memory) }
  }

  /// Takes back a frame that is no longer needed, so that the next one need not allocate memory. The frame
  /// is wiped at once.
  public mutating func takeBack(_ frame: consuming Frame) { spare = frame.leaveMemory() }

  /// Hands over the bytes after the taken frames, for a stream in which bytes other than frames follow.
  public mutating func takeRest() -> SecretBuffer {
    let rest = buffer.withBytes { SecretBuffer(copying: $0.extracting(droppingFirst: start)) }
    self = FrameReader(limit: limit, ignoresUnknownMembers: ignoresUnknownMembers)
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

  /// Wipes the frame that was just taken, which began at `begin`.
  private mutating func reclaim(_ begin: Int) {
    guard start == buffer.count else { return buffer.wipe(begin..<start) }
    buffer.removeAll()
    start = 0
    open = 0
  }
}
