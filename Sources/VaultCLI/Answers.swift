internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// Answers the questions of a conversation with the daemon: at the terminal, or from standard input line by line.
final class Answers {
  private var lines: InputLines?
  private let json: Bool
  /// A recovery code that was made and confirmed without a person.
  private var recoveryCode: SecretBuffer?
  /// True when a choice was answered with yes.
  private(set) var hasChosen = false
  /// Stands from the first question on.
  private var hush: Hush?
  /// The secret that was asked for last.
  private var asked: (method: String, question: String)?
  /// The number of questions for it.
  private var tries = 0
  /// The methods that asked.
  private var methods: Set<String> = []
  /// The answer to a question that was put before the daemon has put it again.
  private var held: SecretBuffer?
  /// The recovery code that was given last, until ``forgetCode()``.
  private var code: SecretBuffer?
  /// True where a recovery code was given, and none of another method after it.
  var hasGivenCode: Bool { code != nil }
  /// True where the last secret has characters beyond ASCII, and where that was told.
  private var hasComposed = false
  private var isHinted = false

  convenience init(_ options: SecretOptions, json: Bool) { self.init(fromInput: options.passwordStdin, json: json) }

  /// - Parameters:
  ///   - fromInput: whether standard input answers, one line a question.
  ///   - json: whether a recovery code is to go into JSON and not onto a line of its own.
  init(fromInput: Bool, json: Bool) {
    lines = fromInput ? InputLines(limit: 64 * 1024) : nil
    self.json = json
  }

