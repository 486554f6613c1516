internal import NIOCore
internal import VaultBytes
internal import VaultCore
internal import VaultModel
internal import VaultService
internal import VaultWire

/// One check of a person's presence: a PAM conversation in a separate process, so that no PAM module is loaded into the
/// process that holds keys.
///
/// A check keeps itself alive until it is over. Then `onEnd` has run, once, unless ``cancel()`` was called; after that
/// neither closure runs any more. Both run on the event loop, and never inside a call from the owner of the check.
final class PresenceCheck: PresenceChecking {
  typealias Outcome = PresenceOutcome

  /// The limits of a helper. A helper that exceeds one is ended.
  struct Limits {
    /// The time between two messages of the helper, while it waits for no answer.
    var silence = TimeAmount.seconds(60)
    /// The time for the whole check, including the person's time to answer.
    var total = TimeAmount.seconds(120)
    var prompts = 100
    /// The most bytes of text in one prompt.
    var text = 2048
  }

  private static let frameLimit = 16 << 10
  /// The number of bytes from which an answer is too long (PAM_MAX_RESP_SIZE). No account's password is so long, so
  /// such an answer is not passed on.
  private static let answerLimit = 512

  private let helper: PresenceHelper
  private let limits: Limits
  private let onPrompt: (Prompt.Style, String) -> Void
  private let onEnd: (Outcome) -> Void
  private var channel: HelperChannel?
  private var prompts = 0
  private var isAsking = false
  private var isOver = false
  private var silence: Scheduled<Void>?
  private var total: Scheduled<Void>?

  /// Begins to authenticate `uid` through the PAM service `service`. `requester` names the user who asks, if it is not
  /// the daemon's user.
  ///
  /// `onPrompt` gets PAM's messages: `info` and `error` are to be shown, `secret` and `visible` wait for
  /// ``answer(consuming:)``.
  init(
    through helper: PresenceHelper, service: String, uid: UInt32, requester: String? = nil, limits: Limits = Limits(),
    onPrompt: @escaping (Prompt.Style, String) -> Void, onEnd: @escaping (Outcome) -> Void
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
    // If sending fails, the channel ends and reports it.
    try? channel?.send(frame)
    watchSilence()
  }

  /// Ends the check and the helper without a report.
  func cancel() { _ = close() }

  // MARK: The helper

  /// Reaches the helper and sends the request; returns the outcome if that failed.
  private func begin(_ request: PresenceWire.Request) -> Outcome? {
    let channel = HelperChannel("vault-pam", helper.watcher, helper.ends, limit: Self.frameLimit) { frame in
      self.take(frame)
    } onEnd: { end in
      self.finish(.broken("vault-pam \(Self.reason(end))"))
    }
    self.channel = channel
    do {
      if let obstacle = try reach(request.uid, channel) {
        return .unavailable(obstacle.reason, advice: obstacle.advice)
      }
      var writer = JSONWriter()
      request.write(to: &writer)
      try channel.send(writer.finish())
    } catch let problem as PresenceSocket.Problem {
      return .unavailable(problem.reason)
    } catch {
      return .unavailable("cannot start vault-pam: \(error)")
    }
    total = schedule(limits.total) { check in
      check.finish(check.isAsking ? .cancelled : .broken("the check took longer than \(check.limits.total.text)"))
    }
    watchSilence()
    return nil
  }

  /// Connects the channel to the helper; returns the obstacle, if there is one.
  private func reach(_ uid: UInt32, _ channel: HelperChannel) throws -> Obstacle? {
    var way = helper.way(to: uid)
    if way == .socket {
      if let descriptor = try PresenceSocket.connect(to: helper.socket) {
        try channel.connect(descriptor)
        return nil
      }
      way = helper.wayOfOurOwn(to: uid)
    }
    if case .child(let program) = way { try channel.start(program, helper.environment) }
    if case .none(let obstacle) = way { return obstacle }
    return nil
  }

  private func take(_ frame: borrowing Frame) {
    guard let message = try? PresenceWire.Message(frame, frame.root) else {
      return finish(.broken("vault-pam sent something that is not a message"))
    }
    switch message {
    case .outcome(let outcome): finish(outcome)
    case .prompt(let prompt):
      prompts += 1
      guard prompts <= limits.prompts, prompt.text.utf8.count <= limits.text else {
        return finish(.broken("vault-pam sent more text than a person reads"))
      }
      guard !isAsking else { return finish(.broken("vault-pam asked again before it was answered")) }
      isAsking = prompt.style.wantsAnswer
      watchSilence()
      onPrompt(Prompt.Style(prompt.style), prompt.text)
    }
  }

  private static func reason(_ end: HelperChannel.End) -> String {
    switch end {
    case .exited(0), .hungUp: "ended without a result"
    case .exited(let code): "failed with exit code \(code)"
    case .killed(let signal): "was ended by signal \(signal)"
    case .disconnected: "closed the connection without a result"
    case .garbled: "sent something that is not a frame"
    }
  }

  // MARK: The end

  private func finish(_ outcome: Outcome) {
    if close() { onEnd(outcome) }
  }

  /// Finishes in a later turn of the loop, for an end that is found during a call from the check's owner.
  private func finishLater(_ outcome: Outcome) {
    isAsking = false
    helper.loop.assumeIsolated().execute { self.finish(outcome) }
  }

  /// Closes the check; false when it was already over.
  private func close() -> Bool {
    guard !isOver else { return false }
    isOver = true
    silence?.cancel()
    total?.cancel()
    channel?.close()
    channel = nil
    return true
  }

  // MARK: Time

  /// Restarts the time limit for the helper's silence. A person's silence is limited only by the total time.
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

extension Prompt.Style {
  fileprivate init(_ style: PresenceWire.Style) {
    switch style {
    case .secret: self = .secret
    case .visible: self = .visible
    case .info: self = .info
    case .error: self = .error
    }
  }
}
