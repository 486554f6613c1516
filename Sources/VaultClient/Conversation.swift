public import VaultWire

/// A question the daemon puts to the person who unlocks or changes the vault.
public struct Prompt: ~Copyable, Sendable {
  /// The way in which it is to be put.
  public enum Style: String, Sendable {
    /// Read without echo.
    case secret
    /// Read without echo, twice, and answer when both agree.
    case newSecret = "new-secret"
    /// Show the code, once, and have it typed back.
    case confirm
    /// Read with echo.
    case visible
    /// Read with echo: `y` is yes, and everything else no.
    case choice
    /// Show the text. What the answering closure returns does not matter.
    case info
    /// The same, when something went wrong: a finger that was not recognised.
    case error

    /// True when it is a question.
    public var wantsAnswer: Bool { self != .info && self != .error }
  }

  /// The way in which it is to be put.
  public let style: Style
  /// The method that asks: `pam`, `password`, `recovery` or `login`.
  public let method: String
  /// The question.
  public let text: String
  /// The code that ``Style/confirm`` shows.
  public let code: SecretBuffer?
}

extension Vault {
  /// Answers a prompt, or cancels the call with nil.
  public typealias Answer = (borrowing Prompt) throws -> SecretBuffer?

  /// Opens the vault.
  ///
  /// - Parameters:
  ///   - method: `pam`, `password`, `recovery` or `login`; nil tries `pam` where there is a slot for it, then the password.
  ///   - duration: locks it again after this time; nil leaves that to the daemon's settings.
  ///   - answer: gets the prompts. Nil from it cancels: ``Fault/cancelled`` is thrown.
  public func unlock(method: String? = nil, for duration: Duration? = nil, answer: Answer) throws {
    try converse(
      .unlock,
      Wire.UnlockParameters(
        method: method, for: duration.map { Int($0.components.seconds) }, reason: reason, interactive: attended),
      answer)
  }

  /// Makes the vault and leaves it unlocked. `answer` is asked for the first password and, with `recovery`, shown the
  /// recovery code; with `offer`, and without a `keystore`, it is asked last whether presence shall open it, too, where it can.
  /// The key derivation's parameters are bytes of memory and passes; nil lets the daemon measure what the machine can.
  /// `keystore` also makes a `pam` slot for the caller, with its key there; `insecure` lets that be a `file` of the user's.
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

  /// Has a person show what the item `name` requires, so that it is served to this session for its reuse window.
  public func authenticate(for name: String, answer: Answer) throws {
    try converse(.authenticate, Wire.AuthenticateParameters(name: name, reason: reason, interactive: attended), answer)
  }

  /// Has a person show what a change of grants asks for in a user's vault, for this session and a minute.
  public func authenticateForGrants(answer: Answer) throws {
    try converse(.authenticate, Wire.AuthenticateParameters(reason: reason, interactive: attended), answer)
  }

  /// Has a person show what the inquiry of that number is about, for the sessions of those who wait for it. For agents that were
  /// told of it by ``attend(faces:_:)``.
  public func authenticate(inquiry: Int, answer: Answer) throws {
    try converse(.authenticate, Wire.AuthenticateParameters(interactive: attended, inquiry: inquiry), answer)
  }

  /// Replaces the password. `answer` is asked for the old one (or the recovery code, when `method` is `recovery`),
  /// then for the new one. `kind` is whose secret is replaced, `password` or `login`; nil means that of `method`.
  public func changePassword(
    method: String? = nil, kind: String? = nil, kdfMemory: Int? = nil, kdfPasses: Int? = nil, answer: Answer
  ) throws {
    try converse(
      .changePassword,
      Wire.ChangePasswordParameters(method: method, kind: kind, kdfMemory: kdfMemory, kdfPasses: kdfPasses), answer)
  }

  /// The ways in.
  public func slots() throws(ClientError) -> [Wire.Slot] {
    try call(.listSlots, again: true, Wire.Empty()).decode(Wire.ListSlotsReply.self).slots
  }

  /// Adds a way in of `kind` (`password`, `recovery`, `pam` or `login`) and gives its id. `method` proves the right to.
  /// A `pam` slot needs a `keystore` and counts for `users` (uids), or for the caller; `insecure` is as in `Init`.
  @discardableResult
  public func addSlot(
    kind: String, label: String? = nil, method: String? = nil, keystore: String? = nil, users: [Int]? = nil,
    insecure: Bool? = nil, kdfMemory: Int? = nil, kdfPasses: Int? = nil, answer: Answer
  ) throws -> Int {
    let made: Wire.AddSlotReply = try converse(
      .addSlot,
      Wire.AddSlotParameters(
        kind: kind, label: label, method: method, keystore: keystore, users: users, insecure: insecure,
        kdfMemory: kdfMemory, kdfPasses: kdfPasses), makesCode: kind == "recovery", answer)
    guard let slot = made.slot else { throw ClientError.protocolViolation("parameter slot") }
    return slot
  }

  /// Removes the way in `id`; never the last one.
  public func removeSlot(_ id: Int, method: String? = nil, answer: Answer) throws {
    try converse(.removeSlot, Wire.RemoveSlotParameters(id: id, method: method), answer)
  }

  /// Holds a conversation to its end. Prompts come on a connection of its own, answers go over the shared one; leaving
  /// early, by an error too, closes the former, which cancels.
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

  /// The same, of a method whose last reply says nothing.
  private func converse(
    _ method: MethodName, _ parameters: some WireValue, makesCode: Bool = false, _ answer: Answer
  ) throws {
    let _: Wire.Empty = try converse(method, parameters, makesCode: makesCode, answer)
  }

  /// Puts the prompts of a conversation that has begun, up to the first reply that is none: the reply, and whether others
  /// follow it; nil at the end.
  func converse<Last: WireValue>(
    _ replies: inout ReplyStream, as last: Last.Type, _ rules: inout PromptRules, _ answer: Answer
  ) throws -> (Last, continues: Bool)? {
    while let response = try replies.next(timeout: keyTimeout) {
      switch try response.decode(Wire.Reply<Last>.self) {
      case .last(let last): return (last, response.reply.continues)
      case .question(let question): try put(question, response, &replies, &rules, answer)
      }
    }
    return nil
  }

  /// Puts a prompt of a conversation, and sends the answer if it wants one.
  private func put(
    _ question: Wire.Question, _ response: borrowing Response, _ replies: inout ReplyStream, _ rules: inout PromptRules,
    _ answer: Answer
  ) throws {
    let (id, prompt) = (question.conversation, question.prompt)
    guard response.reply.continues, let style = Prompt.Style(rawValue: prompt.style) else {
      throw ClientError.protocolViolation("parameter prompt")
    }
    let code = prompt.code.flatMap { response.frame.secret($0) }
    let shown = Prompt(style: style, method: prompt.method, text: prompt.text, code: code)
    try rules.check(shown)
    let given = try answer(shown)
    do {
      guard style.wantsAnswer else { return }
      guard let given else { throw ClientError.fault(.cancelled) }
      try respond(to: id, given)
    } catch ClientError.fault(.noSuchConversation) {
      // It ended meanwhile, and says itself why.
      while try replies.next(timeout: timeout) != nil {}
      throw ClientError.fault(.noSuchConversation)
    }
  }

  private func respond(to conversation: String, _ answer: borrowing SecretBuffer) throws(ClientError) {
    _ = try call(.respond, again: false) { writer in
      let parameters = Wire.RespondParameters(conversation: conversation)
      answer.withBytes { parameters.write(to: &writer, secret: $0) }
    }.decode(Wire.Empty.self)
  }
}
