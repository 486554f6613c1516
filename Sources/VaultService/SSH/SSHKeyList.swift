internal import VaultModel
internal import VaultSigning
internal import VaultStore

/// The items that are SSH keys, as far as they have been read, in the order in which they were first stored.
///
/// The list is read in steps, between which items may change. An item that has changed is looked up again by its name.
/// So a current list shows the keys of one moment, and few changes cost little, however many keys there are.
struct SSHKeyList {
  /// The most names that are looked up again; if more items change at once, the list is read anew.
  static let mostChanged = 1024
  /// The most items of a page.
  private static let page = 256

  private(set) var keys: [SSHKeys.Key] = []
  /// The row up to which the items have been read.
  private var last: Int64 = 0
  private var isAtEnd = false
  /// The names of the items that have changed since they were read.
  private var changed: Set<ItemName> = []

  /// True if the list contains all keys as they are now.
  var isCurrent: Bool { isAtEnd && changed.isEmpty }

  /// True if the list contains no name.
  var isEmpty: Bool { keys.isEmpty && changed.isEmpty }

  /// Notes that the item of this name has changed.
  mutating func change(_ name: ItemName) {
    guard last > 0 || isAtEnd else { return }
    changed.insert(name)
    if changed.count > Self.mostChanged { self = SSHKeyList() }
  }

  /// Reads on until the list is current, or until the time `end`, in `CLOCK_MONOTONIC` nanoseconds, but at least one
  /// item. If no names can be read, the list is empty.
  mutating func read(_ items: Items, _ keychain: Keychain, until end: Int64) throws(VaultError) {
    guard !isCurrent, let query = try? Query(parsing: "kind=\(ItemKind.sshKey.rawValue)") else { return }
    let clock = items.vault.clock
    do throws(VaultError) {
      if !changed.isEmpty {
        try lookUpChanged(query, items, keychain, until: end)
        if clock.monotonic() >= end { return }
      }
      while !isAtEnd {
        try readPage(query, items, keychain, until: end)
        if clock.monotonic() >= end { return }
      }
    } catch .locked {
      self = SSHKeyList()
      isAtEnd = true
    }
  }

  private mutating func lookUpChanged(
    _ query: Query, _ items: Items, _ keychain: Keychain, until end: Int64
  ) throws(VaultError) {
    keys.removeAll { changed.contains($0.name) }
    while let name = changed.first {
      let (found, _) = try Self.find(query, in: .name(name), limit: 1, after: 0, items, keychain, until: end)
      changed.remove(name)
      // An item behind the place of the list is yet to be read.
      for (row, item) in found where isAtEnd || row <= last {
        guard let key = SSHKeys.Key(item, row, items) else { continue }
        keys.insert(key, at: keys.firstIndex { $0.row > row } ?? keys.endIndex)
      }
      if items.vault.clock.monotonic() >= end { return }
    }
  }

  private mutating func readPage(
    _ query: Query, _ items: Items, _ keychain: Keychain, until end: Int64
  ) throws(VaultError) {
    let (found, next) = try Self.find(
      query, in: .everything, limit: Self.page, after: last, items, keychain, until: end)
    for (row, item) in found {
      if let key = SSHKeys.Key(item, row, items) { keys.append(key) }
      last = row
      // Reading a public half from a private key takes long.
      if item.publicKey == nil, items.vault.clock.monotonic() >= end { return }
    }
    if let next { last = next } else { isAtEnd = true }
  }

  /// Returns the first items after a row that match a query, with their rows.
  private static func find(
    _ query: Query, in area: SearchArea, limit: Int, after: Int64, _ items: Items, _ keychain: Keychain,
    until end: Int64
  ) throws(VaultError) -> (items: [(row: Int64, item: ItemInfo)], next: Int64?) {
    var row: Int64 = 0
    var rows: [Int64] = []
    let (found, next) = try keychain.find(
      query, in: area, limit: limit, after: after, now: items.vault.clock.wall()
    ) { _ in
      rows.append(row)
      return .allow
    } isPassedOver: {
      row = $0
      return false
    } isTimeUp: {
      items.vault.clock.monotonic() >= end
    }
    return (zip(rows, found).map { (row: $0, item: $1) }, next)
  }
}

extension SSHKeys.Key {
  /// - Parameter row: the number of the item's row.
  fileprivate init?(_ item: ItemInfo, _ row: Int64, _ items: Items) {
    // An earlier version stored keys without their public half. In that case the public half is read from the key.
    guard let blob = item.publicKey ?? (try? items.publicKey(of: item).sshBlob) else { return nil }
    self.init(name: item.name, blob: blob, row: row, accessible: item.policy.accessible, expires: item.expires)
  }
}
