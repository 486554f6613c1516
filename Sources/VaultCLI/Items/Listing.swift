internal import Glibc
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// Items that match a query, in the order of their names: printed as JSON lines, as names, or on a terminal as a table.
struct Listing {
  let query: String?
  /// Returns the words for a person if no item matches.
  var whenEmpty: (Session) -> String
  var limit: Int?
  /// True if the items come in the order of their expiry, the soonest first.
  var isByExpiry = false
  /// True if a terminal shows each folder once, with its content below.
  var isTree = false
  /// Filters the items that match the query.
  var isShown: (Wire.Item) -> Bool = { _ in true }
  /// The times for which the audit log cannot tell whether an item was used, if only unused items are listed; nil for
  /// none. With JSON, each item has them as a member.
  var gaps: Wire.AuditGaps?
  /// Returns the failure to report if no item matches; nil if an empty list is the answer.
  var instead: (Session) -> Failure? = { _ in nil }

  func run(_ session: Session, json: Bool) throws(Failure) {
    var table = Table("NAME", "KIND", "MODIFIED", "EXPIRES")
    var count = 0
    let isWhole: Bool
    let sight = try session.sight()
    let (found, isFaulty) = try session.call { vault in try vault.search(query, limit: limit) }
    switch sight {
    case .all: isWhole = true
    case .some(_, let isCold):
      isWhole = false
      let what =
        isCold
        ? "not unlocked since the daemon started, so "
          + (query == nil && found.isEmpty ? "no names can be shown" : "this shows only `always` items")
        : "the vault is locked and hides names, so this shows only items whose names it still knows"
      Output.note("\(what); \(session.wayToAllNames)")
    }
    func show(_ item: Wire.Item, as name: String? = nil) throws(Failure) {
      count += 1
      if json {
        try Output.json(item, "gaps", gaps)
      } else if Output.isTerminal {
        table.add(
          .init((name ?? Printable.whole(item.name)) + Self.label(item)),
          .init(item.kind + (item.neverRead == true ? ", never read" : "")),
          .init(LocalTime.day(item.modified)),
          item.expires.map(Listing.expiry) ?? .init(""))
        if table.count >= Listing.page { try Output.text(table.text()) }
      } else {
        try Output.line(item.name)
      }
    }
    let items = found.filter(isShown).sorted(by: comesBefore)
    if isTree, Output.isTerminal, !json {
      for row in NameTree(items.map(\.name)).rows {
        if let item = row.item { try show(items[item], as: row.text) } else { table.add(.init(row.text)) }
      }
    } else {
      for item in items { try show(item) }
    }
    if !json, Output.isTerminal, table.count > 0 { try Output.text(table.text()) }
    if !json, Keyboard.isAttended, let note = Self.lookalikes(items.map(\.name)) { Output.note(note) }
    if isFaulty {
      throw Failure(
        .invalid, "the store is damaged: items may be missing from this list",
        "\(Hint.vault("verify")) says what is damaged")
    }
    if count == 0, isWhole, let failure = instead(session) { throw failure }
    if count == 0, isWhole, Keyboard.isAttended { Output.note(whenEmpty(session)) }
  }

  /// The label by which a program that uses the Secret Service shows the item, behind the name, which is a number;
  /// empty for every other item.
  static func label(_ item: Wire.Item) -> String {
    guard let label = item.keyring?.label, !label.isEmpty else { return "" }
    return " " + Printable.quoted(label)
  }

  /// Returns a note about names that look the same and are not; nil if there are none. Swift compares strings
  /// regardless of how their letters are composed, but the vault compares names by their bytes.
  static func lookalikes(_ names: [String]) -> String? {
    var seen: Set<String> = []
    guard let name = names.first(where: { !seen.insert($0).inserted }) else { return nil }
    return "\(Printable.quoted(name)) is the name of two items, with its accents composed in two ways (NFC, NFD)"
  }

  private func comesBefore(_ one: Wire.Item, _ other: Wire.Item) -> Bool {
    if isByExpiry, one.expires != other.expires { return one.expires ?? .max < other.expires ?? .max }
    return one.name.utf8.lexicographicallyPrecedes(other.name.utf8)
  }

  /// The number of table rows that are collected before they are printed.
  private static let page = 1000

  private static func expiry(_ moment: Int64) -> Table.Cell {
    moment <= Int64(time(nil)) ? .init("\(LocalTime.day(moment)) expired", isRed: true) : .init(LocalTime.day(moment))
  }
}

/// Predicates of the query language.
enum Predicates {
  /// A value between double quotes.
  static func quote(_ value: String) -> String {
    var result = "\""
    for character in value.unicodeScalars {
      if character == "\"" || character == "\\" { result.unicodeScalars.append("\\") }
      result.unicodeScalars.append(character)
    }
    return result + "\""
  }

  /// Returns true if a value must stand between quotes in a query.
  static func needsQuotes(_ value: String) -> Bool {
    let isBare = !value.isEmpty && !value.utf8.contains { " \t\"".utf8.contains($0) }
    return !isBare || value.utf8.first.map { "=~<>".utf8.contains($0) } == true
  }

  /// Returns true if an argument without a `--` before it is a predicate and not an item's name. A name may look like a
  /// predicate.
  static func isPredicate(_ argument: String) -> Bool { argument.utf8.contains { "=~<>".utf8.contains($0) } }
}
