internal import VaultWire

// The folder and the collections of an item.
extension BitwardenItem {
  /// The folder of an item, and after it its collections, as far as the export names them.
  static func places(of item: JSONValue, in folders: BitwardenFolders) -> [BitwardenFolders.Folder] {
    let folder = item["folderId"]?.string.flatMap { folders[$0] }
    let collections = item["collectionIds"]?.elements.compactMap { $0.string.flatMap { folders[$0] } } ?? []
    return (folder.map { [$0] } ?? []) + collections
  }

  /// Adds the places of the item other than the first, which is its folder, and the ids by which an organization's
  /// directory knows its collections.
  mutating func add(_ places: [BitwardenFolders.Folder]) {
    for place in places.dropFirst() { entry.addUnlessEmpty(place.kind.rawValue, .tag, place.name) }
    for place in places { entry.addUnlessEmpty("externalId of the collection", .setting, place.externalID) }
  }

  /// Adds the ids of places that the export does not name.
  mutating func addLostPlaces(_ ids: [JSONValue], _ name: String, _ folders: BitwardenFolders) {
    for id in ids {
      if let text = id.string, folders[text] != nil { continue }
      addSetting(name, id)
    }
  }
}
