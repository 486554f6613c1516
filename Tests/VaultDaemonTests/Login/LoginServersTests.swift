import Foundation
import Glibc
import Testing
import VaultTesting

// Logins while another program answers in the daemon's place.
extension LoginTests {
  /// The seconds that a login may take longer. The module waits for two; the rest is for a busy machine, on which one
  /// that waits for ever would still be noticed.
  private static var most: Double { 20 }

  /// Returns the module's messages while `command` runs in the daemon's place, and the seconds that this adds to a
  /// login.
  private func told(
    _ stand: LoginStand, as user: TestUser?, command: String
  ) throws -> (said: String, seconds: Double) {
    let folder = stand.sandbox.runtime + "/vault"
    unsafe mkdir(folder, 0o700)
    unsafe chown(folder, stand.user.uid, stand.user.uid)
    let clock = ContinuousClock()
    func time() throws -> Duration {
      let start = clock.now
      #expect(try stand.logIn().status == 0)
      return clock.now - start
    }
    let usual = try time()
    let file = stand.sandbox.home + "/said"
    let server = try Activation(
      stand.sandbox.socket, in: stand.sandbox, command: ["/bin/sh", "-c", command.replacing("FILE", with: file)],
      as: user)
    unsafe chmod(stand.sandbox.socket, 0o777)
    let more = try time() - usual
    withExtendedLifetime(server) {}
    return ((try? String(contentsOfFile: file, encoding: .utf8)) ?? "", more / .seconds(1))
  }

  @Test("waits two seconds at most for a silent daemon, which learns no password") func silentDaemon() throws {
    try LoginStand.with { (stand) throws in
      let (said, seconds) = try told(stand, as: stand.user, command: "exec cat >>FILE")
      #expect(said == #"{"method":"io.vaultd.Vault.Unlock","parameters":{"method":"login"},"more":true}"# + "\0")
      #expect(seconds < Self.most)
    }
  }

  @Test(
    "does not mind a daemon that hangs up, or talks nonsense",
    arguments: [
      "exit", "exec yes", "printf '{}\\0'; exec cat", "yes '{\"prompt\":{' | head -c 9999999 | tr '\\n' '\\0'",
    ])
  func brokenDaemon(command: String) throws {
    try LoginStand.with { (stand) throws in
      #expect(try told(stand, as: stand.user, command: command).seconds < Self.most)
    }
  }

  @Test("says nothing to a socket that another user serves") func foreignServer() throws {
    try LoginStand.with { (stand) throws in
      let (said, seconds) = try told(stand, as: nil, command: "cat >>FILE")
      #expect(said == "")
      #expect(seconds < Self.most)
    }
  }

  @Test("does not go into a directory that others may read or write") func openDirectory() throws {
    try LoginStand.with { (stand) throws in
      try stand.makeVault()
      for mode in [0o777, 0o755, 0o701, 0o740] as [mode_t] {
        unsafe chmod(stand.sandbox.runtime + "/vault", mode)
        #expect(try stand.logIn().status == 0)
        unsafe chmod(stand.sandbox.runtime + "/vault", 0o700)
        #expect(try stand.state() == "locked", "\(mode)")
      }
    }
  }

  @Test("gives no password to a conversation whose name is none", arguments: [#"c0\\"x"#, "c0 x", "C0", "c0,"])
  func strangeName(name: String) throws {
    try LoginStand.with { (stand) throws in
      let prompt =
        #"{"parameters":{"conversation":"\#(name)","prompt":{"style":"secret","method":"login","text":"t"}},"#
        + #""continues":true}\0"#
      let (said, seconds) = try told(
        stand, as: stand.user, command: "head -zn1 >>FILE; printf '\(prompt)'; exec cat >>FILE")
      #expect(said == #"{"method":"io.vaultd.Vault.Unlock","parameters":{"method":"login"},"more":true}"# + "\0")
      #expect(seconds < Self.most)
    }
  }
}
