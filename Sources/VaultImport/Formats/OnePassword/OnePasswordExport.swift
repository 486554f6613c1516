internal import VaultWire

/// The accounts and vaults of an export (`export.data`, JSON), found in one pass over the whole text. That pass checks
/// the text before the first entry is sent; the items stay in the text.
struct OnePasswordExport {
  /// The most accounts, and the most vaults of all of them.
  private static let most = (accounts: 256, vaults: 4096)
  /// The room for what an account or a vault says of itself.
  private static let room = JSONReader.Room(values: 256, bytes: 64 << 10)

  struct Vault {
    /// The index of the account.
    let account: Int
    var attributes = JSONValue.null
    /// The place of the array of items; nil if there is none.
    var items: JSONReader?
  }

  /// The attributes of each account.
  private(set) var accounts: [JSONValue] = []
  private(set) var vaults: [Vault] = []
  private var unknown = UnknownMembers()

  init(_ bytes: [UInt8]) throws(ImportFailure) {
    var reader = JSONReader(bytes)
    var hasAccounts = false
    try reader.object { name, reader throws(ImportFailure) in
      guard name == "accounts" else { return try unknown.add(name, reader) }
      hasAccounts = true
      try reader.arrayOrNull { reader throws(ImportFailure) in try takeAccount(&reader) }
    }
    try reader.finish()
    guard hasAccounts else { throw ImportFailure(.damaged, "export.data has no 'accounts'") }
  }

  private mutating func takeAccount(_ reader: inout JSONReader) throws(ImportFailure) {
    let number = accounts.count
    guard number < Self.most.accounts else {
      throw ImportFailure(.tooLarge, "the export has more than \(Self.most.accounts) accounts")
    }
    accounts.append(.null)
    try reader.object { name, reader throws(ImportFailure) in
      switch name {
      case "attrs": accounts[number] = try reader.value(within: Self.room)
      case "vaults":
        try reader.arrayOrNull { reader throws(ImportFailure) in try takeVault(&reader, of: number) }
      default: try unknown.add(name, reader)
      }
    }
  }

  private mutating func takeVault(_ reader: inout JSONReader, of account: Int) throws(ImportFailure) {
    guard vaults.count < Self.most.vaults else {
      throw ImportFailure(.tooLarge, "the export has more than \(Self.most.vaults) vaults")
    }
    var vault = Vault(account: account)
    try reader.object { name, reader throws(ImportFailure) in
      switch name {
      case "attrs": vault.attributes = try reader.value(within: Self.room)
      case "items": vault.items = reader
      default: try unknown.add(name, reader)
      }
    }
    vaults.append(vault)
  }

  /// The folder of a vault's items: the name of the vault, within that of the account if there are several.
  func folder(of vault: Vault) -> [String] {
    let owner = Self.name(accounts[vault.account], ["accountName", "name", "email"], else: "account")
    let name = Self.name(vault.attributes, ["name"], else: "vault")
    return accounts.count > 1 ? [owner, name] : [name]
  }

  private static func name(_ attributes: JSONValue, _ names: [StaticString], else usual: String) -> String {
    names.lazy.compactMap { attributes[$0]?.string }.first { !$0.isEmpty } ?? usual
  }

  /// Adds what the accounts and the vaults say of themselves, and unknown members.
  func addRest(to entry: inout Entry, _ files: OnePasswordFiles) throws(ImportFailure) {
    for account in accounts {
      let owner = Self.name(account, ["accountName", "name", "email"], else: "account")
      try add(account, of: owner, to: &entry, files)
    }
    for vault in vaults {
      let others = vault.attributes.members.filter { $0.name != "name" }
      try add(.object(others), of: folder(of: vault).joined(separator: "/"), to: &entry, files)
    }
    try unknown.add(to: &entry)
  }

  private func add(
    _ attributes: JSONValue, of owner: String, to entry: inout Entry, _ files: OnePasswordFiles
  ) throws(ImportFailure) {
    for member in attributes.members {
      if member.name == "avatar", let name = member.value.string, !name.isEmpty {
        try files.add(picture: name, of: owner, to: &entry)
      } else {
        entry.addSetting("\(member.name) of \(owner)", member.value)
      }
    }
  }
}
