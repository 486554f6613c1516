import Foundation
import Testing
import VaultTesting

/// A shell script that stands in for a helper program: it runs the `script` that the test has written into its home.
enum ScriptedHelper {
  /// The path at which the script runs. A copy that a test has just written could still be open in a child of another
  /// test, which makes execution fail with "text file busy".
  static let path = Repository.root.appending(path: "Tests/VaultDaemonTests/Helpers/helper.sh").path

  /// Puts `vaultd` into a folder of its own, with the script as its `vault-tpm2`, and returns the path of that
  /// `vaultd`.
  static func daemon(in sandbox: Sandbox) throws -> String {
    let programs = sandbox.root + "/bin"
    let made = try sandbox.run(
      ["-c", "mkdir $0 && cp $1 $0 && ln -s $2 $0/vault-tpm2", programs, Sandbox.path(of: "vaultd"), path],
      program: "/bin/sh")
    #expect(made.status == 0, "\(made)")
    return programs + "/vaultd"
  }
}
