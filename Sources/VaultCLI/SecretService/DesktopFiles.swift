internal import VaultClient
internal import VaultModel

/// The user's files by which a desktop learns which program is its Secret Service.
struct DesktopFiles {
  /// The folders of the user, as the XDG Base Directory Specification names them.
  private let (config, data, state): (String, String, String)

  /// Nil if the environment does not tell the folders.
  init?() {
    func folder(_ variable: String, _ fallback: String) -> String? {
      if let path = Environment.variable(variable), path.hasPrefix("/") { return path }
      guard let home = Environment.variable("HOME"), home.hasPrefix("/") else { return nil }
      return home + fallback
    }
    guard let config = folder("XDG_CONFIG_HOME", "/.config"), let data = folder("XDG_DATA_HOME", "/.local/share"),
      let state = folder("XDG_STATE_HOME", "/.local/state")
    else { return nil }
    (self.config, self.data, self.state) = (config, data, state)
  }

  /// The record of what `enable` has changed.
  var record: String { state + "/vault/secret-service" }
  var settings: String { config + "/vault/vaultd.conf" }
  /// The file by which the bus starts the daemon when a program asks for the name.
  var activation: String { "\(data)/dbus-1/services/\(Self.name).service" }
  /// The unit with which the user's service manager starts the daemon for the bus.
  var unit: String { "\(data)/systemd/user/\(Self.unitName)" }
  /// The link that enables the agent's unit.
  var agentLink: String { "\(config)/systemd/user/graphical-session.target.wants/\(Self.agentUnit)" }
  /// The settings of KDE's wallet.
  var walletSettings: String { config + "/kwalletrc" }

  static let name = "org.freedesktop.secrets"
  static let unitName = "vault-secret-service.service"
  static let agentUnit = "vault-agent.service"
  /// GNOME Keyring's units, as its own packages name them.
  private static let otherUnits = ["gnome-keyring-daemon.socket", "gnome-keyring-daemon.service"]

  /// The places that `enable` changes, in their order, with the new content.
  ///
  /// - Parameter daemon: the path of `vaultd`.
  /// - Throws: ``Failure`` if the path cannot be written in these files.
  func changes(daemon: String) throws(Failure) -> [(path: String, content: PlaceContent)] {
    let command = try Self.quoted(daemon) + " --activated --log auto"
    var changes = [
      (unit, PlaceContent.file(Self.unitText(command))), (activation, .file(Self.activationText(command))),
    ]
    changes += hidden
    return changes
  }

  /// The changes that keep GNOME Keyring from starting.
  private var hidden: [(path: String, content: PlaceContent)] {
    let autostart = config + "/autostart/gnome-keyring-secrets.desktop"
    let masks = Self.otherUnits.map { name in
      (path: "\(config)/systemd/user/\(name)", content: PlaceContent.link(to: "/dev/null"))
    }
    // An existing file that hides GNOME Keyring suffices.
    if case .file(let text) = PlaceContent(of: autostart), text.split(separator: "\n").contains("Hidden=true") {
      return masks
    }
    return [(autostart, .file("[Desktop Entry]\nType=Application\nName=Secret Storage Service\nHidden=true\n"))] + masks
  }

  /// The link that enables the agent's unit, if the unit is installed and not enabled yet.
  var agent: (path: String, content: PlaceContent)? {
    guard !isAgentEnabled, let unit = SystemdUnits.userUnit(Self.agentUnit) else { return nil }
    return (agentLink, .link(to: unit))
  }

  /// True if the session starts the agent.
  var isAgentEnabled: Bool {
    SystemdUnits.userUnit("graphical-session.target.wants/\(Self.agentUnit)") != nil
  }

  /// True if the bus would start this vault's daemon for the name.
  var isActivationOurs: Bool {
    guard case .file(let text) = PlaceContent(of: activation) else { return false }
    return text.split(separator: "\n").contains("SystemdService=\(Self.unitName)")
  }

  // MARK: Texts

  /// The line that identifies the files that `enable` makes.
  static let mark = "# Made by `vault secret-service enable`, removed by `vault secret-service disable`."

  /// Puts a path between quotes as both the bus and the service manager read them.
  private static func quoted(_ path: String) throws(Failure) -> String {
    let special: Set<Character> = ["\"", "\\", "$", "`", "%", "'"]
    guard !path.contains(where: { $0.isNewline || special.contains($0) }) else {
      throw Failure(.configuration, "the bus cannot start \(Printable.quoted(path))", "install vault elsewhere")
    }
    return path.contains(" ") ? "\"\(path)\"" : path
  }

  private static func activationText(_ command: String) -> String {
    """
    \(mark)
    [D-BUS Service]
    Name=\(name)
    Exec=\(command)
    SystemdService=\(unitName)

    """
  }

  /// Returns the unit. It waits for no name on the bus, because the program ends at once if another daemon serves the
  /// vault.
  private static func unitText(_ command: String) -> String {
    """
    \(mark)
    [Unit]
    Description=Secret Service of the credential vault
    Documentation=man:vault-secret-service(7) man:vaultd(8)
    # A process under NoNewPrivileges= cannot check a password; that helper does.
    Wants=vault-pam.socket
    After=vault-pam.socket

    [Service]
    Type=exec
    ExecStart=\(command)
    ExecReload=/bin/kill -HUP $MAINPID
    # Programs that wait for a prompt make no call that would start a daemon again after it was killed.
    Restart=on-failure
    # Another daemon or the settings keep the daemon from serving this session. A restart would change neither.
    RestartPreventExitStatus=69 73 78
    UMask=0077
    LimitCORE=0
    LimitMEMLOCK=64M
    LimitNOFILE=1024:34700
    NoNewPrivileges=yes
    RestrictAddressFamilies=AF_UNIX
    RestrictNamespaces=yes
    RestrictRealtime=yes
    RestrictSUIDSGID=yes
    LockPersonality=yes
    MemoryDenyWriteExecute=yes
    SystemCallArchitectures=native
    SystemCallFilter=@system-service
    SystemCallFilter=~@privileged
    SystemCallErrorNumber=EPERM

    """
  }
}

/// The user's service manager, if there is one.
enum UserManager {
  /// True if a service manager of this user runs.
  static var isThere: Bool {
    guard let runtime = Environment.variable("XDG_RUNTIME_DIR"), runtime.hasPrefix("/") else { return false }
    return FileState(runtime + "/systemd/private").exists
  }

  /// Gives the manager a command; false if there is none, or if the command fails.
  @discardableResult
  static func tell(_ words: String...) -> Bool {
    guard isThere, let program = Tool.find("systemctl") else { return false }
    return Tool.capture([program, "--user", "--quiet"] + words, limit: 64 << 10) != nil
  }
}
