internal import VaultWire

/// The values that the fields of an entry had once.
struct KDBXHistory {
  /// A text that a later version replaced, with the time of the version that brought it.
  struct Old {
    let key: String
    let value: [UInt8]
    let time: Int64?
  }

  /// The texts, the oldest ones first.
  private(set) var texts: [Old] = []
  /// The attachments that the entry does not have any more.
  private(set) var attachments: [(attachment: KDBXAttachment, time: Int64?)] = []

  init(_ entry: KDBXEntry) {
    let versions = entry.history + [entry.current]
    // The time at which the value of each field came, as long as it stays the same.
    var times: [String: Int64] = [:]
    for (version, next) in zip(versions, versions.dropFirst()) {
      let (values, later) = (Self.values(version), Self.dictionary(next))
      for (key, value) in values {
        let time = times[key] ?? version.modified
        times[key] = time
        guard later[key] != value else { continue }
        times[key] = nil
        if !value.isEmpty { texts.append(Old(key: key, value: value, time: time)) }
      }
    }
    findAttachments(entry)
  }

  private mutating func findAttachments(_ entry: KDBXEntry) {
    var known = Set(entry.current.attachments)
    for version in entry.history {
      for attachment in version.attachments where known.insert(attachment).inserted {
        attachments.append((attachment, version.modified))
      }
    }
  }

  /// The fields of a version, with the labels and an address that KeePass keeps beside them.
  private static func values(_ version: KDBXVersion) -> [(key: String, value: [UInt8])] {
    var values = version.texts.map { (key: $0.key, value: $0.value) }
    values.append((key: "Tags", value: Array(version.tags.joined(separator: ";").utf8)))
    for setting in version.settings where setting.name == "OverrideURL" {
      values.append((key: setting.name, value: setting.value))
    }
    return values
  }

  private static func dictionary(_ version: KDBXVersion) -> [String: [UInt8]] {
    Dictionary(values(version).map { ($0.key, $0.value) }) { first, _ in first }
  }
}
