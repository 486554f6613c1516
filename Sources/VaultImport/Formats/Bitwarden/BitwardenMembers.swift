internal import VaultWire

/// The members of a Bitwarden export (JSON), found in one pass over the whole text. That pass checks the text before
/// the first entry is sent; the items stay in the text.
///
/// The format is that of libs/common/src/models/export and libs/tools/export in bitwarden/clients; there is no
/// specification. Known are exports of a person's vault (`folders`) and of an organization (`collections`).
struct BitwardenMembers {
  /// The strings, true and false, and the integers among the members, by their names.
  private(set) var texts: [String: JSONReader.Text] = [:]
  private(set) var flags: [String: Bool] = [:]
  private(set) var numbers: [String: Int64] = [:]
  private(set) var folders = BitwardenFolders()
  /// True if the export has the member `collections`.
  private(set) var isOfOrganization = false
  /// The place of the array of items; nil if there is none.
  private(set) var items: JSONReader?
  /// The places of all members with unknown names.
  private(set) var others: [(name: String, place: JSONReader)] = []

  /// The highest number of members with unknown names.
  private static let mostOthers = 64
  private static let known: Set = [
    "encrypted", "passwordProtected", "salt", "kdfType", "kdfIterations", "kdfMemory", "kdfParallelism",
    "encKeyValidation_DO_NOT_EDIT", "data",
  ]

  init(_ bytes: [UInt8]) throws(ImportFailure) {
    var reader = JSONReader(bytes)
    try reader.object { name, reader throws(ImportFailure) in try take(name, &reader) }
    try reader.finish()
  }

  /// True if the export is encrypted, with a password or with the key of an account.
  var isEncrypted: Bool { flags["encrypted"] == true }
  /// True if the export has a password of its own.
  var hasPassword: Bool { flags["passwordProtected"] == true }

  private mutating func take(_ name: String, _ reader: inout JSONReader) throws(ImportFailure) {
    switch name {
    case "items": items = reader
    case "folders": try folders.read(&reader, as: .folder)
    case "collections":
      isOfOrganization = true
      try folders.read(&reader, as: .collection)
    case _ where Self.known.contains(name):
      let value = reader
      switch try reader.next() {
      case .string(let text): texts[name] = text
      case .bool(let flag): flags[name] = flag
      case .number:
        var value = value
        numbers[name] = try value.value().integer
      case .beginObject, .beginArray: reader = value
      case .null, .endObject, .endArray, .key, .end: break
      }
    default:
      guard others.count < Self.mostOthers else {
        throw ImportFailure(.tooLarge, "the export has more than \(Self.mostOthers) unknown members")
      }
      others.append((name, reader))
    }
  }
}
