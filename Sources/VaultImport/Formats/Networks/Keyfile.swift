internal import VaultWire

/// A file of groups with keys and values, as GLib's GKeyFile writes it
/// (https://docs.gtk.org/glib/struct.KeyFile.html).
struct Keyfile {
  struct Line {
    let group: String
    let key: String
    /// The value with its escapes.
    let raw: ArraySlice<UInt8>

    /// The value without its escapes.
    var value: [UInt8] { Keyfile.unescaped(raw) }
    var text: String { String(decoding: value, as: UTF8.self) }
  }

  /// The most lines with a value, and the most bytes of a file.
  static let most = (lines: 1 << 16, bytes: 4 << 20)

  private(set) var lines: [Line] = []

  /// Reads a file.
  ///
  /// - Throws: ``ImportFailure`` for a line that is neither a group nor a pair.
  init(_ bytes: [UInt8]) throws(ImportFailure) {
    try Self.check(bytes)
    var group: String?
    var names = NameRoom()
    for (number, whole) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
      let line = Self.trimmed(whole)
      guard let first = line.first, first != UInt8(ascii: "#") else { continue }
      if first == UInt8(ascii: "["), line.last == UInt8(ascii: "]") {
        group = String(decoding: line.dropFirst().dropLast(), as: UTF8.self)
        continue
      }
      guard let group, let sign = line.firstIndex(of: UInt8(ascii: "=")), lines.count < Self.most.lines else {
        throw ImportFailure(.damaged, "line \(number + 1) is neither a group nor a key with a value")
      }
      let key = String(decoding: Self.trimmed(line[..<sign]), as: UTF8.self)
      try names.take(group.utf8.count + key.utf8.count)
      // Blanks at the end belong to the value, and those at its beginning are written as escapes.
      let value = whole[(sign + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
      lines.append(Line(group: group, key: key, raw: value.last == 0x0D ? value.dropLast() : value))
    }
  }

  /// The value of a key in the first of the groups that has it; nil if none has it. The last of several lines counts.
  func value(_ key: String, in groups: String...) -> [UInt8]? {
    for group in groups {
      if let line = lines.last(where: { $0.group == group && $0.key == key }) { return line.value }
    }
    return nil
  }

  func text(_ key: String, in groups: String...) -> String? {
    for group in groups { if let line = lines.last(where: { $0.group == group && $0.key == key }) { return line.text } }
    return nil
  }

  /// Throws for a file that is too large to be one of settings.
  static func check(_ bytes: [UInt8]) throws(ImportFailure) {
    guard bytes.count <= most.bytes else {
      throw ImportFailure(.tooLarge, "a file of settings has more than \(most.bytes >> 20) MiB")
    }
  }

  /// The text without blanks around it.
  static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
    let rest = line.drop(while: isBlank)
    return rest.lastIndex { !isBlank($0) }.map { rest[...$0] } ?? []
  }

  private static func unescaped(_ raw: ArraySlice<UInt8>) -> [UInt8] {
    var value: [UInt8] = []
    var place = raw.startIndex
    while place < raw.endIndex {
      guard raw[place] == UInt8(ascii: "\\"), place + 1 < raw.endIndex else {
        value.append(raw[place])
        place += 1
        continue
      }
      switch raw[place + 1] {
      case UInt8(ascii: "s"): value.append(0x20)
      case UInt8(ascii: "n"): value.append(0x0A)
      case UInt8(ascii: "t"): value.append(0x09)
      case UInt8(ascii: "r"): value.append(0x0D)
      case UInt8(ascii: "\\"), UInt8(ascii: ";"): value.append(raw[place + 1])
      default: value += raw[place...(place + 1)]
      }
      place += 2
    }
    return value
  }

  /// The bytes of a list of numbers, as NetworkManager writes bytes that are no text: `72;105;`; nil for any other
  /// text.
  static func listedBytes(_ value: [UInt8]) -> [UInt8]? {
    guard value.last == UInt8(ascii: ";") else { return nil }
    var bytes: [UInt8] = []
    for part in value.dropLast().split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false) {
      guard let byte = UInt8(String(decoding: Self.trimmed(part), as: UTF8.self)) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }
}
