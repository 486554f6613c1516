internal import VaultWire

/// The signs by which an exchange is told from other JSON, found in its beginning.
struct CXFSigns {
  /// The most bytes that are examined.
  private static let most = 1 << 20

  private var names: Set<String> = []
  private var itemNames: Set<String> = []

  init(_ bytes: [UInt8]) {
    // The beginning may end anywhere; what was read until then remains.
    var reader = JSONReader(Array(bytes.prefix(Self.most)))
    try? reader.object { name, reader throws(ImportFailure) in try take(name, &reader) }
  }

  /// True if an exporter is named, or if items have credentials. Some programs write the accounts first, so that the
  /// exporter is not in the beginning.
  var areOfExchange: Bool {
    let isNamed = names.isSuperset(of: ["exporterRpId", "version"]) || names.contains("exporterDisplayName")
    return isNamed && (names.contains("accounts") || itemNames.contains("credentials"))
      || itemNames.isSuperset(of: ["id", "title", "credentials"])
  }

  private mutating func take(_ name: String, _ reader: inout JSONReader) throws(ImportFailure) {
    if names.count < 64 { names.insert(name) }
    switch name {
    case "items": try takeItems(&reader)
    case "accounts":
      try reader.array { reader throws(ImportFailure) in
        try reader.object { name, reader throws(ImportFailure) in if name == "items" { try takeItems(&reader) } }
      }
    default: break
    }
  }

  private mutating func takeItems(_ reader: inout JSONReader) throws(ImportFailure) {
    try reader.array { reader throws(ImportFailure) in
      guard itemNames.isEmpty else { return }
      try reader.object { name, _ throws(ImportFailure) in if itemNames.count < 64 { itemNames.insert(name) } }
    }
  }
}
