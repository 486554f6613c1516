package import VaultCore
internal import VaultModel

/// A call that asks a person for secrets, through a ``Prompter``.
///
/// It ends with its result, with a refusal, when its caller goes away, or when a prompt stays unanswered.
package final class Conversation: SecretHolder {
  /// The time for which a prompt waits for its answer, in nanoseconds.
  package static let patience: Int64 = 5 * 60 * 1_000_000_000
  /// The longest time that the whole conversation may last after its first secret, in nanoseconds.
  package static let longest: Int64 = 30 * 60 * 1_000_000_000

  private let prompter: any Prompter
  private let conversations: Conversations
  private let timer: Timer
  private var onAnswer: ((consuming SecureBytes) -> Void)?
  /// The number of the question that was asked last.
  private var number = 0
  /// The number of questions that were withdrawn, and to which an answer without a number may still come.
  private var withdrawn = 0
  private var timeout: Timer.Cancel?
  private var limit: Timer.Cancel?
  package private(set) var isOver = false
  /// The result of the operation, once the operation is done. The caller is told this result, whatever ends the
  /// conversation after that.
  private var done: ConversationResult?
  /// Cancels the work that the conversation has given to a worker.
  let cancellation = Cancellation()
  /// True when the conversation ends as soon as anybody unlocks the vault.
  var endsWhenUnlocked = false
  /// Records the outcome of the conversation, with words for what was done or tried.
  var record: (AuditOutcome, String?) -> Void = { _, _ in }
  /// True while a secret is tried, which was charged as an attempt. If the conversation ends meanwhile, its outcome is
  /// recorded at the end of the trial: nobody hides a guess by leaving.
  private var isTrying = false
  private var awaitsTrial = false
  /// The operation that was done, in words for the audit log.
  var said: String?
  /// Runs once, at any end of the conversation; `dismissed` tells whether its caller dismissed it.
  var onEnd: ((_ dismissed: Bool) -> Void)?
  /// True when a secret was received, or a key was made or is on its way: the secret, or what it opens, may still be
  /// held.
  private(set) var holdsSecret = false
  /// True when the conversation makes a vault, whose boot key goes where the settings said at the beginning.
  var makesVault = false
  /// True when the conversation tells its caller the name of an item.
  var namesItem = false
  /// The session that a yes serves, if that is not the caller's: the session of the calls that an inquiry is about.
  var servedSession: AuthenticationSession?
  /// The slot that proved the caller's right. If the slots change, what relies on this proof ends.
  var proof: SlotRecord?
  /// True when the secret that proves the right is kept, to make the same slot again.
  var keepsSecret = false
  /// The secret that proved the right, if it is kept.
  private(set) var secret: Handover?
  /// The keys and secrets that are wiped when the conversation ends, even if a closure still refers to them. A worker
  /// gets copies.
  private var wiped: [Handover] = []
  /// Stops work that other programs do for the conversation.
  private var calledOff: [() -> Void] = []

  init(_ prompter: any Prompter, _ conversations: Conversations, _ holders: SecretHolders, _ timer: Timer) {
    self.prompter = prompter
    self.conversations = conversations
    self.timer = timer
    super.init(in: holders)
    conversations.add(self)
  }

  /// The caller on whose behalf a person is asked.
  package var caller: Caller { prompter.caller }

  /// Asks the person a question; `then` receives the answer.
  func ask(
    _ style: Prompt.Style, method: String, text: String, code: Handover? = nil,
    then: @escaping (consuming SecureBytes) -> Void
  ) {
    guard !isOver else { return }
    withdraw()
    number += 1
    onAnswer = then
    timeout?()
    timeout = timer.after(Self.patience) { [weak self] in self?.fail(.cancelled) }
    prompter.show(Prompt(style: style, number: number, method: method, text: text, code: code))
  }

  /// Withdraws the open question, if there is one. The person may still be typing the answer, which then answers no
  /// other question.
  func withdraw() {
    guard onAnswer != nil else { return }
    onAnswer = nil
    timeout?()
    withdrawn += 1
  }

  /// Shows a message that needs no answer.
  func tell(_ style: Prompt.Style, method: String, text: String) {
    if !isOver { prompter.show(Prompt(style: style, number: nil, method: method, text: text, code: nil)) }
  }

  /// Notes that the conversation holds a secret from now on. A lock then ends it, and so does its time limit, however
  /// often it asks.
  func holdSecret() {
    guard !isOver, !holdsSecret else { return }
    holdsSecret = true
    limit = timer.after(Self.longest) { [weak self] in self?.fail(.cancelled) }
  }

  /// Registers a key to be wiped when the conversation ends. Waiting for the release of the last closure that has the
  /// key would be too late, because that closure may be waiting for another program.
  func willWipe(_ key: Handover) { wiped.append(key) }

  /// Registers how to stop the work of another program when the conversation ends, because that program may hold a key.
  /// If the conversation has ended, the work is stopped at once.
  func willCallOff(_ giveUp: @escaping () -> Void) { if isOver { giveUp() } else { calledOff.append(giveUp) } }

  /// Keeps the secret that has proven the right, if it is to be kept.
  func isProven(by secret: Handover) {
    guard keepsSecret, !isOver else { return }
    self.secret = secret
    willWipe(secret)
  }

  /// Takes the answer to the open question. An answer to a question that is no longer open has no effect.
  ///
  /// - Parameter named: the number of the question; nil if the client names none. Such a client answers one question
  ///   after the other, and it may not have noticed that one was withdrawn. So each question that was withdrawn takes
  ///   one such answer.
  /// - Returns: false if the question is not open.
  package func answer(_ secret: consuming SecureBytes, to named: Int?) -> Bool {
    if let named {
      guard named == number else { return false }
    } else if withdrawn > 0 {
      withdrawn -= 1
      return false
    }
    guard let then = onAnswer, mayConclude else { return false }
    onAnswer = nil
    withdrawn = 0
    holdSecret()
    timeout?()
    then(secret)
    return true
  }

  /// True when the operation may be done now: the conversation is not over, and the process that asked still runs.
  /// Check this right before each effect that happens in a later turn than the answer that led to it: Argon2id,
  /// keystores and readers take their time.
  var mayConclude: Bool { !isOver && prompter.isPresent }

  /// Records that the operation was done, if other work follows before the conversation ends. A lock, a change of the
  /// slots or the caller's leaving may still end the conversation, but does not undo the operation: the conversation
  /// ends with this result, and nothing more is recorded.
  ///
  /// - Parameter isRecorded: true if the operation was recorded together with its effect.
  func conclude(_ result: ConversationResult = .done, isRecorded: Bool = false) {
    guard !isOver, done == nil else { return }
    if !isRecorded { record(.ok, said) }
    done = result
  }

  /// Ends the conversation with the result of ``conclude(_:)`` or, if there is none yet, with this one.
  func finish(_ result: ConversationResult = .done) {
    guard !isOver else { return }
    conclude(result)
    end()
    prompter.finish(done ?? result)
  }

  package func fail(_ refusal: Refusal) { fail(refusal, dismissed: refusal == .cancelled) }

  /// Ends the conversation because of a lock or a rekey, which is no dismissal.
  func callOff() { fail(.cancelled, dismissed: false) }

  private func fail(_ refusal: Refusal, dismissed: Bool) {
    guard !isOver else { return }
    if done != nil { return finish() }
    note(refusal.outcome, refusal.tried)
    end(dismissed: dismissed)
    prompter.refuse(refusal)
  }

  /// Notes that a secret is tried from now on.
  func beginTrial() { isTrying = true }

  /// Records the outcome of a conversation that has ended during the trial.
  ///
  /// - Parameter tried: the method of a secret that was tried and opened nothing, in words for the audit log.
  func endTrial(tried: String?) {
    isTrying = false
    guard awaitsTrial else { return }
    awaitsTrial = false
    record(tried == nil ? .cancelled : .unproven, tried)
  }

  private func note(_ outcome: AuditOutcome, _ tried: String?) {
    if isTrying, outcome == .cancelled { awaitsTrial = true } else { record(outcome, tried) }
  }

  /// Ends the conversation because its caller has left. That is recorded if the operation was not done yet.
  package func leave() { leave(dismissed: done == nil) }

  /// Ends the conversation because the daemon ends, which is no dismissal. It is recorded as if its caller had left.
  fileprivate func stop() {
    // The trial does not end any more.
    isTrying = false
    leave(dismissed: false)
  }

  private func leave(dismissed: Bool) {
    guard !isOver else { return }
    if done == nil { note(.cancelled, nil) }
    end(dismissed: dismissed)
  }

  /// Ends the conversation without telling its caller.
  package func end(dismissed: Bool = false) {
    isOver = true
    cancellation.cancel()
    onAnswer = nil
    timeout?()
    limit?()
    conversations.remove(self)
    prompter.end()
    for key in wiped { _ = key.take() }
    wiped = []
    for giveUp in calledOff { giveUp() }
    calledOff = []
    let onEnd = onEnd
    self.onEnd = nil
    onEnd?(dismissed)
  }

  // MARK: A lock

  public override func letGo(for lock: Lock) { if outlives(lock) { callOff() } }

  // A lock ends a conversation that holds a secret, because the secret opens what the lock closes, or a vault that is
  // still being made. A lock that hides names also ends a conversation that names an item.
  public override func outlives(_ lock: Lock) -> Bool {
    !isOver && (holdsSecret || namesItem && lock.reach.contains(.names))
  }
}

/// The open conversations, in the order in which they began.
package final class Conversations {
  private var open: [Conversation] = []

  package init() {}

  fileprivate func add(_ conversation: Conversation) { open.append(conversation) }
  fileprivate func remove(_ conversation: Conversation) { open.removeAll { $0 === conversation } }

  /// Runs `body` with each conversation; each may end during that.
  func each(_ body: (Conversation) -> Void) {
    for conversation in open { body(conversation) }
  }

  /// Ends all conversations without telling their callers, when the daemon ends.
  package func end() { for conversation in open { conversation.stop() } }
}
