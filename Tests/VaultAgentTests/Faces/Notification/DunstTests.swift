import Foundation
import Testing
import VaultTesting

@testable import VaultAgent

/// The notification face with a real dunst, whose windows the test clicks.
@Suite(.enabled(if: Dunst.isPossible, "\(Dunst.why)")) struct DunstTests {
  private let sandbox: Sandbox
  private let bus: PrivateBus
  private let dunst: Dunst

  init() throws {
    sandbox = try Sandbox()
    bus = try PrivateBus(.session, in: sandbox)
    dunst = try Dunst(on: bus)
  }

  /// Asks on another thread, so that the test can answer on this one.
  private func ask(_ question: Question = .sample(.approval(session: true)), _ answer: (Withdrawal) throws -> Void)
    throws -> String
  {
    let withdrawal = try Withdrawal()
    var result: Result<String, any Error>?
    let address = bus.address
    let thread = try #require(
      WorkThread {
        result = Result { try word(NotificationFace(busAt: address).ask(question, until: withdrawal)) }
      })
    do { try answer(withdrawal) } catch {
      // The test failed and will not answer, so withdraw the question.
      withdrawal.raise()
      thread.join()
      throw error
    }
    thread.join()
    return try #require(result).get()
  }

  @Test(arguments: [("once", "once"), ("session", "session"), ("always", "always"), ("deny", "no")])
  func `a click on a button is the answer, and takes the notification away`(key: String, answer: String) throws {
    #expect(try ask { _ in try dunst.choose(key) } == answer)
    try dunst.wait(for: 0)
  }

  @Test func `yes and no are buttons as well`() throws {
    #expect(try ask(.sample(.choice)) { _ in try dunst.choose("no") } == "no")
    try dunst.wait(for: 0)
    #expect(try ask(.sample(.choice)) { _ in try dunst.choose("yes") } == "yes")
  }

  @Test func `a person who closes it does not want to answer`() throws {
    #expect(try ask { _ in try dunst.dismiss() } == "dismissed")
  }

  @Test func `a question that is taken back is closed`() throws {
    #expect(throws: FaceError.withdrawn) {
      try ask { withdrawal in
        try dunst.wait(for: 1)
        withdrawal.raise()
      }
    }
    try dunst.wait(for: 0)
  }

  @Test func `a dunst that is killed in the middle leaves the question to the next face`() throws {
    #expect(throws: FaceError.unavailable("the notification server went away")) {
      try ask { _ in
        try dunst.wait(for: 1)
        dunst.stop()
      }
    }
  }

  @Test func `text is shown as it is, whatever it says`() throws {
    let question = Question(
      kind: .choice, title: "<b>root</b> &amp; %b \\n asks", facts: ["<i>user</i> & 'others'", "%s</b><a href=\"x\">"],
      words: "</span> & \"now\"", prompt: "", inquiry: Question.sample(.choice).inquiry, isSystem: false)
    #expect(try ask(question) { _ in try dunst.choose("yes") } == "yes")
    try dunst.wait(for: 0)
    let shown = try #require(try dunst.history().first)
    #expect(shown.summary == question.title)
    let lines = shown.message.split(separator: "\n").map(String.init)
    #expect(
      lines.map(plain) == [question.title] + question.facts + ["It says: “</span> & 'now'”"], "\(shown.message)")
    #expect(!shown.message.contains("<"))
  }

  /// The plain text that a piece of markup shows.
  private func plain(_ markup: String) -> String {
    var text = markup
    for (entity, character) in [
      ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&apos;", "'"), ("&amp;", "&"),
    ] { text = text.replacingOccurrences(of: entity, with: character) }
    return text
  }

  @Test func `a finger is asked for until it is not wanted any more, and a click is not now`() throws {
    let (face, dismissed) = (NotificationFace(busAt: bus.address), try Withdrawal())
    try face.show(.sample(.presence), dismissed: dismissed)
    try dunst.wait(for: 1)
    face.clear()
    try dunst.wait(for: 0)
    #expect(!dismissed.isRaised)
    try face.show(.sample(.presence), dismissed: dismissed)
    try dunst.choose("not-now")
    try dunst.wait(for: 0)
    #expect(dismissed.isRaised)
    face.clear()
  }

  @Test func `a notice is shown, and nobody waits for its end`() throws {
    let face = NotificationFace(busAt: bus.address)
    for (isUrgent, count) in [(true, 1), (false, 2)] {
      #expect(face.tell(Notice(title: "Vault", text: "it is <locked>", isUrgent: isUrgent)))
      try dunst.wait(for: count)
    }
    try dunst.closeAll()
    try dunst.wait(for: 0)
    #expect(try dunst.history().map(\.message) == Array(repeating: "Vault\nit is &lt;locked&gt;", count: 2))
  }
}
