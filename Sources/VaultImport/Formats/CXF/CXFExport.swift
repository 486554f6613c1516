internal import VaultWire

/// The accounts of an exchange, found in one pass over the whole text. That pass checks the text before the first entry
/// is sent; the items stay in the text.
struct CXFExport {
  private static let mostAccounts = 256
  /// The room for each fact of the exchange or of an account.
  private static let room = JSONReader.Room(values: 256, bytes: 64 << 10)

  struct Account {
    var facts: [JSONValue.Member] = []
    var collections = CXFCollections()
    /// The place of the array of items; nil if there is none.
    var items: JSONReader?

    var id: String { fact("id") }
    /// The name that a person knows.
    var name: String { ["username", "email", "fullName"].map { fact($0) }.first { !$0.isEmpty } ?? "account" }

    private func fact(_ name: String) -> String { facts.first { $0.name == name }?.value.string ?? "" }
  }

  private(set) var accounts: [Account] = []
  private var facts: [JSONValue.Member] = []
  private var unknown = UnknownMembers()

  init(_ bytes: [UInt8]) throws(ImportFailure) {
    var reader = JSONReader(bytes)
    var hasAccounts = false
    // The members of an account that is the whole text.
    var only = Account()
    try reader.object { name, reader throws(ImportFailure) in
      switch name {
      case "version", "exporterRpId", "exporterDisplayName", "timestamp":
        facts.append(JSONValue.Member(name: name, value: try reader.value(within: Self.room)))
      case "accounts":
        hasAccounts = true
        try reader.arrayOrNull { reader throws(ImportFailure) in
          var account = Account()
          try reader.object { name, reader throws(ImportFailure) in try take(name, &reader, into: &account) }
          try add(account)
        }
      default: try take(name, &reader, into: &only)
      }
    }
    try reader.finish()
    if only.items != nil { try add(only) }
    guard hasAccounts || only.items != nil else {
      throw ImportFailure(.unknown, "the JSON has no accounts and no items")
    }
  }

  private mutating func add(_ account: Account) throws(ImportFailure) {
    guard accounts.count < Self.mostAccounts else {
      throw ImportFailure(.tooLarge, "the exchange has more than \(Self.mostAccounts) accounts")
    }
    accounts.append(account)
  }

  private mutating func take(
    _ name: String, _ reader: inout JSONReader, into account: inout Account
  ) throws(ImportFailure) {
    switch name {
    case "items": account.items = reader
    case "collections": try account.collections.read(&reader)
    case "id", "username", "userName", "email", "fullName", "icon":
      account.facts.append(JSONValue.Member(name: name, value: try reader.value(within: Self.room)))
    default: try unknown.add(name, reader)
    }
  }

  // MARK: The exchange itself

  /// The form in words.
  ///
  /// - Throws: ``ImportFailure`` for a version whose form is not known.
  func detail() throws(ImportFailure) -> String {
    func fact(_ name: String) -> JSONValue? { facts.first { $0.name == name }?.value }
    var detail = "Credential Exchange Format"
    if let version = fact("version") {
      let (major, minor) = (version["major"]?.integer ?? version.integer, version["minor"]?.integer)
      guard let major, (0...1).contains(major) else {
        throw ImportFailure(.unsupported, "the exchange is of a version that is not known; versions 0 and 1 are")
      }
      detail += minor.map { " \(major).\($0)" } ?? " \(major)"
    }
    let exporter = [fact("exporterDisplayName"), fact("exporterRpId")].compactMap { $0?.string }.first { !$0.isEmpty }
    return exporter.map { "\(detail), written by \($0.cut(256))" } ?? detail
  }

  /// The entry for what is no item.
  func rest() throws(ImportFailure) -> Entry {
    var entry = Entry(of: [], named: "credential exchange")
    for fact in facts where fact.name != "version" { entry.addSetting(fact.name, fact.value) }
    for account in accounts {
      for fact in account.facts { entry.addSetting("\(fact.name) of \(account.name)", fact.value) }
      account.collections.addRest(to: &entry)
    }
    try unknown.add(to: &entry)
    return entry
  }
}
