internal import ArgumentParser
internal import VaultWire

/// The formats that `vault export` writes.
enum TransferFormat: String, ExpressibleByArgument, CaseIterable {
  /// Another keyring on the session bus.
  case secretService = "secret-service"
  case kdbx
  case bitwarden = "bitwarden-json"
  case env
  case json

  /// The format of a file; nil for another keyring.
  var file: FileFormat? { FileFormat(rawValue: rawValue) }
}

/// The formats of files that `vault export` writes.
enum FileFormat: String {
  /// A database of KeePass, KDBX 4.
  case kdbx
  case bitwarden = "bitwarden-json"
  /// Lines `NAME='value'`.
  case env
  /// The lines that `vault set --batch` reads.
  case json

  /// The format as the program `vault-import` writes it; nil for one that this program writes itself.
  var order: ExportOrder.Format? { ExportOrder.Format(rawValue: rawValue) }

  /// True for a file that only a password opens.
  ///
  /// - Parameter isPlain: true if somebody asked for the values in the clear.
  func hasPassword(isPlain: Bool) -> Bool {
    switch self {
    case .kdbx: true
    case .bitwarden: !isPlain
    case .env, .json: false
    }
  }
}

/// The origins that `vault import` reads: another keyring, and files in each format that `vault-import` knows.
enum ImportOrigin: String, ExpressibleByArgument, CaseIterable {
  /// Another keyring on the session bus.
  case secretService = "secret-service"
  case kdbx
  case pass
  case passage
  case bitwarden
  case onePassword = "1pux"
  case cxf
  case aegis
  case andOTP = "andotp"
  case twoFAS = "2fas"
  /// A wallet of KDE, which kwallet-query(1) reads.
  case kwallet
  case otpauthMigration = "otpauth-migration"
  case otpauth
  case netrc
  case pgpass
  case npmrc
  case pypirc
  case gitCredentials = "git-credentials"
  case docker
  case aws
  case ssh
  case hashicorp
  case kubeconfig
  case kubernetes
  case ansible = "ansible-vault"
  case esphome
  case homeAssistant = "home-assistant"
  case zigbee2mqtt
  case homebridge
  case networkManager = "networkmanager"
  case wpaSupplicant = "wpa-supplicant"
  case dotfiles
  case csv
  case env
  case envDocker = "env-docker"
  case envSystemd = "env-systemd"

  /// True if the entries of the format have identifications that are like no others, such as UUIDs. In other formats
  /// the identification is the place of an entry in its file, or is there for some entries alone.
  var hasIdentifications: Bool {
    switch self {
    case .kdbx, .bitwarden, .onePassword, .cxf, .aegis: true
    case .secretService, .pass, .passage, .andOTP, .twoFAS, .kwallet, .otpauthMigration, .otpauth, .netrc, .pgpass,
      .npmrc, .pypirc, .gitCredentials, .docker, .aws, .ssh, .hashicorp, .kubeconfig, .kubernetes, .ansible, .esphome,
      .homeAssistant, .zigbee2mqtt, .homebridge, .networkManager, .wpaSupplicant, .dotfiles, .csv, .env, .envDocker,
      .envSystemd:
      false
    }
  }

  /// True for files that another program reads where they lie, so that they cannot simply be deleted after an import.
  var isInUse: Bool {
    switch self {
    case .netrc, .pgpass, .npmrc, .pypirc, .gitCredentials, .docker, .aws, .ssh, .dotfiles, .env, .envDocker,
      .envSystemd, .kubeconfig, .kubernetes, .ansible, .esphome, .homeAssistant, .zigbee2mqtt, .homebridge,
      .networkManager, .wpaSupplicant:
      true
    case .secretService, .kdbx, .pass, .passage, .bitwarden, .onePassword, .cxf, .aegis, .andOTP, .twoFAS, .kwallet,
      .otpauthMigration, .otpauth, .hashicorp, .csv:
      false
    }
  }
}

/// The options of commands that move many items.
struct TransferOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The keyring's name on the session bus, instead of SECRET_SERVICE_BUS_NAME or org.freedesktop.secrets.",
      valueName: "name"))
  var busName: String?

  @Flag(help: "Only show what would be done.")
  var dryRun = false

  @Flag(help: "Do not ask.")
  var yes = false

  func validate() throws {
    if dryRun && yes { throw ValidationError("--dry-run does nothing that --yes could allow; give one of them") }
    if busName?.isEmpty == true { throw ValidationError("--bus-name is empty; give a name, or leave --bus-name out") }
  }

  /// Begins a session with the caller's own vault, which alone has a keyring.
  func session(_ globals: Globals) throws(Failure) -> Session {
    let session = try Session(globals)
    if session.isSystem { throw Failure(.usage, "the machine's vault has no keyring", "leave --system out") }
    return session
  }
}
