internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The names that have lost their item or have got an item, as far as was heard. What a program has done with the item
/// that had such a name before says nothing about the item that has the name now.
///
/// A ``WatchQueue`` does not tell this, because it keeps only the last change of each name.
struct ChangedNames {
  private(set) var names: Set<ItemName> = []
  /// True if every name may have another item now.
  private(set) var areAll = false

  var isEmpty: Bool { !areAll && names.isEmpty }

  func contains(_ name: ItemName) -> Bool { areAll || names.contains(name) }

  /// Adds the names of a change, unless it has left the item under its name.
  mutating func add(_ event: Vault.Event) {
    guard event.missed != true else { return addAll() }
    guard event.event == "item", event.change != "updated" else { return }
    if event.isOfAnything { addAll() }
    for text in [event.name, event.to] { if let name = Receipts.name(text) { add(name) } }
  }

  mutating func add(_ other: ChangedNames) {
    if other.areAll { addAll() }
    for name in other.names { add(name) }
  }

  private mutating func add(_ name: ItemName) {
    guard !areAll else { return }
    names.insert(name)
    if names.count > WatchQueue.most { addAll() }
  }

  mutating func addAll() { (names, areAll) = ([], true) }
}

extension Dictionary where Key == ItemName {
  /// The entries for all other names.
  func without(_ names: ChangedNames) -> Self { names.isEmpty ? self : filter { !names.contains($0.key) } }
}
