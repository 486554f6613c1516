internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The items that a watcher is for: those of the names and patterns that it was given, or all.
struct WatchedItems {
  private let patterns: [ItemPattern]

  init(_ texts: [String]) throws(Failure) {
    var patterns: [ItemPattern] = []
    for text in texts {
      do throws(NameError) { patterns.append(try ItemPattern(text)) } catch {
        throw Failure(
          .invalid, "\(Printable.quoted(text)) is neither a name nor a pattern of names: \(error.reason)",
          "see \(Hint.vault("list"))")
      }
    }
    self.patterns = patterns
  }

  /// True when they are all items there are.
  var areAll: Bool { patterns.isEmpty }

  /// The names among what was given.
  var names: [String] { patterns.filter(\.isExact).map(\.text) }

  /// What finds the others, where there are such.
  var queries: [String?] {
    areAll ? [nil] : patterns.filter { !$0.isExact }.map { "name~\(Predicates.quote($0.text))" }
  }

  /// True when an event is a change of one of them, or may be: where a name was hidden, or something was missed.
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
  /// True when any item may have changed.
  var isOfAnything: Bool { missed == true || event == "item" && name == nil && to == nil }
}
