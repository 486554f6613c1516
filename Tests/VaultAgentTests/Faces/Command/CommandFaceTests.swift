import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultAgent

@Suite struct CommandFaceTests {
  private let folder: String

  init() throws {
    // Writing to a command that has ended must be an error here, as it is in the agent.
    signal(SIGPIPE, SIG_IGN)
    folder = try ScratchFolder.make()
  }

  private func face(_ script: String) throws -> CommandFace {
    let path = folder + "/command"
    try Executable.write("#!/bin/sh\n\(script)\n", to: path)
    return CommandFace(program: path)
  }

  private func ask(_ script: String, _ kind: Question.Kind) throws -> String {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try word(face(script).ask(.sample(kind), until: Withdrawal()))
  }

  @Test(arguments: ["once", "session", "always"])
  func `an approval is answered by a word`(answer: String) throws {
    #expect(try ask("echo \(answer)", .approval(session: true)) == answer)
  }

  @Test func `deny is a no`() throws { #expect(try ask("echo deny", .approval(session: false)) == "no") }

  @Test func `a secret is the first line as it is`() throws {
    #expect(try ask("printf ' s3cret \\nmore\\n'", .secret) == " s3cret ")
  }

  @Test func `one is a dismissal`() throws { #expect(try ask("echo yes; exit 1", .choice) == "dismissed") }

  @Test(arguments: ["echo yes; exit 2", "kill -9 $$", "echo perhaps", "true", "echo always", "yes | head -c 70000"])
  func `what is no answer leaves the question to the next face`(script: String) throws {
    #expect {
      try ask(script, .choice)
    } throws: {
      if case FaceError.unavailable = $0 { true } else { false }
    }
  }

  @Test func `session is no answer where it was not offered`() throws {
    #expect(throws: (any Error).self) { try ask("echo session", .approval(session: false)) }
  }

  @Test func `the question comes on standard input and nowhere else`() throws {
    let script = """
      tr '\\0' '\\n' </proc/$$/cmdline >\(folder)/seen; tr '\\0' '\\n' </proc/$$/environ >>\(folder)/seen
      cat >\(folder)/question; echo yes
      """
    defer { try? FileManager.default.removeItem(atPath: folder) }
    #expect(try word(face(script).ask(.sample(.choice), until: Withdrawal())) == "yes")
    let seen = try String(contentsOfFile: folder + "/seen", encoding: .utf8)
    #expect(!seen.contains("cron asks") && !seen.contains("please") && seen.contains(folder + "/command"))
    let text = try Data(contentsOf: URL(fileURLWithPath: folder + "/question"))
    let question = try #require(try JSONSerialization.jsonObject(with: text) as? [String: Any])
    #expect(question["style"] as? String == "choice" && question["answers"] as? [String] == ["yes", "no"])
    #expect(question["words"] as? String == "<b>please</b> & \"now\"")
    #expect((question["inquiry"] as? [String: Any])?["number"] as? Int == 123_456)
  }

  @Test func `a command that hangs is killed with what it started and leaves no zombie`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let pipe = folder + "/pids"
    #expect(unsafe mkfifo(pipe, 0o600) == 0)
    let face = try face("sleep 600 & echo $$ $! >\(pipe); wait")
    let withdrawal = try Withdrawal()
    let pids = Pids()
    // The command writes to the pipe once it runs; at that moment the question is withdrawn.
    let thread = try #require(
      WorkThread {
        let text = String(decoding: (try? FileHandle(forReadingAtPath: pipe)?.readToEnd()) ?? Data(), as: UTF8.self)
        pids.values = text.split { $0.isWhitespace }.compactMap { pid_t($0) }
        withdrawal.raise()
      })
    #expect(throws: FaceError.withdrawn) { try word(face.ask(.sample(.secret), until: withdrawal)) }
    thread.join()
    try #require(pids.values.count == 2)
    // The command is reaped before the answer; its child now belongs to init, and is dead or about to be.
    #expect(!ProcessTree.isThere(pids.values[0]))
  }

  @Test func `a presence that the command ends with one is dismissed`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (face, dismissed) = (try face("exit 1"), try Withdrawal())
    try face.show(.sample(.presence), dismissed: dismissed)
    var polled = pollfd(fd: dismissed.descriptor, events: Int16(POLLIN), revents: 0)
    #expect(unsafe poll(&polled, 1, 30_000) == 1)
    face.clear()
  }

  @Test func `clear ends a presence that is shown`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (face, dismissed) = (try face("sleep 600"), try Withdrawal())
    try face.show(.sample(.presence), dismissed: dismissed)
    face.clear()
    #expect(!dismissed.isRaised)
  }

  @Test func `a notice is one object too`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    #expect(try face("cat >\(folder)/n").tell(Notice(title: "Locked", text: "idle", isUrgent: false)))
    let text = try String(contentsOfFile: folder + "/n", encoding: .utf8)
    #expect(text == "{\"about\":\"notice\",\"title\":\"Locked\",\"text\":\"idle\",\"urgent\":false}\n")
  }

  private final class Pids { var values: [pid_t] = [] }
}
