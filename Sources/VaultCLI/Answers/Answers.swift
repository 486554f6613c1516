internal import Glibc
internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// Answers the daemon's questions in a conversation: at the terminal, or with lines from standard input.
final class Answers {
  private var lines: InputLines?
  private let json: Bool
  /// The advice if nobody can be asked.
  private let otherwise: String
  /// A recovery code that the daemon made and this program confirmed without a person.
  private var recoveryCode: SecretBuffer?
  /// True while this program has given out a recovery code that may not be stored yet.
  private var isCodePending = false
  /// The clause that completes "the recovery code above was not stored, and", if a signal ends the program at that
  /// question.
  var consequence = "opens nothing"
  /// True when a choice was answered with yes.
  private(set) var hasChosen = false
  /// Hides what is typed; set from the first question on.
  private var hush: Hush?
  /// The method and the question of the last secret asked for.
  private var asked: (method: String, question: String)?
  /// The number of times that this secret was asked for.
  private var tries = 0
  /// The methods that have asked for a secret in this conversation.
  private var methods: Set<String> = []
  /// The answer to the daemon's next question, if this program already has it: a secret that it asked for again after a
  /// refusal, or a recovery code from an earlier conversation.
  private var held: SecretBuffer?
  /// The recovery code that was given last, kept until ``forgetCode()``.
  private var code: SecretBuffer?
  /// True if a recovery code was given and no secret of another method after it.
  var hasGivenCode: Bool { code != nil }
  /// True once a secret was given.
  private(set) var hasAnswered = false
  /// The reason why the last secret may be wrong although it looks right; `isHinted` is true once such a reason was
  /// shown.
  private var passwordHint: String?
  private var isHinted = false

  convenience init(_ options: SecretOptions, json: Bool) {
    self.init(
      fromInput: options.passwordStdin, json: json,
      otherwise: "use --password-stdin and pass the secret on standard input")
  }

  /// - Parameters:
  ///   - fromInput: whether standard input answers, one line per question.
  ///   - json: whether a recovery code goes into the JSON output instead of onto its own line.
  ///   - otherwise: the advice if nobody can be asked.
  init(fromInput: Bool, json: Bool, otherwise: String = Failure.askOnTerminal) {
    self.otherwise = otherwise
    lines = fromInput ? InputLines(limit: 64 * 1024) : nil
    self.json = json
  }

  /// Returns the answer to one question; nil cancels the conversation, unless the daemon has withdrawn the question.
  func answer(_ prompt: borrowing Prompt) throws -> SecretBuffer? {
    if !prompt.style.wantsAnswer { return show(prompt) }
    if prompt.style == .confirm, lines != nil { return try confirmByItself(prompt) }
    if lines != nil { return try nextLine(prompt) }
    let keyboard = try Keyboard(otherwise: otherwise, for: prompt.open)
    let question = Questions.text(of: prompt)
    switch prompt.style {
    case .newSecret:
      try hush(keyboard)
      // This program checks only a new vault password: it does not set the rules for login passwords.
      return try Answers.twice("\(question): ", "Again: ", keyboard, isNewPassword: prompt.method == "password")
    case .confirm:
      try hush(keyboard)
      try show(prompt, question, keyboard)
      isCodePending = true
      return try keyboard.ask(
        "Recovery code: ", .shown, ifEnded: "the recovery code above was not stored, and \(consequence)")
    case .visible:
      try hush(keyboard)
      return try keyboard.ask("\(question): ", .shown)
    case .choice:
      try hush(keyboard)
      hasChosen = try keyboard.confirm(question)
      let answer: StaticString = hasChosen ? "y" : "n"
      return unsafe SecretBuffer(
        copying: Span(_unsafeElements: UnsafeBufferPointer(start: answer.utf8Start, count: 1)).bytes)
    case .secret, .info, .error: return try secret(prompt.method, question, keyboard)
    }
  }

  /// Hides what is typed from now on, even before the first question.
  func begin() {
    if lines == nil, hush == nil { hush = Hush.onTerminal() }
  }

  /// Ends the conversation: the terminal shows typed text again.
  func finish() {
    hush = nil
    rest()
  }

