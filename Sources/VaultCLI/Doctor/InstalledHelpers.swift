internal import Glibc
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
    Helper(name: "vault-keyring", loss: "no keyring unlocks the vault"),
    Helper(name: "vault-tpm2", loss: "no TPM unlocks the vault or holds its boot key"),
    Helper(name: "vault-rsa", loss: "RSA keys above 2,048 bits neither sign nor are generated"),
  ]

  /// The helpers that the client starts.
  private static let ofClient = [
    Helper(name: "vault-qr", loss: "--qr draws nothing"),
    Helper(name: "vault-import", loss: "no file of another program is imported"),
    Helper(name: "vault-agent", loss: "nobody is asked in a window"),
    Helper(name: "vault-keyring", loss: "nothing is copied from or to a keyring"),
  ]

  /// Reports each helper that is missing beside its program.
  ///
  /// - Parameters:
  ///   - isOfDaemon: true to look for the daemon's helpers, too, beside the `vaultd` that the client would start; false
  ///     for a named socket, whose daemon may be installed elsewhere.
  ///   - hasDaemon: true if a daemon answers. Otherwise another check reports a missing `vaultd`.
  static func diagnoses(ofDaemon isOfDaemon: Bool, hasDaemon: Bool) -> [Diagnosis] {
    let program = isOfDaemon ? Daemon.program : nil
    var diagnoses: [Diagnosis] = []
    if isOfDaemon, hasDaemon, program == nil {
      diagnoses.append(
        .warn(
          "helpers", "vaultd is neither beside vault nor in PATH, so no daemon can start once the running one ends",
          fix: "install all programs of vault together"))
    }
    diagnoses += missing(ofDaemon, beside: program.flatMap(directory), "vaultd")
    return diagnoses + missing(ofClient, beside: OwnProgram.directory, "vault")
  }

  /// The directory of a program's file, also if the path is that of a link.
  private static func directory(of program: String) -> String? {
    guard let resolved = unsafe realpath(program, nil) else { return nil }
    defer { unsafe free(resolved) }
    let path = unsafe String(cString: resolved)
    return path.lastIndex(of: "/").map { String(path[..<$0]) }
  }

  private static func missing(_ helpers: [Helper], beside directory: String?, _ program: String) -> [Diagnosis] {
    guard let directory else { return [] }
    return helpers.filter { OwnProgram.helper($0.name, from: directory) == nil }.map { helper -> Diagnosis in
      if let path = OwnProgram.barredHelper(helper.name, from: directory) {
        return .warn(
          "helpers", "\(path) is not executable, so \(helper.loss)", fix: "make it executable, or install it again")
      }
      return .warn(
        "helpers",
        "\(helper.name) is neither in \(directory)/../libexec/vault nor beside \(program), so \(helper.loss)",
        fix: "install all programs of vault together")
    }
  }
}
