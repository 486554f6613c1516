internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The collections of the vault's keyring with their items, in the order in which programs find them.
struct KeyringSource {
  struct Collection {
    let id: CollectionID
    let label: String
    let isDefault: Bool
    var items: [Wire.Item] = []
  }

  /// The folder with the properties of the collections.
  private static let records = "\(CollectionID.root)/.collections/"

  private(set) var collections: [Collection] = []

  var count: Int { collections.reduce(0) { $0 + $1.items.count } }

  init(_ session: Session) throws(Failure) {
    let found = try session.unlocking(for: "vault export") { vault in
      try vault.find("name~\(CollectionID.root)/**")
    }
    var items: [CollectionID: [Wire.Item]] = [:]
    for item in found {
      guard item.keyring != nil, let name = try? ItemName(item.name), let id = CollectionID(of: name) else { continue }
      items[id, default: []].append(item)
    }
    let records = found.filter { $0.name.hasPrefix(Self.records) }.sorted(by: Self.isBefore)
    var all: [Collection] = records.compactMap { record in
      guard let id = CollectionID(element: String(record.name.dropFirst(Self.records.count))) else { return nil }
      return Collection(
        id: id, label: record.keyring?.label ?? "", isDefault: record.attributes["default"] == "true")
    }
    if !all.contains(where: { $0.id == .login }) {
      all.insert(Collection(id: .login, label: "Login", isDefault: !all.contains { $0.isDefault }), at: 0)
    }
    for index in all.indices { all[index].items = (items[all[index].id] ?? []).sorted(by: Self.isBefore) }
    collections = all.filter { !$0.items.isEmpty }
  }

  private static func isBefore(_ one: Wire.Item, _ other: Wire.Item) -> Bool {
    let orders = [one, other].map { $0.keyring.flatMap { UInt64($0.order) } ?? 0 }
    return orders[0] != orders[1] ? orders[0] < orders[1] : one.name < other.name
  }
}
