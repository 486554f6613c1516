internal import CLinux
internal import Glibc
internal import NIOCore
internal import VaultAPI
internal import VaultCore

/// One check of who is there: a PAM conversation in a process of its own, so that no PAM module loads into the one that
/// holds keys.
///
/// It keeps itself alive until it is over. Then `onEnd` has run, once, unless ``cancel()`` was called: after that neither
/// closure runs any more. Both run on the event loop, and never inside a call of the one who made the check.
///
/// The frames are few and small, so they are read straight into memory that wipes itself.
final class PresenceCheck {
  typealias Outcome = PresenceOutcome

  /// The limits of a helper; one that goes beyond is ended.
  struct Limits {
    /// Between two words of the helper, while it waits for no answer.
    var silence = TimeAmount.seconds(60)
    /// For the whole check, the person's time to answer included.
    var total = TimeAmount.seconds(120)
    var prompts = 100
    /// Bytes of text in one prompt.
    var text = 2048
  }

  private static let frameLimit = 16 << 10
  /// No account's password is longer (PAM_MAX_RESP_SIZE), so more is not passed on.
  private static let answerLimit = 512

  private let helper: PresenceHelper
  private let limits: Limits
  private let onPrompt: (PromptStyle, String) -> Void
  private let onEnd: (Outcome) -> Void
  private var reader = FrameReader(limit: frameLimit)
  private var connection: Int32 = -1
  private var process: HelperProcess?
  private var prompts = 0
  private var isAsking = false
  private var hungUp = false
  private var isOver = false
  private var silence: Scheduled<Void>?
  private var total: Scheduled<Void>?

  /// Begins to authenticate `uid` through the PAM service `service`; `requester` names the user who asks, where it is
  /// another one than the daemon's.
  ///
  /// `onPrompt` is told what PAM says: `info` and `error` are to be shown, `secret` and `visible` wait for
  /// ``answer(consuming:)``.
  init(
    through helper: PresenceHelper, service: String, uid: UInt32, requester: String? = nil, limits: Limits = Limits(),
    onPrompt: @escaping (PromptStyle, String) -> Void, onEnd: @escaping (Outcome) -> Void
  ) {
    self.helper = helper
    self.limits = limits
    self.onPrompt = onPrompt
    self.onEnd = onEnd
    if let outcome = begin(PresenceWire.Request(service: service, uid: uid, requester: requester)) {
      finishLater(outcome)
    }
  }

  /// Answers the open question.
  func answer(consuming answer: consuming SecureBytes) {
    guard isAsking, !isOver else { return }
    isAsking = false
    guard answer.count < Self.answerLimit else { return finishLater(.failed) }
    let frame = answer.withBytes { PresenceWire.frame(answering: $0) }
    send(frame)
    watchSilence()
  }

  /// Ends the check and the helper without a word.
  func cancel() { _ = close() }

  // MARK: The helper

  /// Finds the helper and sends the request; what went wrong, if anything did.
  private func begin(_ request: PresenceWire.Request) -> Outcome? {
    if let outcome = reach(request.uid) { return outcome }
    var writer = JSONWriter()
    request.write(to: &writer)
    send(writer.finish())
    total = schedule(limits.total) { check in
      check.finish(check.isAsking ? .cancelled : .broken("the check took longer than \(check.limits.total.text)"))
    }
    watchSilence()
    return nil
  }

  private func reach(_ uid: UInt32) -> Outcome? {
    do {
      var way = helper.way(to: uid)
      if way == .socket {
        if let descriptor = try PresenceSocket.connect(to: helper.socket) {
          connection = descriptor
        } else {
          way = helper.wayOfOurOwn(to: uid)
        }
      }
      if case .none(let reason) = way { return .unavailable(reason) }
      if case .child(let program) = way {
        let child = try HelperProcess(
          program, environment: helper.environment, watcher: helper.watcher, ends: helper.ends
        ) { self.ended($0) }
        process = child
        connection = child.socket
      }
      try helper.watcher.watch(connection) { self.receive() }
      return nil
    } catch let problem as PresenceSocket.Problem {
      return .unavailable(problem.reason)
    } catch {
      return .unavailable("cannot start vault-pam: \(error)")
    }
  }

