import Glibc
import Testing
import VaultTesting

@testable import VaultAgent

@Suite(
  "pinentry-gtk-2 in a window",
  .enabled(
    if: Display.isPossible && RealPinentry.window.isThere,
    "needs Xvfb, xdotool and pinentry-gtk-2"))
struct PinentryWindowTests {
  private static let window = "pinentry"

  /// Asks in a window on a display of its own; `act` does the person's part.
  private func ask(_ kind: Question.Kind, _ act: (Display, AskedFace) throws -> Void) throws -> String {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let display = try Display(in: sandbox)
    defer { display.close() }
    let script = try PinentryScript.running(
      RealPinentry.window.rawValue, "-i PATH=/usr/bin:/bin HOME=\(sandbox.home) LC_ALL=C DISPLAY=\(display.name)")
    let face = PinentryFace(script.path, .init(terminal: nil, type: nil))
    let asked = try AskedFace(face, .sample(kind))
    try act(display, asked)
    let outcome = asked.end()
    try script.expectNothingLeft()
    return outcome
  }

  @Test(
    "the password that is typed is the answer",
    arguments: ["hunter2", "100%25 \"q\" 'a' \\n _x", String(repeating: "x", count: 200)])
  func typed(password: String) throws {
    let answer = try ask(.secret) { display, _ in
      try display.type(password, into: Self.window)
      try display.press("Return", in: Self.window)
    }
    #expect(answer == password)
  }

  @Test("escape takes it back for now") func dismissed() throws {
    #expect(try ask(.secret) { display, _ in try display.press("Escape", in: Self.window) } == "dismissed")
  }

  @Test(
    "an approval is for once, or none, and a return that was typed for something else approves nothing",
    arguments: [
      (["Return"], "dismissed"), (["Tab", "Return"], "no"), (["Tab", "Tab", "Return"], "once"),
    ])
  func approval(keys: [String], answer: String) throws {
    let found = try ask(.approval(session: true)) { display, _ in
      for key in keys { try display.press(key, in: Self.window) }
    }
    #expect(found == answer)
  }

  @Test("a question that is taken back closes its window") func withdrawn() throws {
    let outcome = try ask(.secret) { display, asked in
      try display.type("half", into: Self.window)
      asked.withdrawal.raise()
    }
    #expect(outcome == "withdrawn")
  }
}
