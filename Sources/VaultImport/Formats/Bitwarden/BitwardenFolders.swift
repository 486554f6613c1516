internal import VaultWire

/// The folders of a person and the collections of an organization, by their ids.
struct BitwardenFolders {
  enum Kind: String, Sendable { case folder, collection }

  struct Folder: Sendable {
    let kind: Kind
    let name: String
    /// The id that a directory of the organization gave to a collection; empty if there is none.
    let externalID: String

    /// The names from the outermost folder; Bitwarden nests folders by slashes in their names
    /// (https://bitwarden.com/help/folders).
    var path: [String] { name.split(separator: "/").map(String.init) }
  }

  /// The most folders, and the most bytes of them all.
  private static let most = (count: 100_000, bytes: 64 << 20)

  private var folders: [String: Folder] = [:]
  private var byteCount = 0

  subscript(id: String) -> Folder? { folders[id] }

  /// Reads an array of folders; null is an empty one.
  mutating func read(_ reader: inout JSONReader, as kind: Kind) throws(ImportFailure) {
    var place = reader
    if case .null = try reader.next() { return }
    try place.array { reader throws(ImportFailure) in
      let value = try reader.value()
      guard let id = value["id"]?.string else { return }
      let folder = Folder(
        kind: kind, name: value["name"]?.string ?? "", externalID: value["externalId"]?.string ?? "")
      byteCount += id.utf8.count + folder.name.utf8.count + folder.externalID.utf8.count
      guard folders.count < Self.most.count, byteCount <= Self.most.bytes else {
        throw ImportFailure(.tooLarge, "the export has too many folders, or too long names of folders")
      }
      folders[id] = folder
    }
    reader = place
  }
}