  /// The answer to one question; nil cancels.
  func answer(_ prompt: borrowing Prompt) throws -> SecretBuffer? {
    if !prompt.style.wantsAnswer { return show(prompt) }
    if prompt.style == .confirm, lines != nil { return try confirmByItself(prompt) }
    if lines != nil { return try nextLine(prompt) }
    let keyboard = try Keyboard(otherwise: "use --password-stdin and pass the secret on standard input")
    let question = Questions.text(of: prompt)
    switch prompt.style {
    case .newSecret:
      try hush(keyboard)
      // How long a login password has to be is not ours to say.
      return try Answers.twice("\(question): ", "Again: ", keyboard, isNewPassword: prompt.method == "password")
    case .confirm:
      try hush(keyboard)
      try show(prompt, question, keyboard)
      return try keyboard.ask("Recovery code: ", .shown)
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

  /// Hides what is typed from here on, before the first question.
  func begin() {
    if lines == nil, hush == nil { hush = Hush.onTerminal() }
  }

  /// The conversation is over: the terminal shows again what is typed.
  func finish() {
    hush = nil
    rest()
  }

  /// The conversation is over, and another one follows.
  func rest() {
    Hush.forget()
    held = nil
    asked = nil
    methods = []
    tries = 0
  }

  /// Forgets the recovery code that was given.
  func forgetCode() { code = nil }

  /// Answers of a person that begin with the recovery code which these were given, where it is asked for once more.
  func holdingCode() -> Answers {
    let next = Answers(fromInput: false, json: json)
    guard let code = code.take() else { return next }
    next.asked = (SlotKindArgument.recovery.rawValue, "Recovery code")
    next.held = consume code
    return next
  }

  /// Keeps what was given for a prompt where that is a recovery code.
  private func keep(_ given: borrowing SecretBuffer, for method: String) {
    if method == SlotKindArgument.recovery.rawValue {
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
    guard let typed = try keyboard.ask("\(question): ", .hidden) else { return nil }
    hasComposed = ComposedLetters.areIn(typed)
    keep(typed, for: method)
    return typed
  }

  /// Writes the recovery code that was made, if one was.
  func writeRecoveryCode(to writer: inout JSONWriter) {
    switch recoveryCode {
    case .some(let code):
      writer.key("recovery_code")
      code.withBytes { writer.secret($0) }
    case .none: break
    }
  }

  /// Asks again, in place, for a secret that was not accepted, and keeps the answer for the next call, which is to follow.
  ///
  /// The question comes at once and the wait is behind it, so that nobody types ahead where it would show.
  ///
  /// - Parameter takesMethod: whether the call can be told the method.
  /// - Returns: the method that the next call is to use; nil when it is not worth another.
  func again(after fault: Fault, takesMethod: Bool) throws(Failure) -> String? {
    // One that cannot be told would begin with the first method, whose question is another.
    guard lines == nil else { return nil }
    let (method, wait): (String, Int)
    switch fault {
    case .authenticationFailed(let failed, let milliseconds), .backingOff(let failed, let milliseconds):
      (method, wait) = (failed, milliseconds)
    case .mistypedRecoveryCode: (method, wait) = ("recovery", 0)
    default: return nil
    }
    guard takesMethod || methods.isSubset(of: [method]), tries < Answers.tries else {
      if asked != nil { try Keyboard(otherwise: "").awaitSilence() }
      return nil
    }
    let end = Moment.now() + wait
    let keyboard = try Keyboard(otherwise: "")
    guard let question = asked?.method == method ? asked?.question : nil else {
      guard SlotKindArgument.typed.contains(where: { $0.rawValue == method }) else { return nil }
      return try askLater(method, fault, keyboard, until: end)
    }
    try keyboard.show("vault: \(Failure(fault).event)\n")
    if let hint = hint(after: fault) { try keyboard.show("vault: \(hint)\n") }
    guard let answer = try secret(method, question, keyboard) else { throw Failure(Fault.cancelled) }
    held = consume answer
    try pause(until: end, keyboard)
    return method
  }

  /// Waits for the time from which on the daemon asks. It has not asked yet for this secret, and what it would say, such as
  /// what the secret is for, only it knows.
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

  /// The number of times that a secret is asked for.
  private static let tries = 3

  private func nextLine(_ prompt: borrowing Prompt) throws(Failure) -> SecretBuffer? {
    guard let line = try lines?.next() else {
      throw Failure(
        .usage,
        "standard input ended before \(Printable.quoted(prompt.text)) was answered", "give one line for each question")
    }
    hasComposed = ComposedLetters.areIn(line)
    keep(line, for: prompt.method)
    return line
  }

  /// The reason why a password can be wrong that looks right, where the last one may be such; it is told once.
  private func hint(after fault: Fault) -> String? {
    guard case .authenticationFailed(let method, _) = fault, ["password", "login"].contains(method), hasComposed,
      !isHinted
    else { return nil }
    isHinted = true
    return ComposedLetters.hint
  }

  /// The failure that ends the conversation, with that reason.
  func explained(_ failure: Failure, _ fault: Fault?) -> Failure {
    guard let hint = fault.flatMap(hint) else { return failure }
    return Failure(failure.exit, failure.event, [failure.advice, hint].compactMap { $0 }.joined(separator: "; "))
  }

  /// Shows what wants no answer, beside the questions or, where nobody sits, where messages go.
  private func show(_ prompt: borrowing Prompt) -> SecretBuffer? {
    if lines == nil, let keyboard = try? Keyboard(otherwise: "") {
      // A password may be typed where a finger would do as well.
      try? hush(keyboard)
      try? keyboard.show(Questions.line(prompt) + "\n")
    } else {
      Output.note(Printable.text(prompt.text))
    }
    return nil
  }

  /// Shows a recovery code on a line of its own.
  private func show(_ prompt: borrowing Prompt, _ question: String, _ keyboard: borrowing Keyboard) throws(Failure) {
    switch prompt.code {
    case .some(let code):
      try keyboard.show("\(question):\n\n    ")
      try code.withBytes { bytes throws(Failure) in try keyboard.show(bytes) }
      try keyboard.show("\n\n")
    case .none: try keyboard.show("\(question):\n")
    }
  }

  /// Without a person the output is where a recovery code is written down.
  private func confirmByItself(_ prompt: borrowing Prompt) throws(Failure) -> SecretBuffer? {
    switch prompt.code {
    case .some(let code):
      let copy = code.withBytes { SecretBuffer(copying: $0) }
      if json {
        recoveryCode = code.withBytes { SecretBuffer(copying: $0) }
      } else {
        try code.withBytes { bytes throws(Failure) in try Output.write(bytes) }
        try Output.text("\n")
      }
      return copy
    case .none: return nil
    }
  }

  /// Asks for a new secret until two entries agree, three times at most.
  ///
  /// - Parameter isNewPassword: true where it has to be as good as a password of the vault's has to be, which is told before
  ///   it is typed again.
  /// - Parameter limit: the most bytes of what may be pasted, which is not asked for again; nil where that counts as any other
  ///   entry.
  static func twice(
    _ question: String, _ again: String, _ keyboard: borrowing Keyboard, isNewPassword: Bool = false,
    pasting limit: Int? = nil
  ) throws(Failure) -> SecretBuffer? {
    let hush = try Hush(of: keyboard.terminal)
    defer { _ = hush }
    var weakness: Weakness?
    for _ in 1...tries {
      let entered: SecretBuffer?
      if let limit {
        entered = try keyboard.askText(question, limit: limit)
      } else {
        entered = try keyboard.ask(question, .hidden)
      }
      guard let first = entered else { return nil }
      if limit != nil, first.withBytes({ LikelyKind(of: $0) != nil }) { return first }
      weakness = isNewPassword ? first.withBytes { Weakness(of: $0) } : nil
      if let weakness {
        try keyboard.show("vault: \(weakness.text)\n")
        continue
      }
      let repeated: SecretBuffer?
      if let limit {
        repeated = try keyboard.askText(again, limit: limit)
      } else {
        repeated = try keyboard.ask(again, .hidden)
      }
      guard let second = repeated else { return nil }
      if first.isEqual(to: second) { return first }
      try keyboard.show("The two are not the same.\n")
    }
    if let weakness { throw Failure(.invalid, weakness.text, "start again") }
    throw Failure(.invalid, "the two entries differed three times", "start again")
  }
}

extension SecretBuffer {
  /// True when both hold the same bytes, compared in time that depends on the length alone.
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
