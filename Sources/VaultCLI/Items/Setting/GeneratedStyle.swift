internal import ArgumentParser
internal import VaultModel
internal import VaultWire

/// The kinds of secrets that the daemon can generate.
enum GeneratedStyle: RawRepresentable, Hashable, ExpressibleByArgument, CaseIterable {
  case password
  case phrase
  case key(KeyRecipe)

  static let allCases: [GeneratedStyle] = [.password, .phrase] + KeyRecipe.allCases.map { .key($0) }

  init?(rawValue name: String) {
    guard let style = Self.allCases.first(where: { $0.rawValue == name }) else { return nil }
    self = style
  }

  /// The name on the command line.
  var rawValue: String {
    switch self {
    case .password: "password"
    case .phrase: "phrase"
    case .key(let recipe): recipe.rawValue
    }
  }

  /// The styles whose secrets may be printed.
  static let printed = allCases.filter { !$0.isKey }

  /// The names of all styles, separated by commas.
  static let names = allCases.map(\.rawValue).joined(separator: ", ")

  /// The styles of keys that an item with this use can have.
  static func keys(for use: KeyUse) -> [GeneratedStyle] {
    KeyRecipe.allCases.filter { $0.suits(use) }.map { .key($0) }
  }

  /// The advice after a style that does not fit a use; nil for a use without any style.
  static func advice(for use: KeyUse) -> String? {
    let styles = keys(for: use).map(\.rawValue)
    guard !styles.isEmpty else { return nil }
    return "for \(use.name) give --generate \(styles.count > 1 ? "one of " : "")\(styles.joined(separator: ", "))"
  }

  /// True for a key, which is made for a use.
  var isKey: Bool { if case .key = self { true } else { false } }

  /// True for a key that takes a second or more to make.
  var takesLong: Bool { if case .key(let recipe) = self { recipe.takesLong } else { false } }

  /// The style in the form of the daemon's interface.
  var recipe: Wire.Generator {
    switch self {
    case .password, .phrase: Wire.Generator(style: rawValue)
    case .key(let recipe): Wire.Generator(style: recipe.facts.style, length: recipe.facts.length)
    }
  }
}
