internal import VaultClient
internal import VaultModel

/// The message for a person whose search found nothing.
enum NothingFound {
  static func text(_ query: String, _ session: Session) -> String {
    if let value = valueWithBlanks(query) { return "nothing matches; if that is one value, write '\(value)'" }
    var keys: Set<String> = []
    try? session.call { vault in
      try vault.attributes { more in
        keys.formUnion(more)
        return true
      }
    }
    if keys.isEmpty, session.mayNotSee != nil { return "nothing that you may see matches" }
    if let (attribute, key) = keyOfKeyring(query, keys, session) {
      return "nothing matches, because only programs of the Secret Service gave items an attribute "
        + "\(Printable.quoted(attribute)); write it \(key)"
    }
    return text(query, keys: keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
  }

  /// The message, with the attributes that exist.
  ///
  /// - Parameter keys: the keys of all attributes.
  static func text(_ query: String, keys: [String]) -> String {
    let list = Printable.text(keys.joined(separator: ", "))
    let all =
      switch keys.count {
      case 0: "no item has attributes"
      case 1: "the only attribute is \(list)"
      default: "the attributes are \(list)"
      }
    let asked = (try? Query(parsing: query))?.attributeKeys ?? []
    guard let unknown = asked.first(where: { !keys.contains($0) }) else { return "nothing matches; \(all)" }
    let near = Nearest.names(to: unknown, among: keys, beginnings: true)
    return
      "nothing matches, because no item has an attribute \(Printable.quoted(unknown)); \(Suggestion.text(near) ?? all)"
  }

  /// Returns the first attribute of a query that no item has, and the key by which a query examines it, if the client
  /// of a keyring gave an item one of that name.
  private static func keyOfKeyring(
    _ query: String, _ keys: Set<String>, _ session: Session
  ) -> (attribute: String, key: String)? {
    let asked = (try? Query(parsing: query))?.attributeKeys ?? []
    guard let unknown = asked.first(where: { !keys.contains($0) }),
      let key = Query.key(ofKeyring: unknown),
      let found = try? session.call({ vault in try vault.find("\(key)~**", limit: 1) }), !found.isEmpty
    else { return nil }
    return (unknown, key)
  }

  /// Returns the predicate with its value in quotes, if the words after the predicate probably belong to the value; nil
  /// otherwise.
  static func valueWithBlanks(_ query: String) -> String? {
    let words = query.split(separator: " ")
    guard !query.utf8.contains(UInt8(ascii: "\"")),
      let first = words.indices.dropLast().first(where: { isComparison(words[$0]) && !isPredicate(words[$0 + 1]) }),
      let symbol = words[first].firstIndex(where: { "=~".contains($0) })
    else { return nil }
    let behind = words[(first + 1)...].prefix { !isPredicate($0) }
    let start = words[first].index(after: symbol)
    let value = ([words[first][start...]] + behind).joined(separator: " ")
    return Printable.line(words[first][..<start] + Predicates.quote(value))
  }

  private static func isPredicate(_ word: Substring) -> Bool { Predicates.isPredicate(String(word)) }

  /// Returns true for a predicate that compares text and has a value.
  private static func isComparison(_ word: Substring) -> Bool {
    guard let symbol = word.firstIndex(where: { "=~<>".contains($0) }), "=~".contains(word[symbol]) else {
      return false
    }
    return word.index(after: symbol) < word.endIndex
  }
}
