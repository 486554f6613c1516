internal import VaultClient
internal import VaultModel
internal import VaultWire

/// A missing item, and the daemon that reported it.
struct MissingItem: Equatable {
  let name: String
  let location: SocketLocation
  /// True if the daemon has not confirmed that the store is whole, so the item may have been taken away.
  var isDoubtful = false
  /// True if the item was there before, so that its name is no misspelling.
  var isGone = false
  /// The advice on how to apply the same command to a folder; nil if there is none.
  var folderWay: String?
  /// The name of the command, if it takes predicates.
  var predicateCommand: String?

  /// The time limit of a search in milliseconds; names found by then are used.
  private static let patience = 1000
  /// The most names of a folder that are shown.
  private static let most = 20

  private var vault: Vault {
    var vault = Vault(at: location)
    vault.patience = .zero
    vault.timeout = .milliseconds(MissingItem.patience)
    return vault
  }

  /// Returns the names in the folder of that name, if there is one, and whether these are all.
  func children() -> (names: [String], isAll: Bool) {
    var names: [String] = []
    try? vault.children(name + "/", limit: MissingItem.most + 1) { page in
      names += page
      return names.count <= MissingItem.most
    }
    let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    return (Array(sorted.prefix(MissingItem.most)), names.count <= MissingItem.most)
  }

  /// Returns the names that the user may have meant: similar names, names with this beginning, and names with this
  /// ending in a folder. The daemon lists these names; the search asks nobody for an unlock and moves no deadline.
  ///
  /// - Parameter isStrict: true if only names that differ by a few typing errors count.
  func nearest(isStrict: Bool = false) -> [String] {
    let end = Moment.now() + MissingItem.patience
    var search = NearestSearch(name, beginnings: !isStrict)
    var inFolders: [String] = []
    try? vault.find(nil) { page in
      // The item itself may exist by now.
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
  /// True if an item of that name is in the trash and the caller may know that.
  var isInTrash: Bool {
    let found = try? vault.find("name=\(Predicates.quote(name))", inTrash: true)
    return found?.contains { $0.name.utf8.elementsEqual(name.utf8) } ?? false
  }

  /// True if there is an item of that name and the caller may know that.
  var isThere: Bool {
    let found = try? vault.find("name=\(Predicates.quote(name))")
    return found?.contains { $0.name.utf8.elementsEqual(name.utf8) } ?? false
  }

  /// The advice for a name that is a pattern, where the command takes predicates; nil for any other name. A name with
  /// a quote would need more of them.
  var patternWay: String? {
    guard let predicateCommand, name.utf8.contains(where: { "*?".utf8.contains($0) }),
      !Predicates.needsQuotes(name), !name.utf8.contains(UInt8(ascii: "'"))
    else { return nil }
    let way = "\(Hint.vault("\(predicateCommand) 'name~\(Printable.line(name))'")) takes what the pattern matches"
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count > 1, ["*", "**"].contains(parts[parts.count - 1]) else { return way }
    let folder = parts.dropLast().joined(separator: "/") + "/"
    guard !folder.utf8.contains(where: { "*?".utf8.contains($0) }) else { return way }
    return "\(way), and \(Hint.vault("\(predicateCommand) \(Printable.line(folder))")) the whole folder"
  }

  /// The item and the field, if the name is spelled like a field for `vault run` and that item exists; nil otherwise.
  var reference: ItemReference? {
    guard let reference = try? ItemReference(parsing: name), reference.field != nil else { return nil }
    let found = try? vault.find("name=\(Predicates.quote(reference.name.text))")
    return found?.isEmpty == false ? reference : nil
  }
}

extension Failure {
  /// For a missing item, a failure that says that the item is gone, because it existed when the command began; any
  /// other failure unchanged.
  var ofGoneItem: Failure {
    guard exit == .missing, let missing else { return self }
    var failure = Failure(
      exit, "no item \(Printable.quoted(missing.name)) any more\(missing.isDoubtful ? FaultWords.doubt : "")", advice)
    failure.missing = missing
    failure.missing?.isGone = true
    return failure
  }

  /// The same failure for an item in the trash. It was deleted, so the store is not doubted.
  private var inTrash: Failure {
    let event = event.hasSuffix(FaultWords.doubt) ? String(event.dropLast(FaultWords.doubt.count)) : event
    return Failure(exit, "\(event), but one in the trash", "\(Hint.vault("trash restore")) restores it")
  }

  /// The same failure with suggestions for a missing item, if a person reads it: the content of the folder of that
  /// name, or the nearest names. Without a person, the only addition is that the item is in the trash, in place of a
  /// doubt about the store.
  var suggesting: Failure {
    guard exit == .missing, let missing else { return self }
    // A name that an item had is the one that is meant, although others are like it.
    if missing.isGone, Keyboard.isAttended { return missing.isInTrash ? inTrash : self }
    guard Keyboard.isAttended else { return missing.isDoubtful && missing.isInTrash ? inTrash : self }
    let children = missing.children()
    if children.names.isEmpty {
      if missing.isInTrash { return inTrash }
      if let way = missing.patternWay { return Failure(exit, event, way) }
      if let reference = missing.reference, let field = reference.field {
        let command = "get \(Printable.line(reference.name.text)) --field \(Printable.line(field))"
        return Failure(exit, event, "print a field with \(Hint.vault(command))")
      }
      let nearest = missing.nearest()
      if nearest.contains(where: { Suggestion.looksLike($0, missing.name) }) {
        return Failure(
          exit, "\(event), but one that looks the same, with its accents composed in another way (NFC, NFD)",
          "copy its name from \(Hint.vault("list"))")
      }
      return Suggestion.text(nearest).map { Failure(exit, event, $0) } ?? self
    }
    let folder = Printable.quoted(missing.name)
    let all = children.isAll ? "it has" : "\(Hint.vault("list")) shows all of it; it has"
    let way = missing.folderWay.map { "\($0); " } ?? ""
    var failure = Failure(exit, "\(folder) is a folder, not an item", "\(way)\(all):")
    failure.names = children.names
    return failure
  }
}
