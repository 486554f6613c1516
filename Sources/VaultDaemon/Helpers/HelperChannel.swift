internal import CLinux
internal import Glibc
internal import VaultCore
internal import VaultService
internal import VaultWire

/// Frames to and from one helper, any number each way: to a child of the daemon, or to what a unit's socket leads to.
///
/// Frames are few and small, so they are read straight into memory that wipes itself. It keeps itself alive until it is
/// closed, and, with a child, until that has been reaped. All of it happens on the event loop.
final class HelperChannel {
  /// The way in which a helper ended by itself.
  enum End: Equatable {
    case exited(Int32)
    case killed(Int32)
    /// A child closed its side and went on.
    case hungUp
    /// A unit's helper closed its side.
    case disconnected
    /// It sent what is no frame.
    case garbled
  }

  /// The bytes that are read at once.
  private static let chunk = 8 << 10

  private let name: String
  private let watcher: DescriptorWatcher
  private let ends: HelperEnds
  private var reader: FrameReader
  private let limit: Int
  private var socket: Int32 = -1
  private var process: HelperProcess?
  private var hungUp = false
  private var isClosed = false
  private var onFrame: ((consuming Frame) -> Void)?
  private var onEnd: ((End) -> Void)?
  /// Runs once when no child is left, whoever ended it; nil once it has.
  private var onGone: (() -> Void)?

  /// - Parameters:
  ///   - name: the helper's name, for errors.
  ///   - limit: the most bytes of a frame.
  ///   - onEnd: called once, unless the channel was closed before; no frame comes after that.
  init(
    _ name: String, _ watcher: DescriptorWatcher, _ ends: HelperEnds, limit: Int,
    onFrame: @escaping (consuming Frame) -> Void, onEnd: @escaping (End) -> Void
  ) {
    self.name = name
    self.watcher = watcher
    self.ends = ends
    self.limit = limit
    reader = FrameReader(limit: limit)
    self.onFrame = onFrame
    self.onEnd = onEnd
  }

  /// Starts `program` as a child with `environment` as lines `NAME=value`.
  ///
  /// - Parameter gone: runs once, when it has been reaped, whoever ended it; not where this throws and none was
  ///   started.
  func start(
    _ program: String, _ environment: [String], gone: @escaping () -> Void = {}
  ) throws(SystemError) {
    let process = try HelperProcess(program, environment: environment, watcher: watcher, ends: ends) {
      self.ended($0)
    }
    self.process = process
    onGone = gone
    try connect(process.socket)
  }

  /// True from the start of a child until it has been reaped.
  var isRunning: Bool { process != nil }

  /// Takes over a connection that does not block.
  func connect(_ socket: Int32) throws(SystemError) {
    self.socket = socket
    try watcher.watch(socket) { self.receive() }
  }

  /// Sends a frame, which is far smaller than the socket's buffer and so goes out whole. Where the other side has closed
  /// already, how it ended says more.
  func send(_ frame: borrowing SecretBuffer) throws(SystemError) {
    let sent = frame.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }
    guard sent == frame.count || errno == EPIPE || errno == ECONNRESET else {
      throw SystemError(call: "write to \(name)")
    }
  }

  /// Ends the helper without a word, and hears no more of it.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    onFrame = nil
    onEnd = nil
    // A key may have come; the process may take a moment to be reaped.
    reader = FrameReader(limit: limit)
    if socket >= 0 { watcher.forget(socket) }
    if let process {
      process.close()
      process.kill()
    } else if socket >= 0 {
      _ = HungUpHelper(socket, watcher, ends)
    }
    socket = -1
  }

  private func end(_ end: End) {
    let onEnd = onEnd
    close()
    onEnd?(end)
  }

  // MARK: What comes

  /// False when nothing was there to be read.
  @discardableResult
  private func receive() -> Bool {
    guard socket >= 0 else { return false }
    do throws(FrameError) {
      // The bytes of frames are wiped before anybody hears of them.
      guard try takeIn() else { return false }
      while let onFrame, let frame = try reader.next() { onFrame(frame) }
    } catch {
      end(.garbled)
    }
    return true
  }

  /// Takes in what has come; false when that is nothing.
  private func takeIn() throws(FrameError) -> Bool {
    var chunk = SecretBuffer()
    let count = chunk.append(count: Self.chunk) { bytes in
      // Filled in place by the kernel.
      unsafe bytes.withUnsafeMutableBytes { unsafe read(socket, $0.baseAddress, $0.count) }
    }
    if count < 0 && (errno == EAGAIN || errno == EINTR) { return false }
    guard count > 0 else {
      hangUp()
      return false
    }
    try chunk.withBytes { bytes throws(FrameError) in try reader.append(bytes.extracting(..<count)) }
    return true
  }

  /// The other side closed. A child tells by its end what happened; one that does not end is ended.
  private func hangUp() {
    guard let process else { return end(.disconnected) }
    hungUp = true
    watcher.forget(socket)
    socket = -1
    process.kill()
  }

  private func ended(_ ending: HelperProcess.Ending) {
    // Its last words may have come with the end.
    while receive() {}
    process = nil
    defer { onGone.take()?() }
    switch ending {
    case .killed(SIGKILL) where hungUp: end(.hungUp)
    case .killed(let signal): end(.killed(signal))
    case .exited(let code): end(.exited(code))
    }
  }
}
