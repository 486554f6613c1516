internal import CLinux
internal import Glibc
internal import NIOCore
internal import VaultAPI

/// The reason why a helper gave no answer, in words for a person.
enum HelperFailure: Error, Equatable, CustomStringConvertible {
  case notInstalled(String)
  case cannotStart(String)
  /// It did not answer within this many seconds and was ended.
  case tooSlow(String, seconds: Int64)
  /// It ended, or sent what is no frame, instead of an answer.
  case broken(String, reason: String)

  var description: String {
    switch self {
    case .notInstalled(let name): "\(name) is not installed"
    case .cannotStart(let reason): reason
    case .tooSlow(let name, let seconds): "\(name) did not answer within \(seconds) s"
    case .broken(let name, let reason): "\(name) \(reason)"
    }
  }
}

/// One question to one helper process, and its one answer. Keeps itself alive until the process has been reaped.
final class HelperExchange {
  /// The longest answer in bytes: a key or a locator, in base64.
  private static let answerLimit = 8 << 10

  private let name: String
  private let limit: TimeAmount
  private var then: ((consuming Result<Frame, HelperFailure>) -> Void)?
  private var reader = FrameReader(limit: answerLimit)
  private var process: HelperProcess?
  private var watcher: Watcher?
  private var timeout: Scheduled<Void>?

  init(
    name: String, limit: TimeAmount, then: @escaping (consuming Result<Frame, HelperFailure>) -> Void
  ) {
    self.name = name
    self.limit = limit
    self.then = then
  }

  func start(
    _ path: String, _ environment: [String], _ question: consuming SecretBuffer, _ loop: any EventLoop,
    _ watcher: Watcher, _ ends: HelperEnds
  ) {
    do throws(SystemError) {
      let process = try HelperProcess(path, environment: environment, watcher: watcher, ends: ends) { self.ended($0) }
      self.process = process
      self.watcher = watcher
      try send(question, to: process.socket)
      try watcher.watch(process.socket) { self.receive() }
    } catch {
      finish(.failure(.cannotStart("\(error)")))
      return
    }
    timeout = loop.assumeIsolated().scheduleTask(in: limit) { [self] in
      finish(.failure(.tooSlow(name, seconds: limit.nanoseconds / 1_000_000_000)))
    }
  }

  /// A question is far smaller than the buffer of a fresh socket, so it goes out whole.
  private func send(_ question: borrowing SecretBuffer, to socket: Int32) throws(SystemError) {
    let sent = question.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }
    // One that has gone already is better told by how it ended.
    guard sent == question.count || errno == EPIPE else { throw SystemError(call: "write to \(name)") }
  }

  private func receive() {
    guard let process, process.socket >= 0 else { return }
    do throws(FrameError) {
      // What the answer came in is gone before anybody hears of it.
      try take(from: process.socket)
      guard let frame = try reader.next() else { return }
      finish(.success(frame))
    } catch {
      finish(.failure(.broken(name, reason: "sent what is no frame")))
    }
  }

  /// Takes in what has come.
  private func take(from socket: Int32) throws(FrameError) {
    var chunk = SecretBuffer()
    let count = chunk.append(count: Self.answerLimit) { bytes in
      unsafe bytes.withUnsafeMutableBytes { unsafe read(socket, $0.baseAddress, $0.count) }
    }
    if count < 0 && (errno == EAGAIN || errno == EINTR) { return }
    // At the end of the stream the process ends too, and how it does says more.
    guard count > 0 else { return stopReading() }
    try chunk.withBytes { bytes throws(FrameError) in try reader.append(bytes.extracting(..<count)) }
  }

  private func ended(_ ending: HelperProcess.Ending) {
    // The answer may have come with the end.
    receive()
    switch ending {
    case .exited(let code): finish(.failure(.broken(name, reason: "ended with exit code \(code) and no answer")))
    case .killed(let signal):
      finish(.failure(.broken(name, reason: "was ended by signal \(signal) before it answered")))
    }
    process = nil
  }

  private func stopReading() {
    guard let process, process.socket >= 0 else { return }
    watcher?.forget(process.socket)
    process.close()
  }

  private func finish(_ result: consuming Result<Frame, HelperFailure>) {
    guard let then else { return }
    cancel()
    then(result)
  }

  /// Ends the helper, which then answers nothing.
  func cancel() {
    then = nil
    // The answer was a key; the process may take a moment to be reaped.
    reader = FrameReader(limit: Self.answerLimit)
    timeout?.cancel()
    stopReading()
    process?.kill()
  }
}