  /// Says that the recovery code above opens nothing, because the operation failed before the code was stored.
  func disownCode() {
    if isCodePending { Output.note("the recovery code above was not stored, and opens nothing") }
    isCodePending = false
  }

  /// Ends one conversation when another one follows: typed text stays hidden.
  func rest() {
    Hush.forget()
    isCodePending = false
    held = nil
    asked = nil
    methods = []
    tries = 0
  }

  /// Forgets the recovery code that was given.
  func forgetCode() { code = nil }

  /// Returns answers from a person for the next conversation. If a recovery code was given here, the new answers give
  /// that code to the first question for a recovery code.
  func holdingCode() -> Answers {
    let next = Answers(fromInput: false, json: json, otherwise: otherwise)
    guard let code = code.take() else { return next }
    next.asked = (SlotKind.recovery.name, "Recovery code")
    next.held = consume code
    return next
  }

  /// Keeps the given secret if it is a recovery code; forgets the kept code otherwise.
  private func keep(_ given: borrowing SecretBuffer, for method: String) {
    hasAnswered = true
    if method == SlotKind.recovery.name {
      code = given.withBytes { SecretBuffer(copying: $0) }
    } else {
      code = nil
    }
  }

  private func hush(_ keyboard: borrowing Keyboard) throws(Failure) {
    if hush == nil { hush = try Hush(of: keyboard.terminal) }
  }

  private func secret(
    _ method: String, _ question: String, _ keyboard: borrowing Keyboard
  ) throws(Failure) -> SecretBuffer? {
    if let held = held.take(), asked?.method == method { return held }
    try hush(keyboard)
    methods.insert(method)
    tries = asked?.method == method ? tries + 1 : 1
    asked = (method, question)
    let mayBeEmpty = method == SlotKind.pam.name
    guard let typed = try Answers.usable("\(question): ", keyboard, mayBeEmpty: mayBeEmpty) else { return nil }
    passwordHint = ComposedLetters.hint(for: typed)
    keep(typed, for: method)
    return typed
  }

  /// Asks for a hidden secret, at most three times, until the entry is not empty and has no control key in it, such as
  /// an arrow key: no password has one, and a wrong password costs a wait.
  static func usable(
    _ question: String, _ keyboard: borrowing Keyboard, mayBeEmpty: Bool = false
  ) throws(Failure) -> SecretBuffer? {
    var refusal = Refusal.empty
    for number in 1...tries {
      guard let typed = try keyboard.ask(question, .hidden) else { return nil }
      if typed.count == 0, !mayBeEmpty {
        refusal = .empty
      } else if typed.hasControlKeys {
        refusal = .controlKeys
      } else {
        return typed
      }
      if number < tries { try keyboard.show(refusal.line) }
    }
    throw Failure(.invalid, refusal.atLast, "start again")
  }

  /// Adds the recovery code that the daemon made, if there is one.
  func addRecoveryCode(to object: inout JSONBuilder) {
    switch recoveryCode {
    case .some(let code): code.withBytes { object.add("recovery_code", secret: $0) }
    case .none: break
    }
  }

  /// Asks again for a secret that the daemon did not accept, and keeps the answer for the next call, which must follow.
  ///
  /// This program asks at once and waits for the backoff afterwards, so that nobody types ahead while the terminal
  /// shows typed text.
  ///
  /// - Parameter takesMethod: whether the call accepts a method as an argument.
  /// - Returns: the method that the next call must use; nil if another call makes no sense.
  func again(after fault: Fault, takesMethod: Bool) throws(Failure) -> String? {
    guard lines == nil else { return nil }
    let (method, wait): (String, Int)
    switch fault {
    case .authenticationFailed(let failed, let milliseconds), .backingOff(let failed, let milliseconds):
      (method, wait) = (failed, milliseconds)
    case .mistypedRecoveryCode: (method, wait) = (SlotKind.recovery.name, 0)
    default: return nil
    }
    // A call that accepts no method would begin with the first method, which may ask another question.
    guard takesMethod || methods.isSubset(of: [method]), tries < Answers.tries else {
      if asked != nil { try Keyboard(otherwise: "").awaitSilence() }
      return nil
    }
    let end = Moment.now() + wait
    let keyboard = try Keyboard(otherwise: otherwise)
    guard let question = asked?.method == method ? asked?.question : nil else {
      guard SlotKind.typed.contains(where: { $0.name == method }) else { return nil }
      return try askLater(method, fault, keyboard, until: end)
    }
    try keyboard.show("vault: \(Failure(fault).event)\n")
    if let hint = hint(after: fault) { try keyboard.show("vault: \(hint)\n") }
    guard let answer = try secret(method, question, keyboard) else { throw Failure(Fault.cancelled) }
    held = consume answer
    try pause(until: end, keyboard)
    return method
  }

