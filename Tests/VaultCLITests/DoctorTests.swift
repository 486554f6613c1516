import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultCLI

@Suite("What `vault doctor` finds") struct DoctorTests {
  @Test("a daemon that hangs up is a failure, and not one that does not run")
  func hangsUp() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try #require(unsafe mkdir(sandbox.runtime + "/vault", 0o700) == 0)
    let daemon = try Activation(sandbox.socket, in: sandbox, command: ["/bin/true"])
    let outcome = try sandbox.run("doctor")
    #expect(outcome.status == 78 && outcome.output.contains("fail  daemon: the daemon went away"), "\(outcome)")
    // Nobody knows what it still holds.
    let lock = try sandbox.run("lock", "--json")
    #expect(lock.status == 69 && lock.output.isEmpty && lock.errors.contains("the daemon went away"), "\(lock)")
    withExtendedLifetime(daemon) {}
  }
}
