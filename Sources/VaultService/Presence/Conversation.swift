package import VaultCore
internal import VaultModel

/// A call that asks a person for secrets, at a ``Prompter``.
///
/// It ends with its result, with a refusal, when its caller goes away, or when a prompt is left unanswered.
package final class Conversation: SecretHolder {
  /// For how long a prompt waits for its answer, in nanoseconds.
  package static let patience: Int64 = 5 * 60 * 1_000_000_000
  /// For how long all of it may last from the moment at which it holds a secret, in nanoseconds.
  package static let longest: Int64 = 30 * 60 * 1_000_000_000

  private let prompter: any Prompter
  private let conversations: Conversations
  private let timer: Timer
  private var onAnswer: ((consuming SecureBytes) -> Void)?
  private var timeout: Timer.Cancel?
  private var limit: Timer.Cancel?
  package private(set) var isOver = false
  /// The result of what was asked for, once that is done: its caller is told this, whatever ends it then.
  private var done: ConversationResult?
  /// For what it has a worker do.
  let cancellation = Cancellation()
  /// True when it is over as soon as the vault is unlocked, by whomever.
  var endsWhenUnlocked = false
  /// Records what comes of it: the outcome, and in words what was done, or what was tried.
  var record: (AuditOutcome, String?) -> Void = { _, _ in }
  /// What was done, in words for the audit log.
  var said: String?
  /// Runs once when it ends, however that is, and is told whether its caller dismissed it.
  var onEnd: ((_ dismissed: Bool) -> Void)?
  /// True when a secret came in, or a key was made or is on its way: it, or what it opens, may still be held.
  private(set) var holdsSecret = false
  /// True where a vault comes of it, whose boot key is to lie where the settings said at the beginning.
  var makesVault = false
  /// True when it tells its caller the name of an item.
  var namesItem = false
  /// The slot that proved the right: what goes on here is over when the slots change.
  var proof: SlotRecord?
  /// True when the secret that proves the right is kept, to make the same way in again.
  var keepsSecret = false
  /// The secret that proved the right, if that is kept.
  private(set) var secret: Handover?
  /// Keys, while what was proven here goes on without a worker; wiped at the end, whoever still knows of them.
  private var wiped: [Handover] = []
  /// Ends what other programs do for it.
  private var calledOff: [() -> Void] = []

  init(_ prompter: any Prompter, _ conversations: Conversations, _ holders: SecretHolders, _ timer: Timer) {
    self.prompter = prompter
    self.conversations = conversations
    self.timer = timer
    super.init(in: holders)
    conversations.add(self)
  }

  /// The one on whose behalf a person is asked.
  package var caller: Caller { prompter.caller }

  /// Puts a question; `then` gets the answer.
  func ask(
    _ style: Prompt.Style, method: String, text: String, code: Handover? = nil,
    then: @escaping (consuming SecureBytes) -> Void
  ) {
    guard !isOver else { return }
    onAnswer = then
    timeout = timer.after(Self.patience) { [weak self] in self?.fail(.cancelled) }
    prompter.show(Prompt(style: style, method: method, text: text, code: code))
  }

  /// Says something that wants no answer.
  func tell(_ style: Prompt.Style, method: String, text: String) {
    if !isOver { prompter.show(Prompt(style: style, method: method, text: text, code: nil)) }
  }

  /// Takes note that it holds a secret from now on: a lock ends it, and so does its time, however often it asks.
  func holdSecret() {
    guard !isOver, !holdsSecret else { return }
    holdsSecret = true
    limit = timer.after(Self.longest) { [weak self] in self?.fail(.cancelled) }
  }

  /// Has a key wiped when the conversation ends, and not only when the last closure that knows it is gone: one of them may
  /// be waiting for another program then.
  func willWipe(_ key: Handover) { wiped.append(key) }

  /// Has what another program does called off when the conversation ends, because that program may hold a key; at once,
  /// where it has ended.
  func willCallOff(_ giveUp: @escaping () -> Void) { if isOver { giveUp() } else { calledOff.append(giveUp) } }

  /// Takes what has proven the right, if that is kept.
  func isProven(by secret: Handover) {
    guard keepsSecret, !isOver else { return }
    self.secret = secret
    willWipe(secret)
  }

  /// Takes the answer to the open question; false when there is none.
  package func answer(_ secret: consuming SecureBytes) -> Bool {
    guard let then = onAnswer, mayConclude else { return false }
    onAnswer = nil
    holdSecret()
    timeout?()
    then(secret)
    return true
  }

  /// True when what was asked for may be done now: it is not over, and the process that asked still runs. To be asked right
  /// before each effect that comes in a later turn than the answer it follows from: Argon2id, keystores and readers take
  /// their time.
  var mayConclude: Bool { !isOver && prompter.isPresent }

  /// Records that what was asked for was done, where something else is to happen before it ends. Neither a lock nor a
  /// change of the slots, which end it, nor its caller's leaving undoes that: it ends with this result, and nothing
  /// more is recorded.
  func conclude(_ result: ConversationResult = .done) {
    guard !isOver, done == nil else { return }
    record(.ok, said)
    done = result
  }

  /// Ends it with its result: the one that it was concluded with, or this.
  func finish(_ result: ConversationResult = .done) {
    guard !isOver else { return }
    conclude(result)
    end()
    prompter.finish(done ?? result)
  }

  package func fail(_ refusal: Refusal) { fail(refusal, dismissed: refusal == .cancelled) }

  /// Ends it because the vault is locked: nobody dismissed anything.
  func callOff() { fail(.cancelled, dismissed: false) }

  private func fail(_ refusal: Refusal, dismissed: Bool) {
    guard !isOver else { return }
    if done != nil { return finish() }
    record(refusal.outcome, refusal.tried)
    end(dismissed: dismissed)
    prompter.refuse(refusal)
  }

  /// Ends it because its caller has left, which is recorded where nothing has come of it yet.
  package func leave() {
    guard !isOver else { return }
    if done == nil { record(.cancelled, nil) }
    end(dismissed: done == nil)
  }

  /// Forgets the conversation without a word.
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

  // The key that one of them has been given opens what is wiped, or a vault that is only being made.
  public override func outlives(_ lock: Lock) -> Bool {
    !isOver && (holdsSecret || namesItem && lock.reach.contains(.names))
  }
}

/// The conversations that are open, in the order in which they began.
package final class Conversations {
  private var open: [Conversation] = []

  package init() {}

  fileprivate func add(_ conversation: Conversation) { open.append(conversation) }
  fileprivate func remove(_ conversation: Conversation) { open.removeAll { $0 === conversation } }

  /// Runs `body` with each of them; any of them may end by it.
  func each(_ body: (Conversation) -> Void) {
    for conversation in open { body(conversation) }
  }

  /// Ends all of them without a word.
  package func end() { for conversation in open { conversation.end() } }
}