  /// Waits until the daemon accepts another attempt, and leaves the question to the daemon. The daemon has not yet
  /// asked for this secret, and only the daemon knows the question's full text, such as what the secret is for.
  private func askLater(
    _ method: String, _ fault: Fault, _ keyboard: borrowing Keyboard, until end: Int
  ) throws(Failure) -> String {
    try hush(keyboard)
    tries += 1
    try keyboard.show("vault: \(Failure(fault).event)\n")
    try pause(until: end, keyboard)
    return method
  }

  private func pause(until end: Int, _ keyboard: borrowing Keyboard) throws(Failure) {
    let seconds = (end - Moment.now() + 999) / 1000
    if seconds > 1 { try keyboard.show("vault: waiting \(seconds) s\n") }
    Moment.wait(until: end)
  }

  /// The most times that a secret is asked for.
  private static let tries = 3

  private func nextLine(_ prompt: borrowing Prompt) throws(Failure) -> SecretBuffer? {
    guard let line = try lines?.next() else {
      throw Failure(
        .usage,
        "standard input ended before \(Printable.quoted(prompt.text)) was answered", "give one line for each question")
    }
    passwordHint = ComposedLetters.hint(for: line)
    keep(line, for: prompt.method)
    return line
  }

  /// Returns the reason why the refused password may be wrong although it looks right; nil if none is known or one was
  /// already returned.
  private func hint(after fault: Fault) -> String? {
    guard case .authenticationFailed(let method, _) = fault, SlotKind(name: method)?.facts.secret == .password,
      let passwordHint, !isHinted
    else { return nil }
    isHinted = true
    return passwordHint
  }

  /// The method whose secret was wrong when the conversation ended; nil if it ended otherwise.
  private(set) var refused: String?

  /// Returns the failure that ends the conversation, with the reason of `hint(after:)` added. Sets ``refused``.
  func explained(_ failure: Failure, _ fault: Fault?) -> Failure {
    if case .authenticationFailed(let method, _) = fault { refused = method }
    guard let hint = fault.flatMap(hint) else { return failure }
    return Failure(failure.exit, failure.event, [failure.advice, hint].compactMap { $0 }.joined(separator: "; "))
  }

  /// Shows a prompt that wants no answer: beside the questions or, if nobody sits at a terminal, on standard error.
  private func show(_ prompt: borrowing Prompt) -> SecretBuffer? {
    if lines == nil, let keyboard = try? Keyboard(otherwise: "") {
      // The prompt asks for a finger, but a person may type a password here.
      try? hush(keyboard)
      try? keyboard.show(Questions.line(prompt) + "\n")
    } else {
      Output.note(Printable.text(prompt.text))
    }
    return nil
  }

  /// Shows a recovery code on its own line.
  private func show(_ prompt: borrowing Prompt, _ question: String, _ keyboard: borrowing Keyboard) throws(Failure) {
    switch prompt.code {
    case .some(let code):
      try keyboard.show("\(question):\n\n    ")
      try code.withBytes { bytes throws(Failure) in try keyboard.show(bytes) }
      try keyboard.show("\n\n")
    case .none: try keyboard.show("\(question):\n")
    }
  }

  /// Confirms a recovery code without a person: the output is the place where the code is written down.
  private func confirmByItself(_ prompt: borrowing Prompt) throws(Failure) -> SecretBuffer? {
    switch prompt.code {
    case .some(let code):
      let copy = code.withBytes { SecretBuffer(copying: $0) }
      if json {
        recoveryCode = code.withBytes { SecretBuffer(copying: $0) }
      } else {
        try code.withBytes { bytes throws(Failure) in try Output.write(bytes) }
        try Output.text("\n")
        isCodePending = true
      }
      return copy
    case .none: return nil
    }
  }

