import Foundation
import Glibc
import VaultProcess

/// An X server without a visible screen (Xvfb), which ends by itself once the last program on it has ended.
public final class Display: Sendable {
  /// True if Xvfb and xdotool are installed.
  public static let isPossible = unsafe access("/usr/bin/Xvfb", X_OK) == 0 && access("/usr/bin/xdotool", X_OK) == 0

  /// The value of `DISPLAY`.
  public let name: String
  private let server: Child
  private let sandbox: Sandbox

  /// Starts a server.
  ///
  /// - Parameter sandbox: The sandbox that keeps the server's messages, in `xvfb.log`.
  public init(in sandbox: Sandbox) throws {
    self.sandbox = sandbox
    // The number is chosen here, because a number that Xvfb finds by itself is not locked, and another server that
    // starts would take it over.
    for _ in 0..<8 {
      let number = ":\(UInt32.random(in: 1000..<50_000))"
      guard let server = try Self.start(number, log: sandbox.root + "/xvfb.log") else { continue }
      (name, self.server) = (number, server)
      return
    }
    throw SandboxError("Xvfb: \((try? String(contentsOfFile: sandbox.root + "/xvfb.log", encoding: .utf8)) ?? "")")
  }

  /// Starts a server, and returns when clients can connect; nil if it ends instead.
  private static func start(_ number: String, log: String) throws -> Child? {
    let ready = try Child.pipe()
    defer { Glibc.close(ready.read) }
    let server: Child
    do {
      defer { Glibc.close(ready.write) }
      // The server is not among the sandbox's programs, which are killed, because it must remove its socket in /tmp.
      server = try Child(
        "/usr/bin/Xvfb",
        [number, "-displayfd", "3", "-nolisten", "tcp", "-screen", "0", "800x600x24", "-terminate"],
        environment: ["PATH": "/usr/bin:/bin"],
        descriptors: [
          .null, .file(log, O_WRONLY | O_CREAT | O_APPEND), .file(log, O_WRONLY | O_CREAT | O_APPEND),
          .ours(ready.write),
        ])
    }
    // The server writes its number and then a newline, and ends if it cannot start.
    var byte: UInt8 = 0
    while unsafe read(ready.read, &byte, 1) == 1 { if byte == UInt8(ascii: "\n") { return server } }
    server.signal(SIGTERM)
    _ = server.wait()
    return nil
  }

  deinit { close() }

  /// Ends the server, and waits for its end.
  public func close() {
    server.signal(SIGTERM)
    _ = server.wait()
  }

  /// Moves the pointer and clicks with `button` 1, 2 or 3, once a window of `program` is visible.
  public func click(_ program: String, x: Int, y: Int, button: Int) throws {
    try xdotool(["search", "--sync", "--onlyvisible", "--class", program])
    try xdotool(["mousemove", "\(x)", "\(y)", "click", "\(button)"])
  }

  /// Waits for the window of that class, gives it the keyboard focus, and types into it.
  public func type(_ text: String, into window: String) throws { try act(window, ["type", "--delay", "0", text]) }

  /// Waits for the window of that class, gives it the keyboard focus, and presses the keys one after another.
  public func press(_ keys: String..., in window: String) throws { try act(window, ["key", "--delay", "0"] + keys) }

  private func act(_ window: String, _ action: [String]) throws {
    // The window may exist before it can have the focus, and the text must be typed only once.
    let focus = ["search", "--sync", "--onlyvisible", "--class", window, "windowfocus", "--sync"]
    try wait(for: "the keys of \(window)") { try outcome(of: focus).status == 0 }
    try xdotool(action)
  }

  private func xdotool(_ arguments: [String]) throws {
    let outcome = try outcome(of: arguments)
    guard outcome.status == 0 else { throw SandboxError("xdotool \(arguments): \(outcome)") }
  }

  private func outcome(of arguments: [String]) throws -> Outcome {
    try sandbox.run(arguments, program: "/usr/bin/xdotool", environment: ["DISPLAY": name])
  }
}
