/// Checks whether systemd would start the daemon.
enum SystemdUnits {
  /// Reports whether the unit that starts the daemon is installed and enabled.
  ///
  /// - Parameters:
  ///   - system: true for the machine's vault.
  ///   - isOwn: true for the user's own socket, for which the client starts a daemon.
  static func diagnoses(system: Bool, isOwn: Bool) -> [Diagnosis] {
    let check = "systemd"
    // The units say nothing about the daemon of a socket that was named.
    guard system || isOwn else { return [] }
    guard FileState("/run/systemd/system").exists else {
      return [
        system
          ? .warn(check, "this machine runs without it", fix: "start `vaultd --system` by other means at boot")
          : .ok(check, "this machine runs without it; the client starts the daemon")
      ]
    }
    let folders = system ? systemFolders : userFolders
    guard folders.contains(where: { FileState("\($0)/vaultd.socket").exists }) else {
      return [
        .warn(
          check, "the unit vaultd.socket is not installed",
          fix: system ? "see vaultd(8)" : "the client starts the daemon instead")
      ]
    }
    guard folders.contains(where: { FileState("\($0)/sockets.target.wants/vaultd.socket").exists }) else {
      let command = system ? "systemctl enable --now vaultd.socket" : "systemctl --user enable --now vaultd.socket"
      return [.warn(check, "the unit vaultd.socket is installed but not enabled", fix: command)]
    }
    return [.ok(check, "the unit vaultd.socket is installed and enabled")]
  }

  /// The path of a user's unit, or of a link to one in a folder such as `sockets.target.wants`; nil if there is none.
  static func userUnit(_ name: String) -> String? {
    userFolders.map { "\($0)/\(name)" }.first { FileState($0).exists }
  }

  /// The folders of the units of the machine or, for a user's vault, of a user's manager.
  static func folders(ofSystem isSystem: Bool) -> [String] { isSystem ? systemFolders : userFolders }

  private static var systemFolders: [String] {
    ["/etc/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"]
  }

  /// The folders of user units; see systemd.unit(5), "User Unit Search Path".
  private static var userFolders: [String] {
    var folders = ["/etc/systemd/user", "/usr/local/lib/systemd/user", "/usr/lib/systemd/user"]
    let home = Environment.variable("HOME")
    if let config = Environment.variable("XDG_CONFIG_HOME") ?? home.map({ $0 + "/.config" }) {
      folders.append(config + "/systemd/user")
    }
    if let data = Environment.variable("XDG_DATA_HOME") ?? home.map({ $0 + "/.local/share" }) {
      folders.append(data + "/systemd/user")
    }
    return folders
  }
}

/// Checks whether the daemon could leave its memory in a core file.
enum CoreLimit {
  static func diagnoses(pid: Int) -> [Diagnosis] {
    guard let text = FileInput.text(of: "/proc/\(pid)/limits") else {
      return [.warn("core dumps", "the limits of process \(pid) cannot be read", fix: "run this as its owner")]
    }
    let line = text.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
    // The name has four words; the soft and the hard limit follow.
    guard let line, line.split(separator: " ").dropFirst(4).first == "0" else {
      return [.fail("core dumps", "the daemon may write core files, which hold its keys", fix: "restart it")]
    }
    return [.ok("core dumps", "the daemon writes none")]
  }
}
