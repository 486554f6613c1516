internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultProcess
internal import VaultWire

/// Asks on the terminal that the program runs on. From the first question on, nothing that is typed there is shown,
/// except answers that are not secrets.
final class TerminalFace: Face {
  var name: FaceName { .terminal }
  var takesSecrets: Bool { true }

  private let path: String
  private let hush: TerminalHush
  /// The question that is answered elsewhere. Its thread alone uses the line until it has ended.
  private var shown: (thread: WorkThread, stop: Withdrawal, line: TerminalLine)?
  /// The line that a person may still be typing, after a question was withdrawn.
  private var unfinished: UnfinishedLine?
  /// The question that was shown last.
  private var onScreen: (matter: Matter?, lines: [String]) = (nil, [])

  private struct Matter: Equatable {
    let number: Int
    let isSystem: Bool
  }

  /// - Parameter hush: the hush of the terminal; nil makes a new one.
  init(_ path: String = "/dev/tty", _ hush: TerminalHush? = nil) {
    self.path = path
    self.hush = hush ?? TerminalHush(path)
  }

  deinit { clear() }

  var obstacle: String? {
    do throws(FaceError) { _ = try TerminalLine(path, forReading: false) } catch { return error.reason }
    return nil
  }

  func ask(_ question: Question, until withdrawal: Withdrawal) throws(FaceError) -> Answer {
    clear()
    let line = try TerminalLine(path, after: unfinished)
    hush.begin()
    defer { unfinished = line.unfinished }
    try line.endUnfinished(
      isVisible: question.kind != .secret,
      advice: "another question waits; press Enter, which drops what you have typed", until: withdrawal)
    try put(question, on: line)
    do throws(FaceError) { return try Self.answer(question, line, until: withdrawal) } catch {
      if error == .withdrawn { line.write(withdrawal.isOfEnd ? "\n" : "\nvault: the question was withdrawn\n") }
      throw error
    }
  }

  private static func answer(
    _ question: Question, _ line: borrowing TerminalLine, until withdrawal: Withdrawal
  ) throws(FaceError) -> Answer {
    switch question.kind {
    case .secret, .visible:
      let prompt = "\(Printable.line(question.prompt)) (Enter: not now): "
      while true {
        let typed = try line.read(prompt, hidden: question.kind == .secret, until: withdrawal)
        guard typed.count > 0 else { return .dismissed }
        guard typed.hasControlKeys else {
          // The daemon takes seconds for a password with a high cost, in which nothing else would show.
          if question.kind == .secret { line.write("checking …\n") }
          return .typed(typed)
        }
        line.write("vault: a key that types no character was pressed, such as an arrow key; type the answer again\n")
      }
    case .choice:
      switch try choose("yes or no (y/n, Enter: not now): ", [["y", "yes"], ["n", "no"]], line, withdrawal) {
      case "y": return .yes
      case "n": return .no
      default: return .dismissed
      }
    case .approval(let session):
      let offer = session ? "once (o), this process (s), always (a)" : "once (o), always (a)"
      let prompt = "allow \(offer), or deny (d); Enter: not now: "
      let own = session ? [["s", "session", "process", "this process"]] : []
      let words = [["o", "once"]] + own + [["a", "always"], ["d", "deny"]]
      switch try choose(prompt, words, line, withdrawal) {
      case "o": return .once
      case "s": return .session
      case "a": return .always
      case "d": return .no
      default: return .dismissed
      }
    case .presence: throw .unsuitable
    }
  }

  /// Asks until one of `answers` is typed; nil for an empty line.
  ///
  /// - Parameter answers: for each answer its letter, and the words that mean the same.
  /// - Returns: the letter of the answer.
  private static func choose(
    _ prompt: String, _ answers: [[String]], _ line: borrowing TerminalLine, _ withdrawal: Withdrawal
  ) throws(FaceError) -> String? {
    while true {
      let typed = try line.read(prompt, hidden: false, until: withdrawal)
      if typed.count == 0 { return nil }
      for words in answers {
        for word in words where typed.isWord(word) { return words[0] }
      }
      let letters = answers.map { $0[0] }
      let awaited = letters.dropLast().joined(separator: ", ") + " or \(letters[letters.count - 1])"
      line.write("that is not one of the answers: type \(awaited), or nothing\n")
    }
  }

  func show(_ question: Question, dismissed: Withdrawal) throws(FaceError) {
    clear()
    let stop: Withdrawal
    do throws(Withdrawal.Errno) { stop = try Withdrawal() } catch {
      throw .unavailable("eventfd: \(SystemText.of(error.code))")
    }
    // The terminal is opened here, so that the next face is tried when it cannot be opened.
    let line = try TerminalLine(path, after: unfinished)
    hush.begin()
    try put(question, on: line)
    let thread = WorkThread {
      do throws(FaceError) {
        // The question is shown at once, because it can be answered with a finger at once.
        try line.endUnfinished(
          isVisible: false, advice: "press Enter, which drops what you have typed and answers nothing", until: stop)
        // A line with text in it was meant for another question.
        while try line.read("(return: not now)\n", hidden: true, isTyped: false, until: stop).count > 0 {}
        dismissed.raise()
      } catch {
        // The question was withdrawn, or the terminal went away. The vault waits for the finger all the same.
      }
    }
    guard let thread else { throw .unavailable("cannot start a thread") }
    shown = (thread, stop, line)
  }

  func clear() {
    guard let (thread, stop, line) = shown.take() else { return }
    stop.raise()
    thread.join()
    unfinished = line.unfinished
  }

  func tell(_ notice: Notice) -> Bool {
    do throws(FaceError) {
      let line = try TerminalLine(path, forReading: false)
      return line.write("\n\(Printable.line(notice.title)): \(Printable.line(notice.text))\n")
    } catch {
      return false
    }
  }

  /// Shows the text of a question. In a conversation that goes on, only new lines are shown: each touch of a finger
  /// adds one.
  private func put(_ question: Question, on line: borrowing TerminalLine) throws(FaceError) {
    let words = question.words.map { ["in its own words: \(Printable.said($0))"] } ?? []
    // One column stays empty, because some terminals begin the next line at the last column.
    let width = line.columns - 1
    let lines =
      Wrapping.lines(Printable.line(question.title), within: width)
      + (question.factsAndTerms + words).flatMap { Wrapping.lines(Printable.line($0), within: width, lead: "  ") }
    let matter = Matter(number: question.inquiry.number, isSystem: question.isSystem)
    var isNew = matter != onScreen.matter
    if case .approval = question.kind { isNew = true }
    let text = isNew ? "\n" + lines.map { $0 + "\n" }.joined() : news(lines)
    onScreen = (matter, lines)
    guard line.write(text) else { throw .unavailable("the terminal accepts no text") }
  }

  /// The lines that are not on the screen yet. When a line occurs twice but is on the screen once, the second one is
  /// new.
  private func news(_ lines: [String]) -> String {
    var old = onScreen.lines
    return lines.compactMap { line in
      guard let index = old.firstIndex(of: line) else { return line + "\n" }
      old.remove(at: index)
      return nil
    }.joined()
  }
}
