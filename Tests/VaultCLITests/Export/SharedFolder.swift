import Glibc
import Testing
import VaultTesting

/// The machine's vault, in which another user has the rights to read and to make items in the folder `shared`.
enum SharedFolder {
  static let stranger = "65534"

  static func with(_ body: (Sandbox) throws -> Void) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let settings = try sandbox.write("", to: "vaultd.conf")
    unsafe chmod(settings, 0o600)
    try sandbox.startDaemon(arguments: [
      "--system", "--store", sandbox.store, "--socket", sandbox.socket, "--config", settings,
    ])
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    try sandbox.must(["grant", "user:" + stranger, "shared/**", "--can", "get,set"])
    for path in [sandbox.root, sandbox.runtime, sandbox.runtime + "/vault", sandbox.root + "/config"] {
      unsafe chmod(path, 0o755)
    }
    unsafe chmod(sandbox.socket, 0o666)
    try body(sandbox)
  }

  /// The option by which commands find the machine's vault, which is in a folder open to the other user.
  static func at(_ sandbox: Sandbox) -> [String] { ["--socket", sandbox.socket] }

  /// Runs a command as the other user.
  static func other(_ sandbox: Sandbox, _ arguments: [String], stdin: String = "") throws -> Outcome {
    let user = ["--reuid=\(stranger)", "--regid=\(stranger)", "--clear-groups", Sandbox.path(of: "vault")]
    return try sandbox.run(
      user + arguments + at(sandbox), program: "/usr/bin/setpriv", stdin: Array(stdin.utf8))
  }

  /// Makes an item as the other user.
  static func plant(_ sandbox: Sandbox, _ name: String, _ value: String, _ attributes: [String]) throws {
    let outcome = try other(sandbox, ["set", name] + attributes.flatMap { ["--attr", $0] }, stdin: value)
    try #require(outcome.status == 0, "\(outcome)")
  }
}
