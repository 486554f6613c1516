import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultCLI

/// A stopped daemon: it accepts connections, and answers nothing until it runs again.
@Suite("A frozen daemon") struct FrozenDaemonTests {
  private static let question = "the daemon has not confirmed the lock"

  @Test("`vault lock` says in two seconds that the lock is not confirmed, and the daemon locks when it wakes")
  func lock() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.signalDaemon(SIGSTOP)
    let began = ContinuousClock.now
    let outcome = try sandbox.run("lock")
    let time = ContinuousClock.now - began
    #expect(outcome.status == 75 && outcome.errors.contains(Self.question), "\(outcome)")
    #expect(time >= .seconds(2) && time < .seconds(20), "it took \(time)")
    #expect(sandbox.processes(mentioning: "lock").count == 1)
    try sandbox.signalDaemon(SIGCONT)
    try wait(for: "the lock") { try sandbox.must(["status", "--json"]).contains(#""state":"locked""#) }
    // No process repeats the call any more.
    try wait(for: "the end of who asked") { sandbox.processes(mentioning: "lock").isEmpty }
  }

  @Test("one that listens elsewhere gets the signal: the lock is not confirmed in two seconds, and comes when it wakes")
  func elsewhere() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let other = sandbox.root + "/other"
    #expect(unsafe mkdir(other, 0o700) == 0)
    let pid = try #require(sandbox.daemonPid)
    try sandbox.signalDaemon(SIGSTOP)
    let began = ContinuousClock.now
    let outcome = try sandbox.run("lock", "--json", environment: ["XDG_RUNTIME_DIR": other])
    let time = ContinuousClock.now - began
    #expect(outcome.status == 75 && outcome.output.isEmpty, "\(outcome)")
    #expect(
      outcome.errors.contains("process \(pid) serves this vault")
        && outcome.errors.contains("has not confirmed the lock; it was sent the signal to lock"), "\(outcome)")
    #expect(time >= .seconds(2) && time < .seconds(20), "it took \(time)")
    #expect(sandbox.processes(mentioning: "lock").isEmpty)
    try sandbox.signalDaemon(SIGCONT)
    try wait(for: "the lock") { try sandbox.must(["status", "--json"]).contains(#""state":"locked""#) }
  }

  @Test(
    "a `vault lock` that is killed with all of its group before it is answered still locks",
    arguments: [SIGKILL, SIGINT])
  func killed(signal: Int32) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.signalDaemon(SIGSTOP)
    let command = Begun(sandbox, ["lock"])
    // The command and its stand-in, which is in a session of its own by now.
    var asking: [Int32] = []
    try wait(for: "who stands by") {
      asking = sandbox.processes(mentioning: "lock")
      return asking.count == 2 && asking.allSatisfy { getsid($0) == $0 }
    }
    let first = try #require(asking.first { !ProcessTree.processes(named: "vault", of: $0).isEmpty })
    kill(-first, signal)
    #expect(try command.outcome().status == 128 + signal)
    try sandbox.signalDaemon(SIGCONT)
    try wait(for: "the lock") { try sandbox.must(["status", "--json"]).contains(#""state":"locked""#) }
    try wait(for: "the end of who asked") { sandbox.processes(mentioning: "lock").isEmpty }
  }

  @Test("an answered `vault lock` leaves nobody behind who would lock again") func answered() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["lock"])
    #expect(sandbox.processes(mentioning: "lock").isEmpty)
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    #expect(try sandbox.must(["status", "--json"]).contains(#""state":"unlocked""#))
  }

