extension CSVDialect {
  /// The dialects, the more special ones before those that have a part of their columns.
  static let all = [
    bitwarden, bitwardenOrganization, protonPass, nordPass, dashlane, lastPass, keePassXC, keePass, firefox, roboForm,
    onePassword, apple, chrome, dropbox, dashlanePayments, dashlaneIDs, dashlanePersonal, dashlaneNotes,
  ]

  /// libs/tools/export/vault-export in github.com/bitwarden/clients, and
  /// https://bitwarden.com/help/condition-bitwarden-import/.
  private static let bitwarden = CSVDialect(
    name: "Bitwarden", form: .typed,
    needed: [("folder", .folder("/")), ("favorite", .flag)] + bitwardenItem, optional: [("reprompt", .flag)])

  private static let bitwardenOrganization = CSVDialect(
    name: "Bitwarden (organization)", form: .typed,
    needed: [("collections", .folder("/"))] + bitwardenItem, optional: [("reprompt", .flag)])

  private static let bitwardenItem: [(String, CSVMeaning)] = [
    ("type", .type), ("name", .title), ("notes", .note), ("fields", .fieldLines), ("login_uri", .urls),
    ("login_username", .username), ("login_password", .password), ("login_totp", .oneTime),
  ]

  /// packages/pass/lib/export/csv.ts in github.com/ProtonMail/WebClients. Older files lack the optional columns.
  private static let protonPass = CSVDialect(
    name: "Proton Pass", form: .typed,
    needed: [
      ("type", .type), ("name", .title), ("url", .urls), ("username", .username), ("password", .password),
      ("note", .note), ("totp", .oneTime), ("createTime", .created(.seconds)), ("modifyTime", .modified(.seconds)),
    ],
    optional: [("email", .email), ("vault", .folder(nil)), ("autofillUrls", .setting)])

  /// https://support.nordpass.com/hc/en-us/articles/360002377217. Newer files have further columns.
  private static let nordPass = CSVDialect(
    name: "NordPass", form: .typed,
    needed: [
      ("name", .title), ("url", .url), ("username", .username), ("password", .password), ("note", .note),
      ("cardholdername", .member), ("cardnumber", .member), ("cvc", .member), ("expirydate", .member),
      ("folder", .folder("/")),
    ],
    optional: [
      ("type", .type), ("additional_urls", .urls), ("custom_fields", .fieldObjects), ("pin", .member),
      ("zipcode", .member), ("full_name", .member), ("phone_number", .member), ("email", .member),
      ("address1", .member), ("address2", .member), ("city", .member), ("country", .member), ("state", .member),
    ])

  /// https://support.lastpass.com, "Export your vault": the file of the extension. Older files have no `totp`.
  private static let lastPass = CSVDialect(
    name: "LastPass", form: .lastPass,
    needed: [
      ("url", .url), ("username", .username), ("password", .password), ("extra", .note), ("name", .title),
      ("grouping", .folder("\\")), ("fav", .flag),
    ],
    optional: [("totp", .oneTime)])

  /// src/format/CsvExporter.cpp in github.com/keepassxreboot/keepassxc. Older files lack the optional columns.
  private static let keePassXC = CSVDialect(
    name: "KeePassXC",
    needed: [
      ("Group", .folder("/", isRooted: true)), ("Title", .title), ("Username", .username), ("Password", .password),
      ("URL", .url), ("Notes", .note),
    ],
    optional: [
      ("TOTP", .oneTime), ("Icon", .setting), ("Last Modified", .modified(.iso8601)), ("Created", .created(.iso8601)),
    ])

  /// https://keepass.info/help/base/importexport.html#csv: the format of KeePass 1, which KeePass 2 also writes.
  private static let keePass = CSVDialect(
    name: "KeePass", form: .backslashes,
    needed: [
      ("Account", .title), ("Login Name", .username), ("Password", .password), ("Web Site", .url), ("Comments", .note),
    ])

  /// toolkit/components/passwordmgr/LoginExport.sys.mjs in Firefox.
  private static let firefox = CSVDialect(
    name: "Firefox",
    needed: [
      ("url", .url), ("username", .username), ("password", .password), ("httpRealm", .text),
      ("formActionOrigin", .setting), ("guid", .identifier), ("timeCreated", .created(.milliseconds)),
    ],
    optional: [("timeLastUsed", .setting), ("timePasswordChanged", .modified(.milliseconds))])

  /// https://help.roboform.com, "How to export": the fields of a form follow as further values.
  private static let roboForm = CSVDialect(
    name: "RoboForm", form: .open,
    needed: [
      ("Name", .title), ("Url", .url), ("Login", .username), ("Pwd", .password), ("Note", .note),
      ("Folder", .folder("/")),
    ],
    optional: [("MatchUrl", .setting), ("RfFieldsV2", .secret), ("Rf_fields", .secret)])

  /// https://support.1password.com/export/: the file of 1Password 8.
  private static let onePassword = CSVDialect(
    name: "1Password",
    needed: [
      ("Title", .title), ("Url", .url), ("Username", .username), ("Password", .password), ("OTPAuth", .oneTime),
      ("Favorite", .flag), ("Archived", .flag), ("Tags", .tags), ("Notes", .note),
    ])

  /// https://support.apple.com/guide/passwords, "Export passwords". Safari 15 writes "Url", and no notes.
  private static let apple = CSVDialect(
    name: "Apple Passwords",
    needed: [("Title", .title), ("Username", .username), ("Password", .password)],
    optional: [("URL", .url), ("Url", .url), ("Notes", .note), ("OTPAuth", .oneTime)], isClosed: true)

  /// components/password_manager/core/browser/export/password_csv_writer.cc in Chromium. Older files have no notes.
  private static let chrome = CSVDialect(
    name: "Chrome, Edge or Brave",
    needed: [("name", .title), ("url", .url), ("username", .username), ("password", .password)],
    optional: [("note", .note)], isClosed: true)

  private static let dropbox = CSVDialect(
    name: "Dropbox Passwords",
    needed: [
      ("Name", .title), ("URL", .url), ("Username", .username), ("Password", .password), ("Notes", .note),
    ], isClosed: true)
}
