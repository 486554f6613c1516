internal import VaultClient
internal import VaultModel
internal import VaultWire

/// An item that is not there, and the daemon that says so.
struct MissingItem: Equatable {
  let name: String
  let location: SocketLocation

  /// The milliseconds after which whatever has been found is all.
  private static let patience = 1000
  /// The most names of a folder that are shown.
  private static let most = 20

  private var vault: Vault {
    var vault = Vault(at: location)
    vault.patience = .zero
    vault.timeout = .milliseconds(MissingItem.patience)
    return vault
  }

  /// What stands in the folder of that name, if there is one; and whether that is all.
  func children() -> (names: [String], isAll: Bool) {
    var names: [String] = []
    try? vault.children(name + "/", limit: MissingItem.most + 1) { page in
      names += page
      return names.count <= MissingItem.most
    }
    let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    return (Array(sorted.prefix(MissingItem.most)), names.count <= MissingItem.most)
  }

  /// The names it may have been meant by: those that are near, that begin so, or that end so in a folder. They are names
  /// that the daemon lists; nobody is asked for an unlock, and no deadline moves.
  ///
  /// - Parameter isStrict: whether only those count that differ by a few slips.
  func nearest(isStrict: Bool = false) -> [String] {
    let end = Moment.now() + MissingItem.patience
    var search = NearestSearch(name, beginnings: !isStrict)
    var inFolders: [String] = []
    try? vault.find(nil) { page in
      // It may have been made just now.
      for item in page where !item.name.utf8.elementsEqual(name.utf8) {
        search.look(at: item.name)
        if !isStrict, inFolders.count < 3, item.name.utf8.count > name.utf8.count, item.name.hasSuffix("/" + name) {
          inFolders.append(item.name)
        }
      }
      return Moment.now() < end
    }
    let others = search.names.filter { !inFolders.contains($0) }
    return Array((inFolders.sorted() + others).prefix(3))
  }
}

extension MissingItem {
  /// True where an item of that name lies in the trash, and the caller may know that.
  var isInTrash: Bool {
    let found = try? vault.find("name=\(Predicates.quote(name))", inTrash: true)
    return found?.contains { $0.name.utf8.elementsEqual(name.utf8) } ?? false
  }

  /// The item and its field, where the name is spelled as `vault run` takes a field, and there is such an item.
  var reference: ItemReference? {
    guard let reference = try? ItemReference(parsing: name), reference.field != nil else { return nil }
    let found = try? vault.find("name=\(Predicates.quote(reference.name.text))")
    return found?.isEmpty == false ? reference : nil
  }

  /// True for the name of another item that no eye tells from this one: strings are the same in whatever way their
  /// letters are composed (Unicode Standard Annex 15), and items are not.
  func looksLike(_ other: String) -> Bool { name == other && !name.utf8.elementsEqual(other.utf8) }
}

extension Failure {
  /// The same, and for a person also what an item that is not there may have been meant by: what is in the folder of
  /// that name, or the nearest names.
  var suggesting: Failure {
    guard exit == .missing, Keyboard.isAttended, let missing else { return self }
    let children = missing.children()
    if children.names.isEmpty {
      if missing.isInTrash {
        return Failure(exit, "\(event), but one in the trash", "\(Hint.vault("trash restore")) brings it back")
      }
      if let reference = missing.reference, let field = reference.field {
        let command = "get \(Printable.line(reference.name.text)) --field \(Printable.line(field))"
        return Failure(exit, event, "a field is printed by \(Hint.vault(command))")
      }
      let nearest = missing.nearest()
      if nearest.contains(where: missing.looksLike) {
        return Failure(
          exit, "\(event), but one that looks the same, its accents spelled in another way (NFC, NFD)",
          "copy its name from \(Hint.vault("list"))")
      }
      return Suggestion.text(nearest).map { Failure(exit, event, $0) } ?? self
    }
    let folder = Printable.quoted(missing.name)
    let all = children.isAll ? "it has" : "\(Hint.vault("list")) shows all of it; it has"
    var failure = Failure(exit, "\(folder) is a folder and no item", "\(all):")
    failure.names = children.names
    return failure
  }
}
