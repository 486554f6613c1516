import Foundation
import Glibc
import Testing
import VaultTesting

/// A daemon that serves the Secret Service on a private bus, and programs that look for it there.
final class SecretServiceStand {
  static let settings = "pam-service = vault-test-none\nsecret-service = on\n"
  private static let service = "/org/freedesktop/secrets"

  let sandbox: Sandbox
  let bus: PrivateBus

  /// Makes a vault, which is unlocked.
  ///
  /// - Parameter prepare: changes the sandbox before there is anything in it.
  init(_ settings: String = "", prepare: (Sandbox) throws -> Void = { _ in }) throws {
    sandbox = try Sandbox()
    do {
      try prepare(sandbox)
      bus = try PrivateBus(.session, in: sandbox)
      try sandbox.configure(Self.settings + settings)
      try start()
      try watch()
      try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    } catch {
      sandbox.close()
      throw error
    }
  }

  deinit { close() }

  func close() { sandbox.close() }

  /// Starts the daemon, and returns when it has its name.
  func start() throws {
    try sandbox.startDaemon(environment: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
    try waitForName()
  }

  func waitForName() throws {
    try wait(for: "the name on the bus") {
      try bus.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "NameHasOwner", "s", OtherKeyring.name)
        == "b true"
    }
  }

  /// Ends the daemon and starts it again, so that it is cold.
  func restart(by signal: Int32 = SIGTERM) throws {
    try sandbox.stopDaemon(signal: signal)
    try start()
  }

  func unlock() throws { try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n") }

  /// Locks as a program on the bus does.
  func lockOnBus() throws {
    try bus.call(
      OtherKeyring.name, Self.service, "org.freedesktop.Secret.Service", "Lock", "ao", "1",
      Self.service + "/collection/login")
  }

  private var environment: [String] { ["DBUS_SESSION_BUS_ADDRESS=" + bus.address, "PYTHONDONTWRITEBYTECODE=1"] }

  /// Runs a program of the desktop.
  func run(_ program: String, _ arguments: String..., stdin: String = "") throws -> Outcome {
    try sandbox.run(
      environment + [program] + arguments, program: "/usr/bin/env", stdin: Array(stdin.utf8), seconds: 120)
  }

  /// Begins a program of the desktop, and returns when it waits for its prompt.
  ///
  /// - Parameter other: the sandbox in which it runs, if that is another one.
  func begin(_ program: String, _ arguments: String..., stdin: String = "", in other: Sandbox? = nil) throws -> Begun {
    let before = prompts()
    let begun = Begun(other ?? sandbox, environment + [program] + arguments, program: "/usr/bin/env", stdin: stdin)
    try wait(for: "a prompt") { prompts() > before }
    return begun
  }

  private var calls: String { sandbox.root + "/prompts.log" }

  /// The number of calls of Prompt so far.
  private func prompts() -> Int {
    let text = (try? String(contentsOfFile: calls, encoding: .utf8)) ?? ""
    return text.components(separatedBy: "Member=Prompt").count - 1
  }

  /// Has the calls of Prompt written down.
  private func watch() throws {
    let rule = "type='method_call',interface='org.freedesktop.Secret.Prompt',member='Prompt'"
    try sandbox.run(
      "-c", "exec busctl --address=$0 --match=\"$1\" monitor >$2 2>&1 </dev/null &", bus.address, rule, calls,
      program: "/bin/sh")
    try wait(for: "the monitor") {
      try String(contentsOfFile: calls, encoding: .utf8).contains("Monitoring bus message stream")
    }
  }

  /// Has the signals of the Secret Service that everybody hears written down; returns their number so far.
  func listen() throws -> () -> Int {
    let log = sandbox.root + "/signals.log"
    let rule = "type='signal',path_namespace='\(Self.service)'"
    try sandbox.run(
      "-c", "exec busctl --address=$0 --match=\"$1\" monitor >$2 2>&1 </dev/null &", bus.address, rule, log,
      program: "/bin/sh")
    func text() -> String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }
    try wait(for: "the monitor") { text().contains("Monitoring bus message stream") }
    return { text().components(separatedBy: "Interface=org.freedesktop.").count - 1 }
  }

  /// Runs a program in Python, which must succeed, and returns what it prints.
  func python(_ script: String) throws -> String {
    let outcome = try run("/usr/bin/python3", "-c", script)
    try #require(outcome.status == 0, "\(outcome)")
    return outcome.output
  }

  /// True if Python has a module.
  static func hasModule(_ name: String) -> Bool {
    guard let sandbox = try? Sandbox() else { return false }
    defer { sandbox.close() }
    return (try? sandbox.run("-c", "import \(name)", program: "/usr/bin/python3").status) == 0
  }
}