  /// A frame is far smaller than the socket's buffer, so it goes out whole, or the other side has closed and the
  /// watcher is about to tell.
  private func send(_ frame: borrowing SecretBuffer) {
    frame.withBytes { bytes in
      _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }
  }

  /// False when nothing was there to be read.
  @discardableResult
  private func receive() -> Bool {
    guard !isOver, connection >= 0 else { return false }
    var chunk = SecretBuffer()
    let count = chunk.append(count: 8192) { bytes in
      // Filled in place by the kernel.
      unsafe bytes.withUnsafeMutableBytes { unsafe read(connection, $0.baseAddress, $0.count) }
    }
    if count < 0 && (errno == EAGAIN || errno == EINTR) { return false }
    guard count > 0 else {
      hangUp()
      return false
    }
    do throws(FrameError) {
      try chunk.withBytes { bytes throws(FrameError) in try reader.append(bytes.extracting(..<count)) }
      while !isOver, let frame = try reader.next() { take(frame) }
    } catch {
      finish(.broken("vault-pam sent what is no frame"))
    }
    return true
  }

  private func take(_ frame: borrowing Frame) {
    guard let message = try? PresenceWire.Message(frame, frame.root) else {
      return finish(.broken("vault-pam sent what is no message"))
    }
    switch message {
    case .outcome(let outcome): finish(outcome)
    case .prompt(let prompt):
      prompts += 1
      guard prompts <= limits.prompts, prompt.text.utf8.count <= limits.text else {
        return finish(.broken("vault-pam says more than a person reads"))
      }
      guard !isAsking else { return finish(.broken("vault-pam asks again before it was answered")) }
      isAsking = prompt.style.wantsAnswer
      watchSilence()
      onPrompt(PromptStyle(prompt.style), prompt.text)
    }
  }

  /// The other side closed. A child tells by its end what happened; one that does not end is ended.
  private func hangUp() {
    guard let process else { return finish(.broken("vault-pam closed the connection before it had an outcome")) }
    hungUp = true
    helper.watcher.forget(connection)
    connection = -1
    process.kill()
  }

  private func ended(_ ending: HelperProcess.Ending) {
    // The outcome may have come with the end.
    while receive() {}
    switch ending {
    case .killed(let signal) where !hungUp || signal != SIGKILL:
      finish(.broken("vault-pam was ended by signal \(signal)"))
    case .exited(let code) where code != 0: finish(.broken("vault-pam failed with exit code \(code)"))
    default: finish(.broken("vault-pam ended before it had an outcome"))
    }
    process = nil
  }

  // MARK: The end

  private func finish(_ outcome: Outcome) {
    if close() { onEnd(outcome) }
  }

  /// For an end that is found in a call from outside.
  private func finishLater(_ outcome: Outcome) {
    isAsking = false
    helper.loop.assumeIsolated().execute { self.finish(outcome) }
  }

  /// False when it was over already.
  private func close() -> Bool {
    guard !isOver else { return false }
    isOver = true
    silence?.cancel()
    total?.cancel()
    if connection >= 0 { helper.watcher.forget(connection) }
    if let process {
      process.close()
      process.kill()
    } else if connection >= 0 {
      _ = HungUpHelper(connection, helper.watcher, helper.ends)
    }
    connection = -1
    return true
  }

  // MARK: Time

  /// Counts the helper's silence from now on; a person's has no limit but the total.
  private func watchSilence() {
    silence?.cancel()
    guard !isAsking else { return }
    silence = schedule(limits.silence) { check in
      check.finish(.broken("vault-pam said nothing for \(check.limits.silence.text)"))
    }
  }

  private func schedule(_ delay: TimeAmount, _ work: @escaping (PresenceCheck) -> Void) -> Scheduled<Void> {
    helper.loop.assumeIsolated().scheduleTask(in: delay) { [weak self] in
      if let self { work(self) }
    }
  }
}

extension TimeAmount {
  fileprivate var text: String { "\(nanoseconds / 1_000_000_000) s" }
}

extension PromptStyle {
  fileprivate init(_ style: PresenceWire.Style) {
    switch style {
    case .secret: self = .secret
    case .visible: self = .visible
    case .info: self = .info
    case .error: self = .error
    }
  }
}
