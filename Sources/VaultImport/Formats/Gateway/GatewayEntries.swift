internal import VaultBytes
internal import VaultWire

/// The entries of a settings file of a gateway's program: one for each value that becomes an item, with its place in
/// the file, and one for all other settings.
struct GatewayEntries {
  /// The folder of the items.
  let root: String
  private(set) var entries: [Entry] = []
  private var settings: Entry

  init(root: String) {
    self.root = root
    settings = Entry(of: [root], named: "settings")
  }

  /// Adds a value that becomes an item.
  ///
  /// - Parameters:
  ///   - path: the names that lead to the value in the file, which identify it.
  ///   - names: the names of the folders below ``root``, and the title.
  ///   - place: the place of the value; nil if a template has to leave it as it is.
  mutating func add(
    _ path: [String], named names: [String], _ value: [UInt8], place: ImportedPlace?, isPairing: Bool = false
  ) {
    let folder = [root] + names.dropLast()
    var entry = Entry(
      isPairing ? .pairing : .value, id: path.joined(separator: "."), folder: folder, title: names.last ?? "")
    let role: ImportedField.Role = isPairing ? .password : .secret
    if value.count > ImportedField.longestValue {
      entry.refuseTooLarge(path.last ?? "", role, size: value.count)
    } else if !value.isEmpty {
      entry.fields.append(Field(path.last ?? "", role, value, place: place))
    }
    if value.isEmpty { addSetting(path, value) } else { entries.append(entry) }
  }

  /// Adds a setting, which no item becomes.
  mutating func addSetting(_ path: [String], _ value: [UInt8]) {
    settings.fields.append(Field(path.joined(separator: "."), .setting, value))
  }

  /// Adds a value that no item becomes, with the reason.
  mutating func refuse(_ path: [String], size: Int, _ reason: String) {
    settings.refuse(path.joined(separator: "."), .secret, size: size, reason)
  }

  /// Sends the entries.
  func send(_ format: ImportedFormat, into sink: inout some EntrySink) throws(ImportFailure) {
    try sink.begin(format)
    for entry in entries { try sink.add(entry) }
    if !settings.fields.isEmpty { try sink.add(settings) }
  }
}

/// The place of a value in a text of YAML, without the properties before it.
enum YAMLValuePlace {
  /// The place of a scalar's text with its quotes, or that of a sequence; nil if it cannot be told from its properties.
  static func of(_ node: YAMLNode, in bytes: [UInt8]) -> Range<Int>? {
    guard bytes.indices.contains(node.place.lowerBound), node.place.upperBound <= bytes.count else { return nil }
    var start = node.place.lowerBound
    if node.hasProperties {
      while start < node.place.upperBound, bytes[start] == UInt8(ascii: "&") || bytes[start] == UInt8(ascii: "!") {
        while start < node.place.upperBound, !isSpace(bytes[start]) { start += 1 }
        while start < node.place.upperBound, bytes[start] == 0x20 || bytes[start] == 0x09 { start += 1 }
      }
      // On another line a comment could stand before the value.
      guard start < node.place.upperBound, !isSpace(bytes[start]), bytes[start] != UInt8(ascii: "#") else { return nil }
    }
    // A block ends where the next text begins.
    var end = node.place.upperBound
    while end > start, isSpace(bytes[end - 1]) { end -= 1 }
    return end > start ? start..<end : nil
  }

  private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}
