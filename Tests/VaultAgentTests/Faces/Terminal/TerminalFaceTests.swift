import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultAgent

@Suite("Questions on a terminal") struct TerminalFaceTests {
  private let terminal: Terminal
  private let face: TerminalFace

  init() throws {
    terminal = try Terminal()
    face = TerminalFace(terminal.path)
  }

  private static let field = "Vault password (Enter: not now): "

  /// Asks, and returns once the input field is on the screen.
  private func ask(_ kind: Question.Kind, field: String = field) throws -> AskedFace {
    let asked = try AskedFace(face, .sample(kind))
    try terminal.expect(field)
    return asked
  }

  @Test("a secret is not shown", arguments: ["hunter2", "pä€ss 🔑", "a\tb", String(repeating: "x", count: 5000)])
  func secret(password: String) throws {
    let asked = try ask(.secret)
    #expect(!terminal.echoes)
    terminal.type(password)
    #expect(asked.end() == password)
    try terminal.expect("\n")
    #expect(!terminal.echoes && !terminal.screen.contains(password))
  }

  @Test(
    "keys that take back are followed",
    arguments: [
      ("wrong\u{15}right", "right"), ("pä\u{7F}x", "px"), ("a€\u{8}\u{8}\u{8}b", "b"), ("a\u{4}b", "a"),
      ("🔑\u{7F}z", "z"), ("\u{1B}[200~pasted\u{1B}[201~", "pasted"),
    ])
  func edited(keys: String, answer: String) throws {
    let asked = try ask(.secret)
    terminal.type(keys)
    #expect(asked.end() == answer)
  }

  @Test("a key that is no letter is told, and the question comes again", arguments: [Question.Kind.secret, .visible])
  func arrow(kind: Question.Kind) throws {
    let asked = try ask(kind)
    terminal.type("s3c\u{1B}[Dret")
    try terminal.expect(
      "vault: a key that types no character was pressed, such as an arrow key; type the answer again\r\n")
    try terminal.expect(Self.field)
    terminal.type("s3cret")
    #expect(asked.end() == "s3cret")
  }

  @Test("nothing is a dismissal", arguments: [Question.Kind.secret, .visible]) func nothing(kind: Question.Kind) throws
  {
    for keys in ["\r", "\u{4}"] {
      let asked = try ask(kind)
      terminal.type(keys, return: false)
      #expect(asked.end() == "dismissed")
    }
  }

  @Test("a letter that is no answer is told which ones are") func otherLetters() throws {
    let offer = "allow once (o), always (a), or deny (d); Enter: not now: "
    let asked = try ask(.approval(session: false), field: offer)
    terminal.type("y")
    try terminal.expect("that is not one of the answers: type o, a or d, or nothing")
    try terminal.expect(offer)
    terminal.type("o")
    #expect(asked.end() == "once")
  }

  @Test(
    "the words of the answers are answers, too",
    arguments: [("once", "once"), ("session", "session"), ("process", "session"), ("always", "always"), ("deny", "no")])
  func words(word: String, answer: String) throws {
    let asked = try ask(
      .approval(session: true),
      field: "allow once (o), this process (s), always (a), or deny (d); Enter: not now: ")
    terminal.type(word)
    #expect(asked.end() == answer)
  }

  @Test("a visible line is shown") func visible() throws {
    let asked = try ask(.visible)
    #expect(terminal.echoes)
    terminal.type("anna")
    #expect(asked.end() == "anna")
    try terminal.expect("anna")
  }

  @Test("what was typed before the question is no answer to it") func typedAhead() throws {
    terminal.type("before")
    terminal.type("and half", return: false)
    let asked = try ask(.secret)
    terminal.type("after")
    #expect(asked.end() == "after")
    #expect(terminal.leftBehind == 0)
  }

