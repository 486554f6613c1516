internal import NIOCore
internal import VaultBytes
internal import VaultCore
internal import VaultService
internal import VaultWire

/// The reason why a helper gave no answer, in words for a person.
enum HelperFailure: Error, Equatable, CustomStringConvertible {
  case notInstalled(String)
  case cannotStart(String)
  /// The helper did not answer within this many seconds and was ended.
  case tooSlow(String, seconds: Int64)
  /// The helper ended without an answer, or sent something that is not a frame.
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

/// One question to one helper process, and its one answer. This object keeps itself alive until the process has been
/// reaped.
final class HelperExchange {
  /// The longest answer in bytes: a key or a locator, in base64.
  private static let answerLimit = 8 << 10

  private let name: String
  private let limit: TimeAmount
  private var then: ((consuming Result<Frame, HelperFailure>) -> Void)?
  private var channel: HelperChannel?
  private var timeout: Scheduled<Void>?
  /// Runs once when no process is left.
  private let gone: () -> Void

  init(
    name: String, limit: TimeAmount, gone: @escaping () -> Void,
    then: @escaping (consuming Result<Frame, HelperFailure>) -> Void
  ) {
    self.name = name
    self.limit = limit
    self.then = then
    self.gone = gone
  }

  func start(
    _ path: String, _ environment: [String], _ question: consuming SecretBuffer, _ loop: any EventLoop,
    _ watcher: DescriptorWatcher, _ ends: HelperEnds
  ) {
    let channel = HelperChannel(name, watcher, ends, limit: Self.answerLimit) { frame in
      self.finish(.success(frame))
    } onEnd: { end in
      self.finish(.failure(.broken(self.name, reason: Self.reason(end))))
    }
    self.channel = channel
    do throws(SystemError) {
      try channel.start(path, environment, gone: gone)
      try channel.send(question)
    } catch {
      let isStarted = channel.isRunning
      finish(.failure(.cannotStart("\(error)")))
      if !isStarted { gone() }
      return
    }
    timeout = loop.assumeIsolated().scheduleTask(in: limit) { [self] in
      finish(.failure(.tooSlow(name, seconds: limit.nanoseconds / 1_000_000_000)))
    }
  }

  private static func reason(_ end: HelperChannel.End) -> String {
    switch end {
    case .exited(let code): "ended with exit code \(code) and no answer"
    case .killed(let signal): "was ended by signal \(signal) before it answered"
    case .hungUp, .disconnected: "closed the connection without an answer"
    case .garbled: "sent something that is not a frame"
    }
  }

  private func finish(_ result: consuming Result<Frame, HelperFailure>) {
    guard let then else { return }
    cancel()
    then(result)
  }

  /// Ends the helper; no answer is delivered any more.
  func cancel() {
    then = nil
    timeout?.cancel()
    channel?.close()
    channel = nil
  }
}
