internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultCore
internal import VaultService
internal import VaultWire

/// Frames to and from one helper, any number in each direction. The helper is a child of the daemon, or the process
/// behind a unit's socket.
///
/// Frames are few and small, so they are read straight into memory that wipes itself. The channel keeps itself alive
/// until it is closed and its child, if any, has been reaped. Everything here happens on the event loop.
final class HelperChannel {
  /// The way in which a helper ended by itself.
  enum End: Equatable {
    case exited(Int32)
    case killed(Int32)
    /// A child closed its side and kept running.
    case hungUp
    /// A unit's helper closed its side.
    case disconnected
    /// The helper sent something that is not a frame.
    case garbled
  }

  /// The number of bytes in one read.
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
  /// Runs once when no child is left, however it ended; nil after that.
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
  /// - Parameter gone: runs once when the child has been reaped, however it ended. Does not run if this throws and no
  ///   child was started.
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

  /// Takes over a connection, which must not block.
  func connect(_ socket: Int32) throws(SystemError) {
    self.socket = socket
    try watcher.watch(socket) { self.receive() }
  }

  /// Sends a frame, which is far smaller than the socket's buffer and so is sent whole. If the other side has closed
  /// already, this does not throw, because the helper's end says more.
  func send(_ frame: borrowing SecretBuffer) throws(SystemError) {
    let sent = frame.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }
    if sent == frame.count || sent < 0 && (errno == EPIPE || errno == ECONNRESET) { return }
    throw SystemError(call: "write to \(name)", code: sent < 0 ? errno : EMSGSIZE)
  }

  /// Ends the helper without reporting it; no closure except `gone` runs any more.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    onFrame = nil
    onEnd = nil
    // The reader may hold a key, and it may take a moment until the process is reaped.
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

  // MARK: Receiving

  /// Reads and delivers frames; false when there was nothing to read.
  @discardableResult
  private func receive() -> Bool {
    guard socket >= 0 else { return false }
    do throws(FrameError) {
      // The bytes that were read are wiped before anybody gets the frames.
      guard try takeIn() else { return false }
      while let onFrame, let frame = try reader.next() { onFrame(frame) }
    } catch {
      end(.garbled)
    }
    return true
  }

  /// Reads the bytes that have come; false when there are none.
  private func takeIn() throws(FrameError) -> Bool {
    var chunk = SecretBuffer()
    let count = chunk.append(count: Self.chunk) { bytes in
      // The kernel fills the buffer in place.
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

  /// Handles the end of the connection, which the other side has closed. A child's end tells what happened; a child
  /// that has not ended is killed.
  private func hangUp() {
    guard let process else { return end(.disconnected) }
    hungUp = true
    watcher.forget(socket)
    socket = -1
    process.kill()
  }

  private func ended(_ ending: HelperProcess.Ending) {
    // The last frames may have come together with the end.
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
