public import VaultBytes
internal import VaultModel
public import VaultWire

/// A question from the daemon to the person who unlocks or changes the vault.
public struct Prompt: ~Copyable {
  /// The way in which the question is put.
  public enum Style: String, Sendable {
    /// A secret, read without echo.
    case secret
    /// A new secret, read twice without echo, and sent when both inputs agree.
    case newSecret = "new-secret"
    /// A code, shown once and typed back by the person.
    case confirm
    /// A line, read with echo.
    case visible
    /// A yes or no, read with echo: `y` is yes, and everything else is no.
    case choice
    /// A text to show. The return value of the answering closure is ignored.
    case info
    /// A text about a problem, such as a finger that was not recognized. The closure's return value is ignored.
    case error

    /// True when the prompt is a question.
    public var wantsAnswer: Bool { self != .info && self != .error }
  }

  /// The way in which the question is put.
  public let style: Style
  /// The method that asks: `pam`, `password`, `recovery` or `login`.
  public let method: String
  /// The question.
  public let text: String
  /// The code to show, if the style is ``Style/confirm``.
  public let code: SecretBuffer?
  /// The state of the question; nil for a text to show.
  public let open: OpenQuestion?
}

extension Vault {
  /// Answers a prompt. Nil cancels the call, unless ``Prompt/open`` was found withdrawn or over: then the next prompt
  /// or the outcome of the call follows.
  public typealias Answer = (borrowing Prompt) throws -> SecretBuffer?

  /// Opens the vault.
  ///
  /// - Parameters:
  ///   - method: `pam`, `password`, `recovery` or `login`; nil tries `pam` if there is a slot for it, then the
  ///     password.
  ///   - duration: locks the vault again after this time; nil leaves that to the daemon's settings.
  ///   - answer: called with each prompt. Nil from it cancels: ``Fault/cancelled`` is thrown.
  public func unlock(method: String? = nil, for duration: Duration? = nil, answer: Answer) throws {
    try converse(
      .unlock,
      Wire.UnlockParameters(
        method: method, for: duration.map { Int($0.components.seconds) }, reason: reason, interactive: attended),
      answer)
  }

  /// Makes the vault and leaves it unlocked.
  ///
  /// - Parameters:
  ///   - recovery: true to make a recovery code, which `answer` is shown.
  ///   - keystore: also makes a `pam` slot for the caller, with its key in this keystore.
  ///   - insecure: true to allow a keystore that is a file among the user's own files.
  ///   - offer: true to ask the person at the end whether presence should open the vault, too. The daemon asks this
  ///     only without a `keystore`, and only if the machine can recognize the person.
  ///   - kdfMemory: bytes of memory for the key derivation; nil lets the daemon measure what the machine can do.
  ///   - kdfPasses: passes of the key derivation; nil lets the daemon measure them, too.
  ///   - answer: called for the first password and with the other prompts.
  public func initialize(
    recovery: Bool = false, keystore: String? = nil, insecure: Bool? = nil, offer: Bool = false, kdfMemory: Int? = nil,
    kdfPasses: Int? = nil, answer: Answer
  ) throws {
    try converse(
      .`init`,
      Wire.InitParameters(
        recovery: recovery ? true : nil, keystore: keystore, insecure: insecure, offer: offer ? true : nil,
        kdfMemory: kdfMemory, kdfPasses: kdfPasses), makesCode: recovery, answer)
  }

  /// Asks a person for the proof that the item `name` requires, so that the item is served to this session for its
  /// reuse window.
  public func authenticate(for name: String, answer: Answer) throws {
    try converse(.authenticate, Wire.AuthenticateParameters(name: name, reason: reason, interactive: attended), answer)
  }

  /// Asks a person for the proof that a change of grants requires in a user's vault, for this session and one minute.
  public func authenticateForGrants(answer: Answer) throws {
    try converse(.authenticate, Wire.AuthenticateParameters(reason: reason, interactive: attended), answer)
  }

  /// Asks a person for the proof that an inquiry needs, on behalf of the sessions that wait for it. For agents that
  /// received the inquiry through ``attend(faces:_:)``.
  public func authenticate(inquiry: Int, answer: Answer) throws {
    try converse(.authenticate, Wire.AuthenticateParameters(interactive: attended, inquiry: inquiry), answer)
  }

  /// Replaces the password.
  ///
  /// - Parameters:
  ///   - method: the proof of the right to do this; with `recovery`, `answer` is asked for the recovery code.
  ///   - kind: the secret to replace, `password` or `login`; nil means that of `method`.
  ///   - slot: the number of the slot whose secret is replaced; nil means the slot that the old secret opens or, with
  ///     another proof, the slot with the lowest number. Daemons before 2026-12 do not know this parameter.
  ///   - answer: called for the old secret, then for the new one.
  public func changePassword(
    method: String? = nil, kind: String? = nil, slot: Int? = nil, kdfMemory: Int? = nil, kdfPasses: Int? = nil,
    answer: Answer
  ) throws {
    try converse(
      .changePassword,
      Wire.ChangePasswordParameters(
        method: method, kind: kind, kdfMemory: kdfMemory, kdfPasses: kdfPasses, slot: slot), answer)
  }

