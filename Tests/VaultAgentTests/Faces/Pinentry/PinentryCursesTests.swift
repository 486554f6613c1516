import Foundation
import Glibc
import Testing
import VaultModel
import VaultTesting
import VaultWire

@testable import VaultAgent

@Suite(
  "pinentry-curses in a terminal",
  .enabled(if: RealPinentry.curses.isThere, "needs pinentry-curses"))
struct PinentryCursesTests {
  /// A terminal, a face that asks on it, and the script that the face starts.
  private struct Stand {
    let terminal: Terminal
    let script: PinentryScript
    let face: PinentryFace

    init(rows: Int = 24, columns: Int = 80, environment: String = "LC_ALL=C") throws {
      terminal = try Terminal(rows: rows, columns: columns)
      script = try .running(RealPinentry.curses.rawValue, environment)
      face = PinentryFace(script.path, .init(terminal: terminal.path, type: "xterm"))
    }

    /// Asks, and returns once the whole question is on the screen.
    func ask(_ question: Question) throws -> AskedFace {
      let asked = try AskedFace(face, question)
      try terminal.expect("<Not now>")
      return asked
    }
  }

  @Test(
    "what is typed is the answer, byte by byte, whatever the language",
    arguments: [
      "hunter2", "pä€ss 🔑", "100%25 \"q\" 'a' \\n\\\\ %", String(repeating: "x", count: 200), "D OK ERR 99",
    ]) func typed(password: String) throws
  {
    let stand = try Stand()
    let asked = try stand.ask(.sample(.secret))
    stand.terminal.type(password)
    #expect(asked.end() == password)
    try stand.script.expectNothingLeft()
    #expect(stand.terminal.isCooked && !stand.terminal.screen.contains(password))
  }

  @Test("the button takes it back for now, and nothing typed is asked for again") func dismissed() throws {
    let stand = try Stand()
    let asked = try stand.ask(.sample(.secret))
    stand.terminal.type("")
    try stand.terminal.expect("nothing was typed")
    try stand.terminal.expect("<Not now>")
    stand.terminal.type("half\t\t")
    #expect(asked.end() == "dismissed")
    try stand.script.expectNothingLeft()
    #expect(stand.terminal.isCooked)
  }

  @Test("an approval is for once, or none, or not now", arguments: [("", "once"), ("\t", "no"), ("\t\t", "dismissed")])
  func approval(keys: String, answer: String) throws {
    let stand = try Stand()
    let asked = try stand.ask(.sample(.approval(session: true)))
    let picture = ScreenPicture(of: stand.terminal.screen, columns: 80)
    #expect(picture.lines.contains { $0.contains("“once” counts within five minutes") }, "\(picture.lines)")
    #expect(!stand.terminal.screen.contains("always") && !stand.terminal.screen.contains("this process"))
    stand.terminal.type(keys)
    #expect(asked.end() == answer)
    try stand.script.expectNothingLeft()
  }

  @Test("what was typed before the question is no answer to it") func typedAhead() throws {
    let stand = try Stand()
    stand.terminal.type("\r")
    let asked = try stand.ask(.sample(.approval(session: true)))
    stand.terminal.type("\t")
    #expect(asked.end() == "no")
  }

  private static let hostile = [
    "100% %0A %s <b>&amp; _x_", "a\nasked by root", "\u{1B}[2J\u{9B}2J\u{7}", "\u{202E}evil\u{200B}", "\\ \" ' `",
  ]

  @Test("the description shows all there is, and nothing in it does anything", arguments: hostile)
  func description(text: String) throws {
    let stand = try Stand()
    let asker = Wire.Asker(
      uid: 1000, user: text, pid: 42, executable: text, chain: [text, "bash"], reason: text)
    let inquiry = Wire.Inquiry(
      number: 123_456, about: "approval", askers: [asker], count: 1, name: text, subject: text, right: "get")
    let question = QuestionText.question(.approval(session: true), inquiry, isSystem: true)
    let asked = try stand.ask(question)
    let shown = ScreenPicture(of: stand.terminal.screen, columns: 80).framed.map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    let words = try #require(question.words)
    #expect(shown.first == "The machine's vault", "\(shown)")
    for line in [question.title] + question.facts + ["In its own words: \(Printable.said(words))"] {
      #expect(shown.joined(separator: " ").contains(line), "\(line) in \(shown)")
    }
    for raw in ["\u{1B}[2J\u{9B}", "\u{7}", "\u{202E}", "\u{200B}"] { #expect(!stand.terminal.screen.contains(raw)) }
    stand.terminal.type("\t\t")
    #expect(asked.end() == "dismissed")
  }

  @Test("a question that is much too long is asked all the same", arguments: [(24, 80), (18, 60), (14, 50)])
  func long(rows: Int, columns: Int) throws {
    let stand = try Stand(rows: rows, columns: columns)
    for letter in ["%", "ä", "語", "word "] {
      let text = String(repeating: letter, count: 301)
      let question = Question(
        kind: .secret, title: text, facts: Array(repeating: text, count: 12) + ["it locks again"], words: text,
        prompt: text, inquiry: Wire.Inquiry(number: 1, about: "unlock", askers: [], count: 1), isSystem: false)
      let asked = try stand.ask(question)
      let shown = ScreenPicture(of: stand.terminal.screen, rows: rows, columns: columns).framed
      #expect(shown.contains { $0.contains("In its own wo") }, "\(shown)")
      #expect(shown.contains { $0.contains("it locks again") }, "\(shown)")
      stand.terminal.type("s3cret")
      #expect(asked.end() == "s3cret", "\(letter)")
    }
  }

  @Test("a question that is taken back leaves the terminal as it was") func withdrawn() throws {
    let stand = try Stand()
    let asked = try stand.ask(.sample(.secret))
    #expect(!stand.terminal.echoes)
    stand.terminal.type("half of it", return: false)
    asked.withdrawal.raise()
    #expect(asked.end() == "withdrawn")
    try stand.script.expectNothingLeft()
    #expect(stand.terminal.isCooked && stand.terminal.leftBehind == 0)
    try stand.terminal.expect("\u{1B}[?1049l\u{1B}[?1l\u{1B}>\u{1B}(B\u{1B}[0m\u{1B}[?25h")
  }

  @Test("one that is killed from elsewhere leaves it so, too") func killed() throws {
    let stand = try Stand()
    let asked = try stand.ask(.sample(.secret))
    let pid = try #require(try stand.script.note("pid").first.flatMap { pid_t($0) })
    kill(pid, SIGKILL)
    #expect(asked.end().hasPrefix("unavailable: pinentry "))
    #expect(stand.terminal.isCooked)
    try stand.terminal.expect("\u{1B}[?1049l")
  }
}
