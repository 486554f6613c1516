internal import VaultClient
internal import VaultProcess

/// The helpers: programs that `vault` and `vaultd` start for some of their work. An installation may lack one that was
/// not copied with the others.
enum InstalledHelpers {
  /// A helper, and what does not work without it.
  private struct Helper {
    let name, loss: String
  }

  /// The helpers that the daemon starts.
  private static let ofDaemon = [
    Helper(name: "vault-pam", loss: "no password or finger unlocks the vault through PAM"),
    Helper(name: "vault-keyring", loss: "no keyring unlocks the vault, and nothing is copied from or to a keyring"),
    Helper(name: "vault-tpm2", loss: "no TPM unlocks the vault or holds its boot key"),
    Helper(name: "vault-rsa", loss: "RSA keys above 2,048 bits neither sign nor are generated"),
  ]

  /// The helpers that the client starts.
  private static let ofClient = [
    Helper(name: "vault-qr", loss: "--qr draws nothing"),
    Helper(name: "vault-agent", loss: "nobody is asked in a window"),
  ]

  /// Reports each helper that is missing beside its program. The daemon's are looked for beside the `vaultd` that the
  /// client would start.
  static func diagnoses() -> [Diagnosis] {
    let client = OwnProgram.directory
    let daemon = Daemon.program.flatMap { path in path.lastIndex(of: "/").map { String(path[..<$0]) } }
    return missing(ofDaemon, beside: daemon, "vaultd") + missing(ofClient, beside: client, "vault")
  }

  private static func missing(_ helpers: [Helper], beside directory: String?, _ program: String) -> [Diagnosis] {
    guard let directory else { return [] }
    return helpers.filter { OwnProgram.helper($0.name, from: directory) == nil }.map { helper in
      .warn(
        "helpers",
        "\(helper.name) is neither in \(directory)/../libexec/vault nor beside \(program), so \(helper.loss)",
        fix: "install all programs of vault together")
    }
  }
}
