internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The items for a watcher: those that match the given names and patterns, or all items.
struct WatchedItems {
  private let patterns: [ItemPattern]

  init(_ texts: [String]) throws(Failure) {
    var patterns: [ItemPattern] = []
    for text in texts {
      do throws(NameError) { patterns.append(try ItemPattern(text)) } catch {
        throw Failure(
          .invalid, "\(Printable.quoted(text)) is neither a name nor a pattern: \(error.reason)",
          "see \(Hint.vault("list"))")
      }
    }
    self.patterns = patterns
  }

  /// True if all items are watched.
  var areAll: Bool { patterns.isEmpty }

  /// The exact names among the given texts.
  var names: [String] { patterns.filter(\.isExact).map(\.text) }

  /// The queries that find the items of the patterns; a single nil if all items are watched.
  var queries: [String?] {
    areAll ? [nil] : patterns.filter { !$0.isExact }.map { "name~\(Predicates.quote($0.text))" }
  }

  /// Returns true if an event is a change of one of the items, or may be: because a name was hidden, or events were
  /// missed.
  func concerns(_ event: Vault.Event) -> Bool {
    if event.isOfAnything { return true }
    return event.event == "item" && [event.name, event.to].contains { $0.map(contains) ?? false }
  }

  private func contains(_ text: String) -> Bool {
    guard !areAll else { return true }
    guard let name = try? ItemName(text) else { return false }
    return patterns.contains { $0.matches(name) }
  }
}

extension Vault.Event {
  /// True if any item may have changed.
  var isOfAnything: Bool { missed == true || event == "item" && name == nil && to == nil }
}
