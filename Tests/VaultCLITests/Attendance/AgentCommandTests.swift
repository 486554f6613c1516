import Foundation
import Glibc
import Testing
import VaultTesting

/// The program vault-agent with a real daemon and a user's command.
@Suite("The agent with a command") struct AgentCommandTests {
  private static let typing = ["secret": password]

  /// The words that vault-agent(8) documents for a command's input.
  private static func documented() throws -> Set<String> {
    let page = Repository.root.appending(path: "man/vault-agent.8")
    let source = try String(contentsOf: page, encoding: .utf8)
    let section = try #require(source.split(separator: ".Sh COMMAND\n").last).split(separator: ".Sh SECURITY\n")[0]
    let words = section.split(separator: "\n").filter { $0.hasPrefix(".It Cm ") }
      .flatMap { $0.dropFirst(7).split { $0 == " " || $0 == "," } }
    return Set(words.map(String.init))
  }

  @Test("it reads one line of JSON, as vault-agent(8) describes it, and its first line is the password")
  func unlock() throws {
    let stand = try AgentStand()
    defer { stand.close() }
    try stand.attend(faces: "command", Self.typing)
    let sandbox = stand.sandbox
    try sandbox.must(["lock"])
    let reader = Begun(sandbox, ["get", "web", "--reason", "for the test"])
    #expect(try reader.outcome().output == "hunter2")
    let run = try #require(
      try stand.runs().first { $0.object?["about"] as? String == "unlock" }, "\(stand.terminal.screen)")
    let object = try #require(run.object)
    #expect(Set(object.keys) == (try Self.documented()))
    #expect(object["style"] as? String == "secret" && (object["answers"] as? [String])?.isEmpty == true)
    #expect(object["words"] as? String == "for the test" && object["system"] as? Bool == false)
    #expect((object["inquiry"] as? [String: Any])?["about"] as? String == "unlock")
    let title = try #require(object["title"] as? String)
    #expect(title.hasSuffix(" asks to unlock the vault"))
    // Notices also come of the locks and the unlock before the test.
    let notices = try stand.runs().compactMap(\.object).filter { $0["about"] as? String == "notice" }
    #expect(notices.contains { $0["text"] as? String == "locked by `vault lock`" })
    for notice in notices { #expect(Set(notice.keys) == ["about", "title", "text", "urgent"]) }
    stand.terminal.signal(SIGTERM)
    #expect(try stand.terminal.wait() == 0)
    let line = "vault-agent: attends the vault at \(stand.sandbox.socket); control-C ends it\r\n"
    #expect(stand.terminal.screen == line, "\(stand.terminal.screen)")
  }

  @Test("presence is a password of the person's, and one who does not want to is not asked again") func dismissed()
    throws
  {
    let stand = try AgentStand()
    defer { stand.close() }
    try stand.attend(faces: "command", [:])
    for _ in 0..<2 {
      let refused = try stand.sandbox.run("get", "bank")
      #expect(refused.status != 0 && refused.errors.contains("declined to answer"), "\(refused)")
    }
    let questions = try stand.runs().filter { $0.object?["about"] as? String == "presence" }
    #expect(questions.count == 1)
  }

  @Test(
    "no foreign word reaches its arguments, its environment or a shell",
    .enabled(if: Root.isAtHand, "needs root to be another user"))
  func hostile() throws {
    // A name and a reason that a shell, a JSON parser or a line reader could mistake for its own syntax.
    let name = #"$(touch pwned)'";{\n"about":"x""#
    let reason = #"`touch pwned`; "}' && {"style":"secret" $HOME %s foreign-word"#
    let stand = try AgentStand(items: [name])
    defer { stand.close() }
    try stand.sandbox.admitEveryone()
    try stand.attend(faces: "command", ["secret": password, "approval": "once"])
    let asker = try stand.asker(name, reason)
    #expect(try asker.reply().outcome == "hunter2", "\(stand.account())")
    let runs = try stand.runs().filter { $0.object?["about"] as? String == "approval" }
    #expect(runs.compactMap { $0.object?["style"] as? String }.sorted() == ["approval", "secret"])
    for run in runs {
      let object = try #require(run.object)
      let inquiry = try #require(object["inquiry"] as? [String: Any])
      #expect(inquiry["name"] as? String == name && object["words"] as? String == reason)
      #expect((object["title"] as? String)?.hasPrefix("user:nobody asks to get `$(touch pwned)") == true)
      // The only arguments are the script's interpreter and the script's path.
      #expect(run.arguments == ["/bin/sh", stand.sandbox.root + "/command"])
      #expect(!run.environment.contains { "\($0)=\($1)".contains("pwned") || $1.contains("foreign-word") })
      #expect(run.environment["HOME"] == stand.sandbox.home)
    }
    #expect(!FileManager.default.fileExists(atPath: "pwned"))
    #expect(!FileManager.default.fileExists(atPath: stand.sandbox.home + "/pwned"))
  }
}