  /// Asks for a new secret until two entries agree. Gives up at the third refusal for the same reason: two entries that
  /// differ, a weak entry, or one with control keys in it, such as an arrow key.
  ///
  /// - Parameter isNewPassword: true if the entry must be strong enough for a password of the vault. A weak entry is
  ///   reported before the person types it again.
  /// - Parameter limit: the most bytes of a pasted entry; nil if no entry is pasted. With a limit, an entry of a
  ///   recognized form (``LikelyKind``) is accepted without a second entry.
  /// - Parameter mayBeEmpty: false if the caller refuses an empty entry; then an empty first entry is returned at once.
  static func twice(
    _ question: String, _ again: String, _ keyboard: borrowing Keyboard, isNewPassword: Bool = false,
    pasting limit: Int? = nil, mayBeEmpty: Bool = true
  ) throws(Failure) -> SecretBuffer? {
    let hush = try Hush(of: keyboard.terminal)
    defer { _ = hush }
    var refusals: [String: Int] = [:]
    while true {
      guard let first = try entry(question, keyboard, pasting: limit) else { return nil }
      if limit != nil, first.withBytes({ LikelyKind(of: $0) != nil }) { return first }
      if !mayBeEmpty, first.count == 0 { return first }
      let refusal: Refusal
      if first.hasControlKeys {
        refusal = .controlKeys
      } else if isNewPassword, let weakness = first.withBytes({ Weakness(of: $0) }) {
        refusal = .weak(weakness)
      } else {
        guard let second = try entry(again, keyboard, pasting: limit, isAgain: true) else { return nil }
        if first.isEqual(to: second) { return first }
        refusal = .different
      }
      // Each reason has its own tries: a typing error after two weak passwords is the first typing error.
      refusals[refusal.name, default: 0] += 1
      if refusals[refusal.name] == tries { throw Failure(.invalid, refusal.atLast, "start again") }
      try keyboard.show(refusal.line)
    }
  }

  /// Asks for one entry of a new secret, which may be pasted if there is a limit of its bytes; nil at the end of the
  /// input.
  private static func entry(
    _ question: String, _ keyboard: borrowing Keyboard, pasting limit: Int?, isAgain: Bool = false
  ) throws(Failure) -> SecretBuffer? {
    if let limit { return try keyboard.askText(question, limit: limit, isAgain: isAgain) }
    return try keyboard.ask(question, .hidden)
  }

  /// The reason why an entry is asked for again.
  private enum Refusal {
    case weak(Weakness)
    case controlKeys
    case empty
    case different

    var name: String {
      switch self {
      case .weak: "weak"
      case .controlKeys: "control keys"
      case .empty: "empty"
      case .different: "different"
      }
    }

    /// The line for the person who is asked again.
    var line: String {
      switch self {
      case .weak(let weakness): "vault: \(weakness.text)\n"
      case .controlKeys: "vault: \(Self.pressed())\n"
      case .empty: "vault: nothing was typed\n"
      case .different: "The two are not the same.\n"
      }
    }

    /// The message after the last try.
    var atLast: String {
      switch self {
      case .weak(let weakness): weakness.text
      case .controlKeys: Self.pressed(" three times")
      case .empty: "nothing was typed three times"
      case .different: "the two entries differed three times"
      }
    }

    private static func pressed(_ count: String = "") -> String {
      "a key that types no character was pressed\(count), such as an arrow key"
    }
  }
}

extension SecretBuffer {
  /// Returns true if both hold the same bytes. The time of the comparison depends on the length alone.
  borrowing func isEqual(to other: borrowing SecretBuffer) -> Bool {
    guard count == other.count else { return false }
    return withBytes { left in
      other.withBytes { right in
        let (left, right) = (Span<UInt8>(_bytes: left), Span<UInt8>(_bytes: right))
        return left.indices.reduce(UInt8(0)) { $0 | (left[$1] ^ right[$1]) } == 0
      }
    }
  }
}
