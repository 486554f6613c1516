internal import VaultModel
internal import VaultWire

/// Questions by a pinentry program (the manual of pinentry, "Protocol").
final class PinentryFace: Face {
  /// The program where nothing else is said.
  static let usualPath = "/usr/bin/pinentry"

  // Codes of libgpg-error, without their source.
  private static let timeout: UInt32 = 62
  private static let cancelled: UInt32 = 99
  private static let notConfirmed: UInt32 = 114
  private static let fullyCancelled: UInt32 = 198

  var name: FaceName { .pinentry }
  var takesSecrets: Bool { true }

  private let path: String
  private let surroundings: Surroundings
  private var shown: (thread: WorkThread, stop: Withdrawal)?

  /// The terminal and the language that a pinentry without a window needs.
  struct Surroundings: Sendable {
    let terminal: String?
    let type: String?
    let language: String?

    /// Those of this process.
    static var own: Surroundings {
      Surroundings(
        terminal: OwnTerminal.path, type: Environment.variable("TERM"),
        language: Environment.variable("LC_ALL") ?? Environment.variable("LC_CTYPE") ?? Environment.variable("LANG"))
    }
  }

  init(_ path: String = usualPath, _ surroundings: Surroundings = .own) {
    self.path = path
    self.surroundings = surroundings
  }

  deinit { clear() }

  func ask(_ question: Question, until withdrawal: Withdrawal) throws(FaceError) -> Answer {
    clear()
    if question.kind == .visible || question.kind == .presence { throw .unsuitable }
    let process = try Self.begin(path, surroundings, question, until: withdrawal)
    switch question.kind {
    case .secret:
      try process.set(AssuanCommand.line("SETPROMPT", question.prompt + ":"))
      try process.set(AssuanCommand.line("SETOK", "OK"))
      try process.set(AssuanCommand.line("SETCANCEL", "Not now"))
      switch try process.ask("GETPIN\n") {
      case .ok(let typed): return .typed(typed)
      case .failed(let code): return try Self.declined(code)
      }
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
    do throws(Withdrawal.Errno) { stop = try Withdrawal() } catch { throw .unavailable("eventfd: error \(error.code)") }
    let (path, surroundings) = (path, surroundings)
    let thread = WorkThread {
      do throws(FaceError) {
        let process = try Self.begin(path, surroundings, question, until: stop)
        try process.set(AssuanCommand.line("SETOK", "Not now"))
        _ = try process.ask("CONFIRM --one-button\n")
        dismissed.raise()
      } catch {
        // Taken back, or it went away: the finger is waited for all the same.
      }
    }
    guard let thread else { throw .unavailable("there is no room for a thread") }
    shown = (thread, stop)
  }

  func clear() {
    guard let (thread, stop) = shown.take() else { return }
    stop.raise()
    thread.join()
  }

  func tell(_ notice: Notice) -> Bool { false }

  private static func begin(
    _ path: String, _ surroundings: Surroundings, _ question: Question, until withdrawal: Withdrawal
  ) throws(FaceError) -> PinentryProcess {
    let process = try PinentryProcess(path, terminal: surroundings.terminal, until: withdrawal)
    try process.greet()
    let options = [
      ("ttyname", surroundings.terminal), ("ttytype", surroundings.terminal == nil ? nil : surroundings.type),
      ("lc-ctype", surroundings.language),
    ]
    for (name, value) in options {
      if let value { try process.set(AssuanCommand.line("OPTION", "\(name)=\(value)")) }
    }
    try process.set(AssuanCommand.line("SETTITLE", QuestionText.title(isSystem: question.isSystem)))
    let lines = [question.title] + question.facts + (question.words.map { ["In its own words: “\($0)”"] } ?? [])
    try process.set(AssuanCommand.line("SETDESC", lines.map { Printable.line($0) }.joined(separator: "\n")))
    return process
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

  /// The person's refusal to answer.
  ///
  /// - Throws: what else an error is.
  private static func declined(_ code: UInt32) throws(FaceError) -> Answer {
    switch code & 0xFFFF {
    case cancelled, fullyCancelled, timeout, notConfirmed: return .dismissed
    default: throw .unavailable("pinentry answers with error \(code)")
    }
  }
}
