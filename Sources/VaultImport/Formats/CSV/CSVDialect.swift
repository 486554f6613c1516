/// A header by which the files of one program are recognized.
///
/// The headers are those that the programs themselves write; the comments name the places where they are published.
struct CSVDialect {
  /// A way of writing or of keeping entries that the columns alone do not tell.
  enum Form {
    case plain
    /// Values that begin in a row and end in a later one, without quotes, and notes with the URL `http://sn`.
    case lastPass
    /// A type of entry in a column.
    case typed
    /// A card, an identity or the like in each row.
    case documents
    /// Further values of the last column.
    case open
    /// Quotes and backslashes after a backslash.
    case backslashes
  }

  let name: String
  var form = Form.plain
  /// The columns that must be there, and those that may be there.
  let needed: [(String, CSVMeaning)]
  var optional: [(String, CSVMeaning)] = []
  /// True if no other column may be there, because the needed ones are usual in other programs' files too.
  var isClosed = false

  /// The meanings of the columns with these names; nil if they are not those of the dialect.
  func meanings(_ names: [String]) -> [CSVMeaning]? {
    guard needed.allSatisfy({ names.contains($0.0) }) else { return nil }
    let known = needed + optional
    var meanings: [CSVMeaning] = []
    for name in names {
      guard let column = known.first(where: { $0.0 == name }) else {
        if isClosed { return nil }
        meanings.append(CSVMeaning(of: name))
        continue
      }
      meanings.append(column.1)
    }
    return meanings
  }
}
