import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultDaemon
@testable import VaultService

@Suite("The account of the machine's vault") struct AccountTests {
  @Test("one of another name, or with the vault's home, is no problem") func fitting() {
    for account in [Account(name: "_vaultd", home: "/var/lib/vault"), Account(name: "root", home: "/root")] {
      #expect(account.problemAsVault == nil)
    }
    for home in ["/home/vault", "/", "/var/lib/vault/", "/var/lib/vault2"] {
      #expect(Account(name: "_vaultd", home: home).problemAsVault?.contains(home) == true)
    }
  }

  @Test(
    "the daemon does not start as an account of that name that was made for something else",
    .enabled(if: TestUser.canBeMade, "shows a process other accounts, which needs root"),
    arguments: ["/home/vault", "/var/lib/vault"])
  func foreign(home: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let script = """
      \(sandbox.otherAccount("_vaultd:x:64123:64123::\(home):/usr/sbin/nologin"))
      exec setpriv --reuid=64123 --regid=64123 --clear-groups \(Sandbox.path(of: "vaultd")) --system --config \
      /nonexistent
      """
    unsafe chmod(sandbox.root, 0o711)
    let refused = try sandbox.run(["--mount", "/bin/sh", "-c", script], program: "/usr/bin/unshare")
    #expect(refused.status == 78, "\(refused)")
    // With the right account, the missing configuration file is the next error.
    let reason =
      home == "/var/lib/vault" ? "open /nonexistent: " : "the account `_vaultd` has the home /home/vault and not "
    #expect(refused.errors.hasPrefix("vaultd: " + reason), "\(refused)")
  }
}
