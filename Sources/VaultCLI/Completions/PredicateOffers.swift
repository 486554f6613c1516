internal import VaultModel

/// The offers for the rest of a predicate, or of an attribute's `key=value`.
struct PredicateOffers {
  private let text: String
  private let source: CompletionSource
  private let key: String
  private let operation: String
  private let value: String

  /// - Parameter text: the part that is typed so far.
  init(_ text: String, _ source: CompletionSource) {
    self.text = text
    self.source = source
    let key = text.prefix { !"=!~<>\" ".contains($0) }
    let rest = text[key.endIndex...]
    let symbols = rest.hasPrefix("!=") ? 2 : rest.first.map { "=~<>".contains($0) } == true ? 1 : 0
    self.key = String(key)
    operation = String(rest.prefix(symbols))
    value = String(rest.dropFirst(symbols))
  }

  /// Returns the offers for an attribute of `--attr`.
  func attributes() -> [Completion.Offer] {
    if operation.isEmpty { return source.keys().map { .init(text: $0 + "=", isWhole: false) } }
    guard operation == "=" else { return [] }
    return source.values(of: key).map { .init(text: "\(key)=\($0)") }
  }

  /// Returns the offers for a predicate of the query language.
  func all() -> [Completion.Offer] {
    if operation.isEmpty { return keys() }
    switch (key, operation) {
    case ("name", "="), ("name", "!="): return source.children(unquoted).map(offer)
    case ("name", "~"): return patterns()
    case ("kind", _): return offers(ItemKind.allCases.map(\.rawValue))
    case ("accessible", _): return offers(AccessClass.allCases.map(\.name))
    case ("require", _): return offers(Requirement.allCases.map(\.name))
    case ("expires", "="), ("expires", "!="): return offers(["never"])
    case ("expires", _), ("created", _), ("modified", _): return offers(["1d", "7d", "30d", "90d"])
    case ("version", _), ("size", _): return []
    case (_, "="), (_, "!="), (_, "~"):
      return offers(isOfKeyring ? source.keyringValues(of: key) : source.values(of: key))
    default: return []
    }
  }

  /// True for what the clients of a keyring keep with items.
  private var isOfKeyring: Bool { key.utf8.starts(with: Query.keyringPrefix.utf8) }

  private func keys() -> [Completion.Offer] {
    if isOfKeyring {
      let keys = [Query.keyringLabel] + source.keyringKeys().compactMap(Query.key(ofKeyring:))
      return keys.map { .init(text: $0 + "=", isWhole: false) }
    }
    let begun = ["name=", "name~", "kind=", "accessible=", "require="] + source.keys().map { $0 + "=" }
    // No shell knows that a text may continue after `<`, so these are offered whole.
    let whole = ["expires<30d", "expires=never", "created<7d", "modified<7d", "version>1", "size>64k"]
    let isPossible = Query.keyringPrefix.utf8.starts(with: text.utf8)
    let further = isPossible && source.hasKeyring() ? [Query.keyringPrefix] : []
    return (begun + further).map { .init(text: $0, isWhole: false) } + whole.map { .init(text: $0) }
  }

  /// Returns the folders and, if a folder is typed, the pattern for everything in it.
  private func patterns() -> [Completion.Offer] {
    let folders = source.children(unquoted).filter { !$0.isWhole }.map(offer)
    let isFolder = unquoted.utf8.last == UInt8(ascii: "/")
    return folders + (isFolder ? [offer(.init(text: unquoted + "**"))] : [])
  }

  private var isQuoted: Bool { value.first == "\"" }

  /// The typed value without the quotes of the query language.
  private var unquoted: String {
    guard isQuoted else { return value }
    var result = ""
    var isEscaped = false
    for character in value.dropFirst() {
      if character == "\\", !isEscaped {
        isEscaped = true
      } else {
        result.append(character)
        isEscaped = false
      }
    }
    return result
  }

  private func offers(_ values: [String]) -> [Completion.Offer] { values.map { offer(.init(text: $0)) } }

  /// Returns the predicate with that value, in quotes if it needs them.
  private func offer(_ value: Completion.Offer) -> Completion.Offer {
    var text = value.text
    if isQuoted || Predicates.needsQuotes(text) {
      text = Predicates.quote(text)
      if !value.isWhole { text.removeLast() }
    }
    return .init(text: key + operation + text, isWhole: value.isWhole)
  }
}
