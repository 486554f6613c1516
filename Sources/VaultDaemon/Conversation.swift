internal import NIOCore
internal import VaultAPI
internal import VaultCore

/// A call that asks its client for secrets: prompts go out on the call's own connection, answers come in on another.
///
/// It ends with its last reply, with an error, when its connection closes, or when a prompt is left unanswered.
final class Conversation {
  /// 128 random bits in hex, known to the one who began it.
  let id: String
  let connection: Connection
  private unowned let service: Service
  private var onAnswer: ((consuming SecureBytes) -> Void)?
  private var timeout: Scheduled<Void>?
  private(set) var isOver = false
  /// For what it has a worker do.
  let cancellation = Cancellation()
  /// True when it is over as soon as the vault is unlocked, by whomever.
  var endsWhenUnlocked = false
  /// Runs once when it ends, however that is, and is told whether its client dismissed it.
  var onEnd: ((_ dismissed: Bool) -> Void)?
  /// True when a secret came in, or a key was made or is on its way: it, or what it opens, may still be held.
  private(set) var holdsSecret = false
  /// True where a vault comes of it, whose boot key is to lie where the settings said at the beginning.
  var makesVault = false
  /// True when it tells its client the name of an item.
  var namesItem = false
  private var limit: Scheduled<Void>?
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

  private let after: (TimeAmount, @escaping () -> Void) -> Scheduled<Void>?

  /// - Parameter after: runs something after a time, unless it is cancelled: on the connection's loop, unless told otherwise.
  init(
    connection: Connection, service: Service,
    after: ((TimeAmount, @escaping () -> Void) -> Scheduled<Void>?)? = nil
  ) {
    self.connection = connection
    self.after = after ?? connection.after
    self.service = service
    let digits = Array("0123456789abcdef")
    id = String(RandomBytes.array(count: 16).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    service.conversations[id] = self
    connection.hold { [weak self] in self?.end(dismissed: true) }
  }

  /// Puts a question; `then` gets the answer.
  func ask(
    _ style: PromptStyle, method: String, text: String, code: Handover? = nil,
    then: @escaping (consuming SecureBytes) -> Void
  ) {
    guard !isOver else { return }
    onAnswer = then
    timeout = after(Timeouts.prompt) { [weak self] in self?.fail(.cancelled) }
    let reply = Wire.ConversationReply(
      conversation: id, prompt: Wire.Prompt(style: style.rawValue, method: method, text: text))
    guard let code else { return connection.reply(reply, continues: true) }
    code.withSecret { code in
      code.withBytes { code in
        connection.reply(continues: true, content: .whenUnlocked) { writer in reply.write(to: &writer, code: code) }
      }
    }
  }

  /// Takes note that it holds a secret from now on: a lock ends it, and so does its time, however often it asks.
  func holdSecret() {
    guard !isOver, !holdsSecret else { return }
    holdsSecret = true
    limit = after(Timeouts.conversation) { [weak self] in self?.fail(.cancelled) }
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

  /// Says something that wants no answer.
  func tell(_ style: PromptStyle, method: String, text: String) {
    guard !isOver else { return }
    let prompt = Wire.Prompt(style: style.rawValue, method: method, text: text)
    connection.reply(Wire.ConversationReply(conversation: id, prompt: prompt), continues: true)
  }

  /// Takes the answer to the open question; false when there is none.
  func answer(_ secret: consuming SecureBytes) -> Bool {
    guard let then = onAnswer, mayConclude else { return false }
    onAnswer = nil
    holdSecret()
    timeout?.cancel()
    then(secret)
    return true
  }

  /// Whether what was asked for may be done now: it is not over, and the process that connected still runs. One that has
  /// ended is refused here, whoever holds its socket. To be asked right before each effect that comes in a later turn than
  /// the answer it follows from: Argon2id, keystores and readers take their time.
  var mayConclude: Bool {
    guard !isOver else { return false }
    guard connection.isPeerAlive else {
      connection.disown()
      return false
    }
    return true
  }

  /// The last reply; `slot` is what AddSlot made.
  func finish(slot: UInt32? = nil) {
    guard !isOver else { return }
    end()
    connection.reply(Wire.AddSlotReply(slot: slot.map(Int.init)))
  }

  func fail(_ fault: Fault) { fail(fault, dismissed: fault == .cancelled) }

  /// Ends it because the vault is locked: nobody dismissed anything.
  func callOff() { fail(.cancelled, dismissed: false) }

  private func fail(_ fault: Fault, dismissed: Bool) {
    guard !isOver else { return }
    end(dismissed: dismissed)
    connection.fail(fault)
  }

  /// Forgets the conversation without a word.
  func end(dismissed: Bool = false) {
    isOver = true
    cancellation.cancel()
    onAnswer = nil
    timeout?.cancel()
    limit?.cancel()
    service.conversations[id] = nil
    for key in wiped { _ = key.take() }
    wiped = []
    for giveUp in calledOff { giveUp() }
    calledOff = []
    let onEnd = onEnd
    self.onEnd = nil
    onEnd?(dismissed)
  }
}

/// The style of a prompt: the words of the interface.
enum PromptStyle: String {
  case secret
  case newSecret = "new-secret"
  case confirm
  case visible
  /// To be shown; nobody answers.
  case info
  /// The same, when something went wrong.
  case error

  var wantsAnswer: Bool { self != .info && self != .error }
}

extension Wire.ConversationReply {
  /// Writes it with the prompt's code, which is a secret and so no part of the value.
  fileprivate func write(to writer: inout JSONWriter, code: RawSpan) {
    writer.beginObject()
    if let conversation {
      writer.key("conversation")
      writer.string(conversation)
    }
    if let prompt {
      writer.key("prompt")
      prompt.write(to: &writer, code: code)
    }
    writer.endObject()
  }
}
