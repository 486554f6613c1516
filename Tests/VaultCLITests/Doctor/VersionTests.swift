import Foundation
import Testing
import VaultClient
import VaultTesting
import VaultWire

@testable import VaultCLI

@Suite("A daemon of another version") struct VersionTests {
  private static func status(_ version: String) -> String {
    """
    {"parameters":{"state":"locked","cause":"idle","since":1,"locks_on":[],"methods":[],"warnings":[],\
    "version":"\(version)","pid":4711}}
    """
  }

  @Test("is named by status and doctor, which say how to have the installed one run", arguments: ["0.0.9", "99.0"])
  func isNamed(version: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let daemon = try ScriptedDaemon(sandbox, ["Status": [Self.status(version)]])
    defer { daemon.close() }
    let text = "the daemon is version \(version), and this program \(ClientVersion.text); "
    let advice = "end it with `kill 4711`, and the next command starts what is installed"
    let status = try sandbox.run("status", "--socket", daemon.socket)
    #expect(status.status == 0 && status.output.contains("warning:    \(text)\(advice)\n"), "\(status)")
    let doctor = try sandbox.run("doctor", "--socket", daemon.socket)
    #expect(
      doctor.output.contains("warn  version: \(text)restart the daemon after an update: \(advice)\n"), "\(doctor)")
  }

  @Test(
    "is named by doctor although its version is the same, if it serves another interface", arguments: [true, false])
  func isOtherBuild(isOther: Bool) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let served = "\(VaultInterface.description)" + (isOther ? "\n" : "")
    let reply = try JSONEncoder().encode(["parameters": ["description": served]])
    let daemon = try ScriptedDaemon(
      sandbox,
      [
        "Status": [Self.status(ClientVersion.text)],
        "GetInterfaceDescription": [String(decoding: reply, as: UTF8.self)],
      ])
    defer { daemon.close() }
    let doctor = try sandbox.run("doctor", "--socket", daemon.socket)
    let told =
      isOther
      ? "warn  version: the daemon is a different build than this program, although both are version "
        + "\(ClientVersion.text); restart the daemon after an update: end it with `kill 4711`, "
      : "ok    version: client and daemon are \(ClientVersion.text)\n"
    #expect(doctor.output.contains(told), "\(doctor)")
    #expect(daemon.heard("GetInterfaceDescription") == 1)
  }

  @Test("is the machine's to restart by its unit")
  func isRestarted() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let daemon = try ScriptedDaemon(sandbox, ["Status": [Self.status("0.0.9")]])
    defer { daemon.close() }
    let status = try Session(socket: daemon.socket, system: false, startsDaemon: false).call { try $0.status() }
    #expect(StatusCommand.lines(status, now: 2, system: true).contains { $0.hasSuffix("; `systemctl restart vaultd`") })
  }

  @Test("is not spoken of where it is the same")
  func isTheSame() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let daemon = try ScriptedDaemon(sandbox, ["Status": [Self.status(ClientVersion.text)]])
    defer { daemon.close() }
    let status = try sandbox.run("status", "--socket", daemon.socket)
    #expect(status.status == 0 && !status.output.contains("warning:"), "\(status)")
    // The real daemon is of this build.
    let own = try Sandbox.withVault(unlocked: true)
    defer { own.close() }
    #expect(try own.run("doctor").output.contains("ok    version: client and daemon are \(ClientVersion.text)\n"))
  }
}
