internal import VaultWire

/// The signs by which a Bitwarden export is told from other JSON, found in its beginning.
struct BitwardenSigns {
  /// The most bytes that are examined.
  private static let most = 1 << 20
  /// The members of an item of which each has at least one.
  private static let parts: Set = [
    "login", "secureNote", "card", "identity", "sshKey", "reprompt", "organizationId", "folderId", "collectionIds",
  ]

  private var isMarked = false
  private var names: Set<String> = []
  private var itemNames: Set<String> = []

  init(_ bytes: [UInt8]) {
    // The beginning may end anywhere; what was read until then remains.
    var reader = JSONReader(Array(bytes.prefix(Self.most)))
    try? reader.object { name, reader throws(ImportFailure) in try take(name, &reader) }
  }

  /// True if the members are those of a Bitwarden export. Older exports lack `encrypted`.
  var areOfBitwarden: Bool {
    guard isMarked else { return names.contains("items") && isItem }
    if names.contains("passwordProtected") || names.contains("encKeyValidation_DO_NOT_EDIT") { return true }
    return names.contains("items") || names.contains("folders") || names.contains("collections")
  }

  private var isItem: Bool { itemNames.isSuperset(of: ["type", "name"]) && !itemNames.isDisjoint(with: Self.parts) }

  private mutating func take(_ name: String, _ reader: inout JSONReader) throws(ImportFailure) {
    if names.count < 64 { names.insert(name) }
    switch name {
    case "encrypted":
      if case .bool = try reader.next() { isMarked = true }
    case "items":
      try reader.array { reader throws(ImportFailure) in
        guard itemNames.isEmpty else { return }
        try reader.object { name, _ throws(ImportFailure) in
          if itemNames.count < 64 { itemNames.insert(name) }
        }
      }
    default: break
    }
  }
}
