internal import Glibc
internal import VaultAPI
internal import VaultClient
internal import VaultModel

/// Items that match a query, printed as they come: JSON lines, names, or a table on a terminal.
struct Listing {
  let query: String?
  let limit: Int?

  func run(_ session: Session, json: Bool) throws(Failure) {
    var table = Table("NAME", "KIND", "MODIFIED", "EXPIRES")
    var isEmpty = true
    try session.unlocking { vault in
      try vault.find(query, limit: limit) { page in
        for item in page {
          isEmpty = false
          if json {
            try Output.json { item.write(to: &$0) }
          } else if Output.isTerminal {
            table.add(item.name, item.kind, Listing.day(item.modified), item.expires.map(Listing.expiry) ?? "")
          } else {
            try Output.line(item.name)
          }
        }
        return true
      }
    }
    if !json, Output.isTerminal, !isEmpty { try Output.text(table.text()) }
  }

  private static func day(_ moment: Int64) -> String { String(Timestamp.format(moment).prefix(10)) }

  private static func expiry(_ moment: Int64) -> String {
    moment <= Int64(time(nil)) ? Style.red("\(day(moment)) expired") : day(moment)
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

  /// Whether an argument is a predicate rather than an item's name.
  static func isPredicate(_ argument: String) -> Bool { argument.utf8.contains { "=~<>".utf8.contains($0) } }
}
