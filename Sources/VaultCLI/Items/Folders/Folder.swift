internal import VaultClient
internal import VaultModel
internal import VaultWire

/// A folder that a command line names: all items whose names begin with it. No item's name ends with a slash.
struct Folder: Equatable {
  /// The beginning of the items' names, with the slash at its end.
  let prefix: String

  /// Nil if the text does not end with a slash and so names an item, and for a slash alone.
  init?(_ text: String) {
    guard text.utf8.last == UInt8(ascii: "/"), text.utf8.count > 1 else { return nil }
    prefix = text
  }

  /// Returns true if the folders are equal or one is within the other.
  func overlaps(_ other: Folder) -> Bool {
    prefix.utf8.starts(with: other.prefix.utf8) || other.prefix.utf8.starts(with: prefix.utf8)
  }

  /// Returns the new name of this folder's item in another folder.
  func name(of item: String, in other: Folder) -> String {
    other.prefix + String(decoding: item.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
  }

  /// Returns the new name of an item: `to` or, if that is a folder, the item's own last part in that folder.
  static func target(of from: String, _ to: String) -> String {
    guard Folder(from) == nil, Folder(to) != nil else { return to }
    let own = from.utf8.split(separator: UInt8(ascii: "/")).last.map { String(decoding: $0, as: UTF8.self) }
    return to + (own ?? "")
  }

  /// Returns the items in the folder and in the folders within it, in the order of their names.
  ///
  /// - Throws: ``Failure`` if names are unreadable before an unlock, so that a hidden item is never reported as
  ///   missing.
  func items(_ session: Session) throws(Failure) -> [Wire.Item] {
    try session.needAllNames()
    let query = "name~\(Predicates.quote(prefix + "**"))"
    let found = try session.unlocking { vault in try vault.find(query) }
    // Characters of the folder's name may be wildcards in the query.
    return found.filter { $0.name.utf8.starts(with: prefix.utf8) }
      .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  /// Returns the items like ``items(_:)``; throws if there are none.
  func someItems(_ session: Session) throws(Failure) -> [Wire.Item] {
    let items = try items(session)
    if items.isEmpty {
      throw Failure(.missing, "no item is in \(Printable.quoted(prefix))", "see \(Hint.vault("list"))")
    }
    return items
  }

  /// Tells a person that a folder has an item's new name: the item may have been meant to go into the folder.
  static func note(besides name: String, _ session: Session) {
    guard let folder = Folder(name + "/"),
      !MissingItem(name: name, location: session.vault.location).children().names.isEmpty
    else { return }
    let text = Printable.quoted(folder.prefix)
    Output.note("\(text) is a folder; \(text) as the target, with the slash, puts an item into it")
  }

  /// A number of items in words.
  static func count(_ items: Int) -> String { Counted.text(items, "item") }
}