  @Test("where the daemon says that there are too many clients, who asks on asks again until there is room")
  func crowd() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let full = #"{"error":"io.vaultd.Vault.TooManyConnections","parameters":{"uid":0,"limit":1}}"#
    let daemon = try ScriptedDaemon(sandbox, ["Lock": [full]])
    let outcome = try sandbox.run("lock", "--socket", daemon.socket)
    #expect(outcome.status == 75 && outcome.errors.contains(Self.question), "\(outcome)")
    // One call by the command, and two by its stand-in.
    try wait(for: "another try") { daemon.heard("Lock") >= 3 }
    daemon.close()
    try wait(for: "the end of who asked") { sandbox.processes(mentioning: "lock").isEmpty }
  }

  @Test("who asks on ends with the daemon, and starts none") func gone() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.signalDaemon(SIGSTOP)
    #expect(try sandbox.run("lock").status == 75)
    try sandbox.signalDaemon(SIGKILL)
    try wait(for: "the end of who asked") { sandbox.processes(mentioning: "lock").isEmpty }
    #expect(sandbox.daemonPid == nil)
  }

  /// Runs a command while the daemon of a vault is stopped, and returns how it ended and how long it took.
  ///
  /// - Parameter isAnswer: true for a command that tells of failures on standard output.
  private func frozen(_ command: [String], stdin: String, isAnswer: Bool = false) throws -> (Outcome, Duration) {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.signalDaemon(SIGSTOP)
    defer { try? sandbox.signalDaemon(SIGCONT) }
    let began = ContinuousClock.now
    let outcome = try sandbox.run(command, stdin: Array(stdin.utf8))
    let time = ContinuousClock.now - began
    let told = isAnswer ? outcome.output : outcome.errors
    #expect(told.contains("did not answer in time"), "\(outcome)")
    return (outcome, time)
  }

  @Test(
    "`vault get` gives it up after ten seconds, also where it waits for a person",
    arguments: [["get", "web", "--wait", "10m"], ["get", "web"]])
  func giveUp(command: [String]) throws {
    let (outcome, time) = try frozen(command, stdin: "")
    #expect(time >= .seconds(9) && time < .seconds(28), "it took \(time)")
    #expect(outcome.status == 75)
  }

  /// A request for a credential by a helper's protocol.
  private struct Request {
    /// The words after the protocol's name.
    let words: [String]
    var input = ""
    /// The exit code that stands for the failure.
    var status: Int32 = 75
    /// True for a protocol in which the failure is an answer on standard output.
    var isAnswered = false
  }

  /// A request by each protocol. A daemon may let those for a value wait for a person.
  private static let requests: [String: Request] = [
    "git": Request(words: ["get"], input: "protocol=https\nhost=example.org\n\n"),
    "docker": Request(words: ["get"], input: "ghcr.io", status: 1, isAnswered: true),
    "keyring": Request(words: ["get", "pypi.example.org", "ana"]),
    "cargo": Request(
      words: ["--cargo-plugin"], input: #"{"v":1,"registry":{"index-url":"sparse+https://r.io/"},"kind":"get"}"# + "\n",
      status: 0, isAnswered: true),
    "terraform": Request(words: ["get", "app.terraform.io"]),
    "aws": Request(words: ["prod"]),
    "kubectl": Request(words: ["prod"]),
    "gcp": Request(words: ["ci"], isAnswered: true),
    "password-file": Request(words: ["--wait", "10m", "restic/home"]),
  ]

  @Test(
    "each helper gives it up after ten seconds, and tells the other program so in its protocol",
    arguments: Helpers.all.map { $0.name })
  func helpers(name: String) throws {
    let request = try #require(Self.requests[name])
    let (outcome, time) = try frozen(
      ["helper", name] + request.words, stdin: request.input, isAnswer: request.isAnswered)
    #expect(time >= .seconds(9) && time < .seconds(28), "it took \(time)")
    #expect(outcome.status == request.status, "\(outcome)")
  }

  @Test(
    "a command that makes several calls hardly waits longer than for one",
    arguments: [["set", "web", "--update"], ["rm", "web"], ["reload"]])
  func severalCalls(command: [String]) throws {
    let (outcome, time) = try frozen(command, stdin: "value")
    #expect(outcome.status == 75)
    // Two calls of ten seconds each are too long.
    #expect(time < .seconds(19.5), "it took \(time)")
  }

  @Test("a command that has waited for it once makes no other call") func once() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let daemon = try ScriptedDaemon(sandbox, ["ListSlots": [], "ChangePassword": []], otherwise: [])
    let outcome = try sandbox.run("passwd", "--socket", daemon.socket)
    #expect(outcome.status == 75 && outcome.errors.contains("did not answer in time"), "\(outcome)")
    #expect(daemon.heard("ListSlots") == 1 && daemon.heard("ChangePassword") == 0)
    daemon.close()
  }
}
