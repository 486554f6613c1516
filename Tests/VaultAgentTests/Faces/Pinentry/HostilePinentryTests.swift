import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultAgent

@Suite("Pinentries that do not do their part") struct HostilePinentryTests {
  private func face(_ script: PinentryScript, patience: Int32 = 60_000) -> PinentryFace {
    PinentryFace(script.path, .init(terminal: nil, type: nil), patience: patience)
  }

  private func ask(_ script: PinentryScript, _ kind: Question.Kind = .secret, patience: Int32 = 60_000) throws -> String
  {
    let outcome = try AskedFace(face(script, patience: patience), .sample(kind)).end()
    try script.expectNothingLeft()
    return outcome
  }

  @Test(
    "one that does not begin as it should leaves the question to the next face",
    arguments: [
      ("echo Hello", "is not understood"), ("exit 0", "has ended"), ("kill -9 $$", "has ended"),
      ("echo ERR 1 no; exec sleep 600", "does not begin with OK"),
      ("echo INQUIRE x; exec sleep 600", "is not understood"),
      ("exec tr '\\0' x </dev/zero", "longer than 1000 bytes"), ("exec yes '# x'", "has no end"),
      ("exec yes OK", "sent an answer without a question"), ("trap '' TERM; sleep 600 & exit 0", "has ended"),
      ("echo OK; exit 0", "has ended"), ("echo OK; read -r line; exit 0", "has ended"),
    ]) func beginning(script: String, reason: String) throws
  {
    let outcome = try ask(PinentryScript(script))
    #expect(outcome.hasPrefix("unavailable: ") && outcome.contains(reason), "\(outcome)")
  }

  @Test(
    "one that hangs is given up",
    arguments: ["exec sleep 600", "echo OK; exec sleep 600", "while :; do echo '# x'; sleep 0.01; done"])
  func hanging(script: String) throws {
    #expect(try ask(PinentryScript(script), patience: 300) == "unavailable: pinentry does not answer")
  }

  @Test(
    "one that does not answer as it should leaves the question to the next face",
    arguments: [
      ("echo D half; exit 0", "has ended"), ("printf 'D half'; exit 0", "has ended"),
      ("echo INQUIRE x", "is not understood"),
      ("head -c 1000000 </dev/zero | tr '\\0' x", "longer than 1000 bytes"),
      ("yes 'D xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'", "is too long"),
      ("yes 'S x'", "has no end"), ("sleep 600 & exit 0", "has ended"),
      ("echo ERR 83886381 too small", "its window or terminal is too small (error 83886381); make that larger"),
      ("echo ERR 83918950 x", "it finds no terminal to ask on (error 83918950); run the agent on a terminal"),
      ("echo ERR 83887000 x", "pinentry failed (error 83887000); `gpg-error 83887000` says why"),
      ("kill -9 $$", "has ended"),
    ]) func answering(action: String, reason: String) throws
  {
    for kind in [Question.Kind.secret, .approval(session: true)] {
      let outcome = try ask(.answering(action), kind)
      #expect(outcome.hasPrefix("unavailable: ") && outcome.contains(reason), "\(outcome)")
    }
  }

  @Test("a refusal is none of the program", arguments: [99, 62, 198]) func refusal(code: Int) throws {
    let whole = 83_886_080 + code
    #expect(try ask(.answering("echo ERR \(whole) x")) == "dismissed")
    #expect(try ask(.answering("echo ERR \(whole) x"), .choice) == "dismissed")
  }

  @Test("one that lets nothing be typed is not asked for ever") func empty() throws {
    #expect(try ask(.answering("echo OK")) == "dismissed")
  }

  @Test("a program that is not there is an obstacle") func missing() throws {
    let outcome = try AskedFace(PinentryFace("/nonexistent", .init(terminal: nil, type: nil)), .sample(.secret)).end()
    #expect(outcome.hasPrefix("unavailable: /nonexistent does not start"))
  }

  @Test("a question that is taken back ends it and what it has started, whatever it makes of signals") func withdrawn()
    throws
  {
    for trap in ["", "trap '' TERM HUP INT;"] {
      let script = try PinentryScript.answering("\(trap) sleep 600 & echo $! >$folder/asked; wait; wait")
      try script.makePipe("asked")
      let asked = try AskedFace(face(script), .sample(.secret))
      // The script writes its child's pid once the question was asked.
      let child = try #require(try script.note("asked").first.flatMap { pid_t($0) })
      asked.withdrawal.raise()
      #expect(asked.end() == "withdrawn")
      try script.expectNothingLeft()
      // By now the child has another parent, so waiting for its end means polling.
      try wait(for: "the end of its child") { !ProcessTree.hasMemory(child) }
    }
  }

  @Test("a finger is waited for until the person presses the button, and no error presses it") func shown() throws {
    for (action, isDismissed) in [
      ("echo OK", true), ("echo ERR 83886179 x", true), ("echo ERR 83886381 x", false),
    ] {
      let script = try PinentryScript.answering(action)
      let (face, dismissed) = (face(script), try Withdrawal())
      try face.show(.sample(.presence), dismissed: dismissed)
      if isDismissed {
        var polled = pollfd(fd: dismissed.descriptor, events: Int16(POLLIN), revents: 0)
        #expect(unsafe poll(&polled, 1, 30_000) == 1, "\(action)")
      } else {
        try wait(for: "its end") {
          try script.note("pid").first.flatMap { pid_t($0) }.map { kill($0, 0) != 0 } ?? false
        }
      }
      face.clear()
      #expect(dismissed.isRaised == isDismissed, "\(action)")
      try script.expectNothingLeft()
    }
    #expect(throws: FaceError.self) {
      try PinentryFace("/nonexistent", .init(terminal: nil, type: nil)).show(
        .sample(.presence), dismissed: Withdrawal())
    }
  }
}
