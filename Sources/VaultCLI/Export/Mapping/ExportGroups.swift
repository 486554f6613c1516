internal import VaultModel
internal import VaultWire

/// The items that become one entry together: a main item, and the items beside it in the folder of its name.
///
/// An import divides an entry in this way, so an export puts together what an import has divided, and the secret of
/// one-time codes or a note that lies beside a password under the very name that an import would give it.
///
/// A caller who may make items in a folder could place one beside an item of the exporter's, or be the main item of the
/// exporter's items, and give that entry an address of its own: a browser would fill the password in there. So an item
/// that is not the exporter's own is an entry of its own.
struct ExportGroup {
  /// The main item; nil if there are only items beside it.
  var main: ExportedItem?
  /// The item whose attributes are those of the entry.
  var leader: ExportedItem? { main ?? beside.max { $0.weight < $1.weight } }
  var beside: [ExportedItem] = []

  /// Groups items, which are in the order of their names. The entries of the exporter's own items come first, so that
  /// no other entry takes the name of one of them.
  static func groups(_ items: [ExportedItem], _ form: ExportForm) -> [ExportGroup] {
    groups(own: items.filter { $0.isOwn }, form) + items.filter { !$0.isOwn }.map { ExportGroup(main: $0) }
  }

  private static func groups(own items: [ExportedItem], _ form: ExportForm) -> [ExportGroup] {
    let names = Dictionary(items.map { ($0.name, $0) }) { first, _ in first }
    var groups: [ExportGroup] = []
    var places: [Key: Int] = [:]
    for item in items where !item.isBeside(names, form) {
      places[Key(item.name, item)] = groups.count
      groups.append(ExportGroup(main: item))
    }
    for item in items where item.isBeside(names, form) {
      guard let folder = item.folder else { continue }
      let main = names[folder].map { Key(folder, $0) } ?? Key(folder, item)
      if let place = places[main] {
        groups[place].beside.append(item)
      } else {
        places[main] = groups.count
        groups.append(ExportGroup(beside: [item]))
      }
    }
    return groups.flatMap { $0.divided }
  }

  /// An entry of a source.
  private struct Key: Hashable {
    let name: ItemName
    let source: [String?]

    init(_ name: ItemName, _ item: ExportedItem) {
      (self.name, source) = (name, [item.mark(ImportKey.source), item.mark(ImportKey.id)])
    }
  }

  /// The group without the items that would lose something in it, and a group for each of these. An entry without a
  /// main item keeps the attributes of one of its items, but no expiry.
  private var divided: [ExportGroup] {
    guard main == nil, let leader else { return [self] }
    func isKept(_ item: ExportedItem) -> Bool { item === leader && item.facts.expires == nil || item.isPlain }
    let rest = ExportGroup(beside: beside.filter(isKept))
    return (rest.beside.isEmpty ? [] : [rest]) + beside.filter { !isKept($0) }.map { ExportGroup(main: $0) }
  }
}

extension ExportedItem {
  /// The name of the item's folder; nil if the item is in none.
  var folder: ItemName? {
    name.folders.last.flatMap { try? ItemName($0) }
  }

  /// The number of attributes that the item brings to an entry without a main item; lowest for an item that the entry
  /// cannot have.
  fileprivate var weight: Int { facts.expires == nil ? ownAttributes.count : -1 }

  /// True if the item has nothing but its value.
  fileprivate var isPlain: Bool {
    facts.expires == nil && ownAttributes.allSatisfy { key, _ in key == "media-type" && kind == .blob }
  }

  /// True if the item belongs to the entry of which the item of its folder's name is the main one, or would be.
  fileprivate func isBeside(_ names: [ItemName: ExportedItem], _ form: ExportForm) -> Bool {
    guard let folder, facts.keyring == nil else { return false }
    let main = names[folder]
    // An item beside another one has none beside itself.
    if let main, main.mark(ImportKey.field) != nil { return false }
    if mark(ImportKey.field) != nil {
      guard let main else { return true }
      return isPlain && [ImportKey.source, ImportKey.id].allSatisfy { mark($0) == main.mark($0) }
    }
    guard let main, main.kind == .password, isPlain else { return false }
    switch kind {
    case .totp: return leaf == form.oneTime
    case .note: return leaf == form.note
    case .password, .apiKey, .deviceToken, .wifi, .pairingCode, .tlsKey, .certificate, .sshKey, .blob: return false
    }
  }
}
