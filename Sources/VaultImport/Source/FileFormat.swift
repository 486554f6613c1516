/// The formats of files that the program reads. The raw value is the name that `--from` takes.
///
/// The order is the order in which unnamed files are tried: a format that is easily told from others comes before one
/// that takes nearly anything.
public enum FileFormat: String, CaseIterable, Sendable {
  case kdbx
  case pass
  case passage
  case bitwarden
  case onePassword = "1pux"
  case cxf
  case aegis
  case andOTP = "andotp"
  case twoFAS = "2fas"
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

  /// The reader of the format.
  var reader: any SourceReader.Type {
    switch self {
    case .kdbx: KDBXReader.self
    case .pass: PassReader.self
    case .passage: PassageReader.self
    case .bitwarden: BitwardenReader.self
    case .onePassword: OnePasswordReader.self
    case .cxf: CXFReader.self
    case .aegis: AegisReader.self
    case .andOTP: AndOTPReader.self
    case .twoFAS: TwoFASReader.self
    case .kwallet: KWalletReader.self
    case .otpauthMigration: MigrationReader.self
    case .otpauth: OneTimeListReader.self
    case .netrc: NetrcReader.self
    case .pgpass: PGPassReader.self
    case .npmrc: NpmrcReader.self
    case .pypirc: PypircReader.self
    case .gitCredentials: GitCredentialsReader.self
    case .docker: DockerReader.self
    case .aws: AWSReader.self
    case .ssh: SSHFolderReader.self
    case .hashicorp: HashiCorpReader.self
    case .kubeconfig: KubeconfigReader.self
    case .kubernetes: KubernetesReader.self
    case .ansible: AnsibleReader.self
    case .esphome: ESPHomeReader.self
    case .homeAssistant: HomeAssistantReader.self
    case .zigbee2mqtt: Zigbee2MQTTReader.self
    case .homebridge: HomebridgeReader.self
    case .networkManager: NetworkManagerReader.self
    case .wpaSupplicant: WPASupplicantReader.self
    case .dotfiles: DotfilesReader.self
    case .csv: CSVReader.self
    case .env: EnvironmentReader.self
    case .envDocker: DockerEnvironmentReader.self
    case .envSystemd: SystemdEnvironmentReader.self
    }
  }

  /// The first format that recognizes the files. A folder with known files of several formats, such as a home folder,
  /// is not left to the reader of one of them, which would take no others.
  static func guess(_ source: Source) -> FileFormat? {
    DotfilesReader.areOfSeveral(source) ? .dotfiles : allCases.first { $0.reader.recognizes(source) }
  }
}
