internal import VaultModel
internal import VaultWire

/// Questions on the terminal that the program runs on.
final class TerminalFace: Face {
  var name: FaceName { .terminal }
  var takesSecrets: Bool { true }

  private let path: String
  private var shown: (thread: WorkThread, stop: Withdrawal)?

  init(_ path: String = "/dev/tty") { self.path = path }

  deinit { clear() }

  func ask(_ question: Question, until withdrawal: Withdrawal) throws(FaceError) -> Answer {
    clear()
    let line = try TerminalLine(path)
    line.write("\n" + Self.text(question))
    do throws(FaceError) { return try Self.answer(question, line, until: withdrawal) } catch {
      if error == .withdrawn { line.write("\nvault: that is not wanted any more\n") }
      throw error
    }
  }

  private static func answer(
    _ question: Question, _ line: borrowing TerminalLine, until withdrawal: Withdrawal
  ) throws(FaceError) -> Answer {
    switch question.kind {
    case .secret, .visible:
      let prompt = "\(Printable.line(question.prompt)) (nothing: not now): "
      let typed = try line.read(prompt, hidden: question.kind == .secret, until: withdrawal)
      guard typed.count > 0 else { return .dismissed }
      return .typed(typed)
    case .choice:
      switch try choose("yes or no (y/n, nothing: not now): ", "yn", line, withdrawal) {
      case "y": return .yes
      case "n": return .no
      default: return .dismissed
      }
    case .approval(let session):
      let offer = session ? "once (o), this process (s), always (a)" : "once (o), always (a)"
      let prompt = "allow \(offer), or deny (d); nothing: not now: "
      switch try choose(prompt, session ? "osad" : "oad", line, withdrawal) {
      case "o": return .once
      case "s": return .session
      case "a": return .always
      case "d": return .no
      default: return .dismissed
      }
    case .presence: throw .unsuitable
    }
  }

  /// One of `letters`, asked for until it is one; nil for an empty line.
  private static func choose(
    _ prompt: String, _ letters: String, _ line: borrowing TerminalLine, _ withdrawal: Withdrawal
  ) throws(FaceError) -> Character? {
    while true {
      let typed = try line.read(prompt, hidden: false, until: withdrawal)
      if typed.count == 0 { return nil }
      let first = typed.withBytes { Character(Unicode.Scalar(Span<UInt8>(_bytes: $0)[0])) }
      if typed.count == 1, letters.contains(first) { return first }
    }
  }

  func show(_ question: Question, dismissed: Withdrawal) throws(FaceError) {
    clear()
    let stop: Withdrawal
    do throws(Withdrawal.Errno) { stop = try Withdrawal() } catch { throw .unavailable("eventfd: error \(error.code)") }
    let (path, text) = (path, Self.text(question))
    // Opened here, so that the next face is tried where it cannot be.
    _ = try TerminalLine(path)
    let thread = WorkThread {
      do throws(FaceError) {
        let line = try TerminalLine(path)
        _ = try line.read("\n" + text + "(return: not now)\n", hidden: true, until: stop)
        dismissed.raise()
      } catch {
        // Taken back, or the terminal went away: the finger is waited for all the same.
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

  func tell(_ notice: Notice) -> Bool {
    do throws(FaceError) {
      let line = try TerminalLine(path, forReading: false)
      return line.write("\n\(Printable.line(notice.title)): \(Printable.line(notice.text))\n")
    } catch {
      return false
    }
  }

  private static func text(_ question: Question) -> String {
    let lines = [question.title] + question.facts.map { "  \($0)" }
    let words = question.words.map { ["  in its own words: “\($0)”"] } ?? []
    return (lines + words).map { Printable.line($0) + "\n" }.joined()
  }
}
