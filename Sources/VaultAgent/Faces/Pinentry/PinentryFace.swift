internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultProcess
internal import VaultWire

/// Asks through a pinentry program (the manual of pinentry, "Protocol").
final class PinentryFace: Face {
  /// The program to run when no setting names one.
  static let usualPath = "/usr/bin/pinentry"

  // Codes of libgpg-error, without their source.
  private static let timeout: UInt32 = 62
  private static let cancelled: UInt32 = 99
  private static let notConfirmed: UInt32 = 114
  private static let fullyCancelled: UInt32 = 198

  var name: FaceName { .pinentry }
  var takesSecrets: Bool { true }

  /// The number of times that the person may enter an empty text.
  private static let attempts = 3

  private let path: String
  private let surroundings: Surroundings
  /// The hush of the terminal. It hides what is typed between two questions, when no pinentry runs that could hide it.
  private let hush: TerminalHush?
  private let patience: Int32
  private var shown: (thread: WorkThread, stop: Withdrawal)?

  /// The terminal that a pinentry without a window needs.
  struct Surroundings: Sendable {
    let terminal: String?
    let type: String?

    /// The terminal of this process.
    static var own: Surroundings {
      Surroundings(terminal: OwnTerminal.path, type: Environment.variable("TERM"))
    }
  }

  /// - Parameter patience: milliseconds allowed for an answer that needs no person.
  init(
    _ path: String = usualPath, _ surroundings: Surroundings = .own, _ hush: TerminalHush? = nil,
    patience: Int32 = 10_000
  ) {
    self.path = path
    self.surroundings = surroundings
    self.hush = hush
    self.patience = patience
  }

  deinit { clear() }

  var obstacle: String? { unsafe access(path, X_OK) == 0 ? nil : "\(path): \(SystemText.of(errno))" }

  func ask(_ question: Question, until withdrawal: Withdrawal) throws(FaceError) -> Answer {
    clear()
    if question.kind == .visible || question.kind == .presence { throw .unsuitable }
    let process = try begin(question, until: withdrawal)
    switch question.kind {
    case .secret: return try Self.secret(process, question)
    case .choice:
      switch try Self.confirm(process, yes: "Yes", no: "No") {
      case .some(let isYes): return isYes ? .yes : .no
      case nil: return .dismissed
      }
    case .approval:
      switch try Self.confirm(process, yes: "Allow once", no: "Deny") {
      case .some(let isYes): return isYes ? .once : .no
      case nil: return .dismissed
      }
    case .visible, .presence: throw .unsuitable
    }
  }

  func show(_ question: Question, dismissed: Withdrawal) throws(FaceError) {
    clear()
    let stop: Withdrawal
    do throws(Withdrawal.Errno) { stop = try Withdrawal() } catch {
      throw .unavailable("eventfd: \(SystemText.of(error.code))")
    }
    // Pinentry is started here, so that the next face is tried when it cannot start.
    let process = try begin(question, until: dismissed)
    try process.set(AssuanCommand.line("SETOK", "Not now"))
    process.withdrawal = stop
    let thread = WorkThread {
      do throws(FaceError) {
        switch try process.ask("CONFIRM --one-button\n") {
        case .ok: break
        case .failed(let code): _ = try Self.declined(code)
        }
        dismissed.raise()
      } catch {
        // The question was withdrawn, or pinentry went away. The vault waits for the finger all the same.
      }
    }
    guard let thread else { throw .unavailable("cannot start a thread") }
    shown = (thread, stop)
  }

  func clear() {
    guard let (thread, stop) = shown.take() else { return }
    stop.raise()
    thread.join()
  }

  func tell(_ notice: Notice) -> Bool { false }

  private func begin(_ question: Question, until withdrawal: Withdrawal) throws(FaceError) -> PinentryProcess {
    let terminal = surroundings.terminal.flatMap { OwnTerminal.isOurs($0) ? $0 : nil }
    // The hush begins before pinentry starts, because pinentry restores the modes that it finds.
    if terminal != nil { hush?.begin() }
    let process = try PinentryProcess(path, terminal: terminal, patience: patience, until: withdrawal)
    try process.greet()
    // If pinentry took its language from a terminal without UTF-8, it would refuse the text and the password.
    try process.set(AssuanCommand.line("OPTION", "lc-ctype=C.UTF-8"))
    for (name, value) in [("ttyname", terminal), ("ttytype", terminal == nil ? nil : surroundings.type)] {
      if let value { try process.set(AssuanCommand.line("OPTION", "\(name)=\(value)")) }
    }
    let heading = QuestionText.title(isSystem: question.isSystem)
    try process.set(AssuanCommand.line("SETTITLE", heading))
    let isNamed = Self.isLabel(question.prompt)
    let prompt = question.kind != .secret || isNamed ? [] : [question.prompt]
    let facts = prompt + question.facts + question.kind.terms([.once])
    guard let text = PinentryText.description(heading, question, facts: facts, within: process.size ?? (40, 80))
    else { throw .unsuitable }
    try process.set(AssuanCommand.line("SETDESC", text))
    if question.kind == .secret {
      try process.set(AssuanCommand.line("SETPROMPT", (isNamed ? question.prompt : "Answer") + ":"))
    }
    return process
  }

  /// Returns true when a text can stand before the field. An underscore would mark a key, and a long text leaves no
  /// room for the field.
  private static func isLabel(_ prompt: String) -> Bool { !prompt.contains("_") && prompt.count <= 30 }

  /// Returns the typed secret. Asks again when it is empty, because an empty password would count as an attempt.
  private static func secret(_ process: PinentryProcess, _ question: Question) throws(FaceError) -> Answer {
    try process.set(AssuanCommand.line("SETOK", "OK"))
    try process.set(AssuanCommand.line("SETCANCEL", "Not now"))
    for _ in 0..<attempts {
      switch try process.ask("GETPIN\n") {
      case .ok(let typed):
        if typed.count > 0 { return .typed(typed) }
        try process.set(AssuanCommand.line("SETERROR", "nothing was typed"))
      case .failed(let code): return try declined(code)
      }
    }
    return .dismissed
  }

  private static func confirm(
    _ process: PinentryProcess, yes: String, no: String
  ) throws(FaceError) -> Bool? {
    try process.set(AssuanCommand.line("SETOK", yes))
    try process.set(AssuanCommand.line("SETNOTOK", no))
    try process.set(AssuanCommand.line("SETCANCEL", "Not now"))
    switch try process.ask("CONFIRM\n") {
    case .ok: return true
    case .failed(let code):
      if code & 0xFFFF == notConfirmed { return false }
      _ = try declined(code)
      return nil
    }
  }

  /// Returns the person's refusal to answer.
  ///
  /// - Throws: any other error of pinentry.
  private static func declined(_ code: UInt32) throws(FaceError) -> Answer {
    switch code & 0xFFFF {
    case cancelled, fullyCancelled, timeout, notConfirmed: return .dismissed
    default: throw .unavailable(PinentryFailure.text(code))
    }
  }
}
