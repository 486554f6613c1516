internal import VaultClient
internal import VaultModel
internal import VaultWire

/// An item that is not there, and the daemon that says so.
struct MissingItem: Equatable {
  let name: String
  let location: SocketLocation

  /// The milliseconds after which whatever has been found is all.
  private static let patience = 400

  /// The names it may have been meant by: those that are near, that begin so, or that end so in a folder. They are names
  /// that the daemon lists; nobody is asked for an unlock, and no deadline moves.
  func nearest() -> [String] {
    var vault = Vault(at: location)
    vault.patience = .zero
    vault.timeout = .milliseconds(MissingItem.patience)
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
  /// The same, and for a person also the names that an item that is not there may be meant by.
  var suggesting: Failure {
    guard exit == .missing, Keyboard.isAttended, let names = missing?.nearest(),
      let advice = Suggestion.text(names)
    else { return self }
    return Failure(exit, event, advice)
  }
}