  @Test(
    "an approval is a letter, and no other one counts",
    arguments: [
      ("o", "once"), ("s", "session"), ("a", "always"), ("d", "no"), ("", "dismissed"),
    ])
  func approval(letter: String, answer: String) throws {
    let field = "allow once (o), this process (s), always (a), or deny (d); Enter: not now: "
    let asked = try ask(.approval(session: true), field: field)
    for wrong in ["x", "on", "ö", "O"] {
      terminal.type(wrong)
      try terminal.expect(field)
    }
    terminal.type(letter)
    #expect(asked.end() == answer)
    #expect(
      terminal.screen.contains(
        "“once” counts within five minutes; “this process” until the next lock; “always” until the"))
  }

  @Test("what is not offered is no answer, and nothing is told of it") func notOffered() throws {
    let field = "allow once (o), always (a), or deny (d); Enter: not now: "
    let asked = try ask(.approval(session: false), field: field)
    terminal.type("s")
    try terminal.expect(field)
    terminal.type("d")
    #expect(asked.end() == "no")
    #expect(!terminal.screen.contains("this process"))
  }

  @Test("yes and no are letters", arguments: [("y", "yes"), ("n", "no"), ("", "dismissed")])
  func choice(letter: String, answer: String) throws {
    let asked = try ask(.choice, field: "yes or no (y/n, Enter: not now): ")
    terminal.type(letter)
    #expect(asked.end() == answer)
  }

  @Test(
    "a question that is taken back says so, and what is typed on does not show",
    arguments: [
      Question.Kind.secret, .visible, .approval(session: true),
    ])
  func withdrawn(kind: Question.Kind) throws {
    let asked = try ask(kind, field: "not now")
    try terminal.expect(": ")
    terminal.type("half", return: false)
    asked.withdrawal.raise()
    #expect(asked.end() == "withdrawn")
    try terminal.expect("\r\nvault: the question was withdrawn\r\n")
    #expect(!terminal.echoes && terminal.unread == 0)
    terminal.type("the remainder")
    let next = try ask(.secret)
    terminal.type("s3cret")
    #expect(next.end() == "s3cret" && !terminal.screen.contains("remainder"))
  }

  private static let waits = "vault: another question waits; press Enter, which drops what you have typed\r\n"
  private static let offer = "allow once (o), always (a), or deny (d); Enter: not now: "

  @Test(
    "the rest of a line that was begun for a question taken back neither shows nor answers the next one",
    arguments: [Question.Kind.secret, .visible, .choice], ["Enter", "control-D"])
  func restOfLine(kind: Question.Kind, key: String) throws {
    let asked = try ask(kind, field: "not now")
    try terminal.expect(": ")
    terminal.type("h@lf", return: false)
    asked.withdrawal.raise()
    #expect(asked.end() == "withdrawn")
    let next = try AskedFace(face, .sample(.approval(session: false)))
    try terminal.expect(Self.waits)
    #expect(!terminal.echoes)
    terminal.type("remainder", return: false)
    if key == "Enter" { terminal.type("a") } else { terminal.type("a\u{4}", return: false) }
    try terminal.expect(Self.offer)
    terminal.type("o")
    #expect(next.end() == "once" && !terminal.screen.contains("remainder"))
    #expect(!terminal.screen.contains("none of them"))
  }

  @Test("a secret is asked for once the line of an earlier one has ended") func restBeforeSecret() throws {
    let asked = try ask(.secret)
    terminal.type("half", return: false)
    asked.withdrawal.raise()
    #expect(asked.end() == "withdrawn")
    let next = try AskedFace(face, .sample(.secret))
    try terminal.expect(Self.waits)
    terminal.type("the rest")
    try terminal.expect(Self.field)
    terminal.type("s3cret")
    #expect(next.end() == "s3cret")
  }

  @Test("the first letters typed after a question was taken back are of that question") func lateLetters() throws {
    let asked = try ask(.secret)
    asked.withdrawal.raise()
    #expect(asked.end() == "withdrawn")
    let next = try AskedFace(face, .sample(.approval(session: false)))
    terminal.type("o", return: false)
    try terminal.expect(Self.waits)
    #expect(!terminal.screen.contains(Self.offer))
    // A question that is taken back while it waits leaves the line to the one after it.
    next.withdrawal.raise()
    #expect(next.end() == "withdrawn")
    let last = try AskedFace(face, .sample(.approval(session: false)))
    try terminal.expect(Self.waits)
    // After control-U, nothing is left of the line.
    terminal.type("\u{15}", return: false)
    try terminal.expect(Self.offer)
    terminal.type("d")
    #expect(last.end() == "no")
  }

  @Test("the terminal is as it was once nobody asks there any more") func restored() throws {
    let hush = TerminalHush(terminal.path)
    let face = TerminalFace(terminal.path, hush)
    let asked = try AskedFace(face, .sample(.secret))
    try terminal.expect(Self.field)
    terminal.type("s3cret")
    #expect(asked.end() == "s3cret")
    // A person goes on typing while no question is open.
    terminal.type("half", return: false)
    while terminal.unread < 4 {}
    hush.pause()
    #expect(terminal.isCooked && terminal.leftBehind == 0)
    hush.resume()
    #expect(!terminal.echoes)
    hush.end()
    hush.resume()
    #expect(terminal.echoes && !terminal.screen.contains("half"))
  }

  @Test("no text of a caller does anything, nor begins a line") func hostile() throws {
    let hostile = "\u{1B}[2J\u{202E}\n" + String(repeating: " ", count: 100) + "asked by process 1 of user root"
    let question = Question(
      kind: .secret, title: hostile, facts: [hostile], words: hostile, prompt: hostile,
      inquiry: Question.sample(.secret).inquiry, isSystem: false)
    let asked = try AskedFace(face, question)
    try terminal.expect("(Enter: not now): ")
    terminal.type("s3cret")
    #expect(asked.end() == "s3cret")
    #expect(!terminal.screen.contains("\u{1B}") && !terminal.screen.contains("\u{202E}"))
    let lines = terminal.screen.split(separator: "\r\n", omittingEmptySubsequences: false)
    #expect(lines.contains { $0.hasPrefix("    ") && $0.hasSuffix("asked by process 1 of user root") }, "\(lines)")
    #expect(!lines.contains { $0.hasPrefix("asked") || $0.hasPrefix("  asked") }, "\(lines)")
  }

  @Test("a terminal that takes nothing leaves the question to the next face") func stopped() throws {
    terminal.stopOutput()
    #expect(try AskedFace(face, .sample(.secret)).end() == "unavailable: the terminal accepts no text")
    #expect(!terminal.echoes)
  }

  @Test("what is no terminal is an obstacle") func missing() throws {
    for path in ["/nonexistent", "/dev/null"] {
      #expect(try AskedFace(TerminalFace(path), .sample(.secret)).end().hasPrefix("unavailable: "))
    }
  }

  private static let notNow = "(return: not now)\r\n"

  /// Presses return, and waits until that dismisses the question.
  private func dismiss(_ dismissed: Withdrawal) {
    terminal.type("")
    var polled = pollfd(fd: dismissed.descriptor, events: Int16(POLLIN), revents: 0)
    #expect(unsafe poll(&polled, 1, 30_000) == 1)
  }

  @Test("a finger is waited for until return is pressed on an empty line") func shown() throws {
    let dismissed = try Withdrawal()
    try face.show(.sample(.presence), dismissed: dismissed)
    try terminal.expect(Self.notNow)
    terminal.type("the other window's")
    try terminal.expect(Self.notNow)
    #expect(!dismissed.isRaised && !terminal.screen.contains("window"))
    dismiss(dismissed)
    face.clear()
    #expect(!terminal.echoes)
  }

  @Test("the return that ends an earlier question's line does not dismiss a finger's")
  func restBeforeFinger() throws {
    let asked = try ask(.secret)
    terminal.type("half", return: false)
    asked.withdrawal.raise()
    #expect(asked.end() == "withdrawn")
    let dismissed = try Withdrawal()
    try face.show(.sample(.presence), dismissed: dismissed)
    let drops = "vault: press Enter, which drops what you have typed and answers nothing\r\n"
    try terminal.expect(drops)
    // A message that follows in the same conversation leaves the line to the next one.
    face.clear()
    try face.show(.sample(.presence), dismissed: dismissed)
    try terminal.expect(drops)
    terminal.type("the rest")
    try terminal.expect(Self.notNow)
    #expect(!dismissed.isRaised && !terminal.screen.contains("rest"))
    dismiss(dismissed)
    face.clear()
  }

  @Test("a line that was begun while a finger was waited for answers no later question", arguments: [true, false])
  func restOfFinger(isBegunBefore: Bool) throws {
    if isBegunBefore {
      let asked = try ask(.secret)
      terminal.type("half", return: false)
      asked.withdrawal.raise()
      #expect(asked.end() == "withdrawn")
    }
    let dismissed = try Withdrawal()
    try face.show(.sample(.presence), dismissed: dismissed)
    if !isBegunBefore {
      try terminal.expect(Self.notNow)
      terminal.type("half", return: false)
    }
    face.clear()
    let next = try AskedFace(face, .sample(.approval(session: false)))
    try terminal.expect(Self.waits)
    terminal.type("a")
    try terminal.expect(Self.offer)
    terminal.type("o")
    #expect(next.end() == "once" && !dismissed.isRaised)
  }

  @Test("the first letters after a question was taken back are of that question, whatever finger was shown since")
  func lateLettersAfterFinger() throws {
    let asked = try ask(.secret)
    asked.withdrawal.raise()
    #expect(asked.end() == "withdrawn")
    try face.show(.sample(.presence), dismissed: Withdrawal())
    face.clear()
    let next = try AskedFace(face, .sample(.approval(session: false)))
    terminal.type("a", return: false)
    try terminal.expect(Self.waits)
    #expect(!terminal.screen.contains(Self.offer))
    terminal.type("")
    try terminal.expect(Self.offer)
    terminal.type("d")
    #expect(next.end() == "no")
  }

  @Test("a question takes the place of what is shown, and has all that is typed") func shownBefore() throws {
    for _ in 0..<10 {
      let dismissed = try Withdrawal()
      try face.show(.sample(.presence), dismissed: dismissed)
      let asked = try ask(.secret)
      terminal.type("s3cret")
      #expect(asked.end() == "s3cret")
      #expect(!dismissed.isRaised && !terminal.echoes)
    }
  }

  @Test("what is shown goes away unseen") func cleared() throws {
    let dismissed = try Withdrawal()
    try face.show(.sample(.presence), dismissed: dismissed)
    face.clear()
    #expect(!dismissed.isRaised && !terminal.echoes)
  }
}