  /// The slots of the vault.
  public func slots() throws(ClientError) -> [Wire.Slot] {
    try call(.listSlots, again: true, Wire.Empty()).decode(Wire.ListSlotsReply.self).slots
  }

  /// Adds a slot of `kind` (`password`, `recovery`, `pam` or `login`) and returns its id. `method` proves the right to
  /// add it. A `pam` slot needs a `keystore` and is for `users` (uids), or for the caller; `insecure` is as in `Init`.
  @discardableResult
  public func addSlot(
    kind: String, label: String? = nil, method: String? = nil, keystore: String? = nil, users: [Int]? = nil,
    insecure: Bool? = nil, kdfMemory: Int? = nil, kdfPasses: Int? = nil, answer: Answer
  ) throws -> Int {
    let made: Wire.AddSlotReply = try converse(
      .addSlot,
      Wire.AddSlotParameters(
        kind: kind, label: label, method: method, keystore: keystore, users: users, insecure: insecure,
        kdfMemory: kdfMemory, kdfPasses: kdfPasses), makesCode: SlotKind(name: kind)?.facts.secret == .code, answer)
    guard let slot = made.slot else { throw ClientError.protocolViolation("parameter slot") }
    return slot
  }

  /// Removes the slot `id`. The last slot that is lasting (a password or a recovery code) cannot be removed.
  public func removeSlot(_ id: Int, method: String? = nil, answer: Answer) throws {
    try converse(.removeSlot, Wire.RemoveSlotParameters(id: id, method: method), answer)
  }

  /// Holds a conversation to its end. Prompts come on a separate connection, and answers go over the shared one.
  /// Leaving early, even by an error, closes the separate connection, which cancels the call.
  private func converse<Last: WireValue>(
    _ method: MethodName, _ parameters: some WireValue, makesCode: Bool = false, _ answer: Answer
  ) throws -> Last {
    var replies = try stream(method, timeout: keyTimeout, cancellation: cancellation, parameters)
    var rules = PromptRules(makesCode: makesCode)
    guard let (last, continues) = try converse(&replies, as: Last.self, &rules, answer), !continues else {
      throw ClientError.protocolViolation("a conversation without an end")
    }
    return last
  }

  /// Holds a conversation of a method whose last reply is empty.
  private func converse(
    _ method: MethodName, _ parameters: some WireValue, makesCode: Bool = false, _ answer: Answer
  ) throws {
    let _: Wire.Empty = try converse(method, parameters, makesCode: makesCode, answer)
  }

  /// Puts the prompts of a conversation until a reply is not a prompt. Returns that reply, and true when more replies
  /// follow it; nil at the end.
  func converse<Last: WireValue>(
    _ replies: inout ReplyStream, as last: Last.Type, _ rules: inout PromptRules, _ answer: Answer
  ) throws -> (Last, continues: Bool)? {
    var isLate = false
    while let response = try replies.next(timeout: isLate ? timeout : keyTimeout) {
      switch try response.decode(Wire.Reply<Last>.self) {
      case .last(let last): return (last, response.reply.continues)
      case .question(let question):
        // The question was withdrawn before the answer, for another one or for the last reply. That reply is a success
        // if somebody else has opened the vault meanwhile.
        do {
          isLate = false
          try put(question, response, replies.early, &rules, answer)
        } catch ClientError.fault(.noSuchConversation) { isLate = true }
      }
    }
    return nil
  }

  /// Puts one prompt of a conversation, and sends the answer if the prompt wants one.
  private func put(
    _ question: Wire.Question, _ response: borrowing Response, _ replies: EarlyReplies, _ rules: inout PromptRules,
    _ answer: Answer
  ) throws {
    let (id, prompt) = (question.conversation, question.prompt)
    guard response.reply.continues, let style = Prompt.Style(rawValue: prompt.style) else {
      throw ClientError.protocolViolation("parameter prompt")
    }
    let code = prompt.code.flatMap { response.frame.secret($0) }
    let open = style.wantsAnswer ? OpenQuestion(replies) : nil
    let shown = Prompt(style: style, method: prompt.method, text: prompt.text, code: code, open: open)
    try rules.check(shown)
    let given = try answer(shown)
    guard let open, !open.isWithdrawn else { return }
    guard let given else {
      if open.isOver { return }
      throw ClientError.fault(.cancelled)
    }
    try respond(to: id, prompt.number, given)
  }

  /// - Parameter number: the number of the prompt. Daemons before 2026-12 give none, and accept none.
  private func respond(
    to conversation: String, _ number: Int?, _ answer: borrowing SecretBuffer
  ) throws(ClientError) {
    _ = try call(.respond, again: false) { writer in
      let parameters = Wire.RespondParameters(conversation: conversation, number: number)
      answer.withBytes { parameters.write(to: &writer, secret: $0) }
    }.decode(Wire.Empty.self)
  }
}
