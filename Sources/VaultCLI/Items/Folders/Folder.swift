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

  /// Tells a person that the folder of an item's name has items, such as the parts of an imported entry: a command on
  /// the item leaves them as they are.
  ///
  /// - Parameters:
  ///   - word: the predicate of the sentence up to the number, such as "still has".
  ///   - target: the new name of the item, which does not count.
  static func noteRest(of item: String, _ word: String, besides target: String? = nil, _ session: Session) {
    guard let rest = rest(of: item, besides: target, session), rest > 0 else { return }
    let count = rest > most ? "more than \(self.count(most))" : self.count(rest)
    Output.note("\(Printable.quoted(item + "/")) \(word) \(count)")
  }

  /// The most items that a note counts.
  private static let most = 100

  /// Returns the number of the items in the folder of that name that the caller may find, counted up to ``most`` and
  /// one more. Nobody is asked for an unlock.
  private static func rest(of item: String, besides target: String?, _ session: Session) -> Int? {
    guard let folder = Folder(item + "/") else { return nil }
    var vault = Vault(at: session.vault.location)
    vault.patience = .zero
    vault.timeout = .milliseconds(1000)
    // The new name may be one of those found.
    let found = try? vault.find("name~\(Predicates.quote(folder.prefix + "**"))", limit: most + 2)
    return found?.count {
      $0.name.utf8.starts(with: folder.prefix.utf8) && target?.utf8.elementsEqual($0.name.utf8) != true
    }
  }

  /// A number of items in words.
  static func count(_ items: Int) -> String { Counted.text(items, "item") }
}
