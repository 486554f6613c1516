/// The files of the archive that Dashlane exports (https://support.dashlane.com, "Export your data from Dashlane").
extension CSVDialect {
  /// credentials.csv. The last column is `otpUrl` in newer files.
  static let dashlane = CSVDialect(
    name: "Dashlane",
    needed: [
      ("username", .username), ("username2", .username), ("username3", .username), ("title", .title),
      ("password", .password), ("note", .note), ("url", .url), ("category", .folder(nil)),
    ],
    optional: [("otpSecret", .oneTime), ("otpUrl", .oneTime), ("otp", .oneTime)])

  /// securenotes.csv.
  static let dashlaneNotes = CSVDialect(
    name: "Dashlane (notes)", needed: [("title", .title), ("note", .note)], optional: [("category", .folder(nil))],
    isClosed: true)

  /// payments.csv.
  static let dashlanePayments = CSVDialect(
    name: "Dashlane (payments)", form: .documents,
    needed: [
      ("type", .member), ("account_name", .member), ("account_holder", .member), ("cc_number", .member),
      ("code", .member), ("name", .title),
    ],
    optional: [
      ("expiration_month", .member), ("expiration_year", .member), ("routing_number", .member),
      ("account_number", .member), ("country", .member), ("issuing_bank", .member), ("note", .note),
    ])

  /// ids.csv.
  static let dashlaneIDs = CSVDialect(
    name: "Dashlane (IDs)", form: .documents,
    needed: [
      ("type", .member), ("number", .member), ("name", .title), ("issue_date", .member),
      ("expiration_date", .member), ("place_of_issue", .member),
    ],
    optional: [("state", .member)])

  /// personalInfo.csv. All its columns are parts of one description.
  static let dashlanePersonal = CSVDialect(
    name: "Dashlane (personal information)", form: .documents,
    needed: [("item_name", .title), ("date_of_birth", .member), ("first_name", .member), ("last_name", .member)],
    optional: [
      "type", "address", "address_apartment", "address_building", "address_door_code", "address_floor",
      "address_recipient", "city", "country", "email", "email_type", "job_title", "login", "middle_name",
      "phone_number", "place_of_birth", "state", "title", "url", "zip",
    ].map { ($0, .member) })
}
