internal import VaultBytes
internal import VaultWire

/// One account of an export of Google Authenticator.
struct MigrationAccount {
  private var secret: [UInt8] = []
  private var name = ""
  private var issuer = ""
  private var algorithm: UInt64 = 0
  private var digits: UInt64 = 0
  private var type: UInt64 = 0
  private var counter: UInt64 = 0
  private var id = ""
  /// Fields that no description knows, with their numbers.
  private var others: [(number: UInt64, value: ProtoReader.Value)] = []

  init(_ bytes: ArraySlice<UInt8>) throws(ImportFailure) {
    var reader = ProtoReader(bytes)
    while let (number, value) = try reader.next() {
      switch (number, value) {
      case (1, .bytes(let bytes)): secret = Array(bytes)
      case (2, .bytes(let bytes)): name = try Self.text(bytes)
      case (3, .bytes(let bytes)): issuer = try Self.text(bytes)
      case (4, .number(let number)): algorithm = number
      case (5, .number(let number)): digits = number
      case (6, .number(let number)): type = number
      case (7, .number(let number)): counter = number
      case (8, .bytes(let bytes)): id = try Self.text(bytes)
      default: others.append((number, value))
      }
    }
  }

  /// The entry with the URI of the account.
  var entry: Entry {
    var entry = Entry(.oneTime, id: id, title: title)
    if let refusal {
      entry.refuse("secret", .oneTime, size: secret.count, refusal)
    } else {
      entry.putOneTime("otpauth", uri)
    }
    for (number, value) in others.prefix(ImportedEntry.most.fields / 2) {
      switch value {
      case .number(let value): entry.put("field \(number)", .setting, String(value))
      case .bytes(let bytes): entry.put("field \(number)", .setting, Array(bytes).hex)
      }
    }
    return entry
  }

  /// The name without the issuer, which many names repeat, as the label of a URI does.
  private var account: String {
    let (name, prefix) = (name.utf8, "\(issuer):".utf8)
    if issuer.isEmpty || !name.starts(with: prefix) { return self.name }
    return String(decoding: name.dropFirst(prefix.count), as: UTF8.self)
  }

  private var title: String {
    issuer.isEmpty || account.isEmpty ? issuer + account : "\(issuer) (\(account))"
  }

  /// The reason why the account has no URI; nil if it has one.
  private var refusal: String? {
    if secret.isEmpty { return "the export holds no secret for it" }
    if type > 2 { return "its codes are of the unknown type \(type)" }
    if digits > 3 { return "its codes have an unknown number of digits (\(digits))" }
    if algorithm > 4 { return "its codes are made by the unknown algorithm \(algorithm)" }
    return nil
  }

  private var uri: String {
    var parameters = OneTimeParameters()
    parameters.issuer = issuer
    if type == 1 { parameters.counter = counter }
    switch algorithm {
    case 2: parameters.algorithm = "SHA256"
    case 3: parameters.algorithm = "SHA512"
    case 4: parameters.algorithm = "MD5"
    default: break
    }
    switch digits {
    case 2: parameters.digits = 8
    case 3: parameters.digits = 7
    default: break
    }
    return parameters.uri(OneTimeText.base32(secret), account: account)
  }

  private static func text(_ bytes: ArraySlice<UInt8>) throws(ImportFailure) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw ImportFailure(.damaged, "a name in it is not UTF-8")
    }
    return text
  }
}
