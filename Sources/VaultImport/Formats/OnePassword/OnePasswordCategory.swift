internal import VaultWire

/// The category of an item (`categoryUuid`), as libs/importer/src/importers/onepassword/types in bitwarden/clients
/// lists them. An item of another category is a document.
enum OnePasswordCategory: String {
  case login = "001"
  case card = "002"
  case note = "003"
  case identity = "004"
  case password = "005"
  case document = "006"
  case license = "100"
  case bankAccount = "101"
  case database = "102"
  case driversLicense = "103"
  case outdoorLicense = "104"
  case membership = "105"
  case passport = "106"
  case rewards = "107"
  case socialSecurity = "108"
  case router = "109"
  case server = "110"
  case email = "111"
  case credential = "112"
  case medicalRecord = "113"
  case sshKey = "114"

  /// The name of the field with all sections of an item that is a document; nil for an item that consists of fields.
  var document: String? {
    switch self {
    case .login, .note, .password, .document, .license, .database, .router, .server, .email, .credential, .sshKey: nil
    case .card: "card"
    case .identity: "identity"
    case .bankAccount: "bank account"
    case .driversLicense: "driver license"
    case .outdoorLicense: "outdoor license"
    case .membership: "membership"
    case .passport: "passport"
    case .rewards: "reward program"
    case .socialSecurity: "social security number"
    case .medicalRecord: "medical record"
    }
  }

  /// The ids of the fields of which the first that is not empty is the password of the item.
  var passwords: [String] {
    switch self {
    case .database, .server: ["password"]
    case .license: ["reg_code"]
    case .router: ["wireless_password", "password"]
    case .email: ["pop_password"]
    case .credential: ["credential"]
    case .login, .card, .note, .identity, .password, .document, .bankAccount, .driversLicense, .outdoorLicense,
      .membership, .passport, .rewards, .socialSecurity, .medicalRecord, .sshKey:
      []
    }
  }

  /// The ids of fields that name a user.
  var users: Set<String> {
    switch self {
    case .database, .server, .credential: ["username"]
    case .email: ["pop_username"]
    case .login, .card, .note, .identity, .password, .document, .license, .bankAccount, .driversLicense,
      .outdoorLicense, .membership, .passport, .rewards, .socialSecurity, .router, .medicalRecord, .sshKey:
      []
    }
  }
}
