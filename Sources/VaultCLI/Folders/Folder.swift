internal import VaultClient
internal import VaultModel
internal import VaultWire

/// A folder that a command line names: all items whose names begin with it. No item's name ends with a slash.
struct Folder: Equatable {
  /// The beginning of the names, with the slash at its end.
  let prefix: String

  /// Nil where the text names an item.
  init?(_ text: String) {
    guard text.utf8.last == UInt8(ascii: "/"), text.utf8.count > 1 else { return nil }
    prefix = text
  }

  /// True when one is the other, or within it.
  func overlaps(_ other: Folder) -> Bool {
    prefix.utf8.starts(with: other.prefix.utf8) || other.prefix.utf8.starts(with: prefix.utf8)
  }

  /// The name of an item of this folder in another one.
  func name(of item: String, in other: Folder) -> String {
    other.prefix + String(decoding: item.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
  }

  /// The name that an item is to have: `to`, or, where that is a folder, its own last part in there.
  static func target(of from: String, _ to: String) -> String {
    guard Folder(from) == nil, Folder(to) != nil else { return to }
    let own = from.utf8.split(separator: UInt8(ascii: "/")).last.map { String(decoding: $0, as: UTF8.self) }
    return to + (own ?? "")
  }

  /// The items in it and in the folders within it, in the order of their names.
  ///
  /// - Throws: where names cannot be read before an unlock: what cannot be found must not look as if it were not there.
  func items(_ session: Session) throws(Failure) -> [Wire.Item] {
    try session.needAllNames()
    let query = "name~\(Predicates.quote(prefix + "**"))"
    let found = try session.unlocking { vault in try vault.find(query) }
    // Characters of the folder's name may be wildcards of the query.
    return found.filter { $0.name.utf8.starts(with: prefix.utf8) }
      .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  /// The same, at least one.
  func someItems(_ session: Session) throws(Failure) -> [Wire.Item] {
    let items = try items(session)
    if items.isEmpty { throw Failure(.missing, "no item is in \(Printable.quoted(prefix))", "see `vault list`") }
    return items
  }

  /// How many, in words.
  static func count(_ items: Int) -> String { Counted.text(items, "item") }
}
