internal import VaultClient
internal import VaultModel
internal import VaultWire

/// An item that is not there, and the daemon that says so.
struct MissingItem: Equatable {
  let name: String
  let location: SocketLocation

  /// The milliseconds after which whatever has been found is all.
  private static let patience = 400
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
  func nearest() -> [String] {
    let end = Moment.now() + MissingItem.patience
    var search = NearestSearch(name, beginnings: true)
    var inFolders: [String] = []
    try? vault.find(nil) { page in
      for item in page {
        search.look(at: item.name)
        if inFolders.count < 3, item.name.utf8.count > name.utf8.count, item.name.hasSuffix("/" + name) {
          inFolders.append(item.name)
        }
      }
      return Moment.now() < end
    }
    let others = search.names.filter { !inFolders.contains($0) }
    return Array((inFolders.sorted() + others).prefix(3))
  }
}

extension Failure {
  /// The same, and for a person also what an item that is not there may have been meant by: what is in the folder of
  /// that name, or the nearest names.
  var suggesting: Failure {
    guard exit == .missing, Keyboard.isAttended, let missing else { return self }
    let children = missing.children()
    if children.names.isEmpty {
      return Suggestion.text(missing.nearest()).map { Failure(exit, event, $0) } ?? self
    }
    let folder = Printable.quoted(missing.name)
    let all = children.isAll ? "it has" : "`vault list` shows all of it; it has"
    var failure = Failure(exit, "\(folder) is a folder and no item", "\(all):")
    failure.names = children.names
    return failure
  }
}
