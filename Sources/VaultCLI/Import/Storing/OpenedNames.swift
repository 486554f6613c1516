internal import VaultModel
internal import VaultWire

/// The names under which an import stores something and which grants open to other subjects.
struct OpenedNames {
  /// The most names in a line.
  private static let shown = 3

  /// A grant with the names for which it holds.
  private struct Opening {
    let access: Wire.Access
    let names: [ItemName]
  }

  private let openings: [Opening]

  /// True if no grant holds for any of the names.
  var isEmpty: Bool { openings.isEmpty }
  /// The names that a grant opens, in the order of their bytes.
  var names: [String] {
    Set(openings.flatMap(\.names)).map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// - Parameters:
  ///   - names: the names of the items as they will be, of new ones and of those that get a new version.
  ///   - grants: all grants of the vault.
  init(_ names: [ItemName], _ grants: [Wire.Permission]) {
    openings = grants.filter(\.active).compactMap { grant in
      guard let pattern = try? ItemPattern(grant.items) else { return nil }
      let opened = names.filter { pattern.matches($0) }
      return opened.isEmpty
        ? nil : Opening(access: Wire.Access(subject: grant.subject, rights: grant.rights), names: opened)
    }
  }

  /// A line for each grant.
  var lines: [String] {
    openings.map { opening in
      let shown = opening.names.prefix(Self.shown).map { Printable.wholeQuoted($0.text) }.joined(separator: ", ")
      let rest = opening.names.count - Self.shown
      return "\(shown)\(rest > 0 ? " and \(rest) more" : ""): \(AccessChange.openness([opening.access]))"
    }
  }
}
