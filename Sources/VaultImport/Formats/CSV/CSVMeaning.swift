internal import VaultWire

/// The meaning of a column.
enum CSVMeaning: Hashable {
  case title, identifier
  /// The names of folders, separated by the character; `isRooted` if the first one is that of the whole database.
  case folder(Unicode.Scalar?, isRooted: Bool = false)
  /// The user. The first value of a user names the user, otherwise the first email address.
  case username, email
  case password, url
  /// Several URLs, separated by commas or in an array of JSON.
  case urls
  case oneTime, note, text, secret, setting
  /// A setting that is usual, and no field, if it is false.
  case flag
  /// Labels, separated by commas or semicolons.
  case tags
  case created(CSVTime)
  case modified(CSVTime)
  /// The kind of the entry.
  case type
  /// Custom fields as lines `name: value`, which Bitwarden writes, or as JSON, which NordPass writes.
  case fieldLines, fieldObjects
  /// A member of a card or of an identity.
  case member
}

/// The form of times in a column.
enum CSVTime: Hashable {
  case seconds, milliseconds, iso8601

  /// The time in Unix seconds; nil if the text is no time.
  func unix(_ text: String) -> Int64? {
    switch self {
    case .seconds: SourceTime.unix(text)
    case .milliseconds: SourceTime.unix(text, perSecond: 1000)
    case .iso8601: SourceTime.iso8601(text)
    }
  }
}

extension CSVMeaning {
  /// The meaning of a column with a name that no dialect explains.
  init(of name: String) {
    let words = name.lowercased().unicodeScalars.filter { $0.properties.isAlphabetic || ("0"..."9").contains($0) }
    let known = Self.names[String(String.UnicodeScalarView(words))]
    self = known ?? (FieldName.role(name) == .secret ? .secret : .text)
  }

  /// The usual names in small letters, without anything else.
  private static let names: [String: CSVMeaning] = {
    let groups: [(CSVMeaning, String)] = [
      (.title, "title name itemname entryname label displayname account secretname servicename nickname"),
      (.folder("/"), "folder folders folderpath group grouping groupname"),
      (.identifier, "uuid guid id"),
      (.username, "username user login loginname loginusername userid benutzername"),
      (.email, "email emailaddress mail"),
      (.password, "password pass pwd loginpassword kennwort passwort"),
      (.url, "url uri website websiteaddress site loginurl loginuri hostname link address secreturl"),
      (.urls, "urls uris websites loginurls loginuris"),
      (.oneTime, "totp otp otpauth otpsecret otpurl totpsecret logintotp"),
      (.oneTime, "twofasecret twofactorsecret 2fa onetimepassword"),
      (.note, "note notes comment comments extra description additionalinfo additionalinformation"),
      (.tags, "tag tags labels"),
      (.flag, "favorite favourite fav reprompt archived"),
      (.setting, "icon color colour"),
      (.created(.iso8601), "created createdat creationdate creationtime"),
      (.modified(.iso8601), "modified modifiedat lastmodified updatedat updated modificationtime"),
    ]
    var names: [String: CSVMeaning] = [:]
    for (meaning, list) in groups {
      for name in list.split(separator: " ") { names[String(name)] = meaning }
    }
    return names
  }()
}
