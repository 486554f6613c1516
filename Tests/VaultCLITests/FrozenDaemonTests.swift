import Foundation
import Glibc
import Testing
import VaultTesting

/// A daemon that is stopped: it takes connections, and answers nothing until it runs again.
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
    // Nothing asks on.
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

  @Test(
    "`vault get` and the helpers give it up after ten seconds, also where they wait for a person",
    arguments: [["get", "web", "--wait", "10m"], ["get", "web"], ["helper", "git", "get"]])
  func giveUp(command: [String]) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.signalDaemon(SIGSTOP)
    defer { try? sandbox.signalDaemon(SIGCONT) }
    let began = ContinuousClock.now
    let outcome = try sandbox.run(command, stdin: Array("protocol=https\nhost=example.org\n\n".utf8))
    let time = ContinuousClock.now - began
    #expect(outcome.errors.contains("did not answer in time"), "\(outcome)")
    #expect(time >= .seconds(9) && time < .seconds(28), "it took \(time)")
    if command[0] == "get" { #expect(outcome.status == 75) }
  }
}
