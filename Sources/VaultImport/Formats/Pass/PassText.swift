internal import VaultBytes
internal import VaultWire

/// The text of a file of a password store.
///
/// The first line is the password, as pass(1) says, or an `otpauth://` URI, as pass-otp writes it. A later line is, in
/// this order:
/// - an `otpauth://` URI;
/// - `key: value`, as gopass and pass-import split it: at the first colon with a blank. A key that ``PassKey`` knows
///   needs no blank, as in Browserpass. Lines that begin with a blank, or whose key is longer than 64 bytes, are text;
/// - a part of the note. The line `---`, after which gopass keeps YAML, and all lines after it are parts of the note.
struct PassText {
  private var password: ArraySlice<UInt8> = []
  private var pairs: [(key: String, value: ArraySlice<UInt8>)] = []
  private var uris: [String] = []
  /// The lines of the note, up to ``longestNote`` bytes, and the number of bytes of all of them.
  private var note: [UInt8] = []
  private var noteCount = 0

  /// The most pairs that become fields; further ones stay in the note.
  private static let mostPairs = 2000
  private static let longestKey = 64
  /// The room for a file of 1 MiB in base64.
  private static let longestNote = 2 * ImportedField.longestValue

  init(_ bytes: [UInt8]) {
    var rest = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
    var isHeader = Self.takeLine(&rest, ifIs: "GOPASS-SECRET-1.0")
    if !isHeader { readFirst(&rest) }
    while !rest.isEmpty {
      if Self.line(rest).content.elementsEqual("---".utf8) { break }
      let (content, count) = Self.line(rest)
      if isHeader, content.isEmpty {
        rest = rest.dropFirst(count)
        isHeader = false
      } else {
        read(content, rest.prefix(count))
        rest = rest.dropFirst(count)
      }
    }
    keep(rest)
  }

  private mutating func keep(_ lines: ArraySlice<UInt8>) {
    let isBlank = lines.count < 1024 && lines.allSatisfy { [0x20, 0x09, 0x0D, 0x0A].contains($0) }
    if noteCount == 0, isBlank { return }
    noteCount += lines.count
    note += lines.prefix(Self.longestNote - note.count)
  }

  /// Reads the first line, unless it belongs to what gopass writes without a password.
  private mutating func readFirst(_ rest: inout ArraySlice<UInt8>) {
    let (content, count) = Self.line(rest)
    if content.elementsEqual("---".utf8) { return }
    rest = rest.dropFirst(count)
    if AuthURI.hasPrefix(content, "otpauth://") {
      uris.append(String(decoding: content, as: UTF8.self))
    } else {
      password = content
    }
  }

  private mutating func read(_ content: ArraySlice<UInt8>, _ whole: ArraySlice<UInt8>) {
    let hasRoom = pairs.count + uris.count < Self.mostPairs
    if hasRoom, AuthURI.hasPrefix(content, "otpauth://") {
      uris.append(String(decoding: content, as: UTF8.self))
    } else if hasRoom, let pair = Self.pair(content) {
      pairs.append(pair)
    } else {
      keep(whole)
    }
  }

  private static func pair(_ line: ArraySlice<UInt8>) -> (String, ArraySlice<UInt8>)? {
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
    func isEnd(_ place: Int) -> Bool { line[place] == UInt8(ascii: ":") && place + 1 < line.endIndex }
    let head = line.prefix(longestKey + 1).indices
    guard let first = line.first, !isBlank(first), let colon = head.first(where: isEnd), colon > line.startIndex else {
      return nil
    }
    let known = String(decoding: line[..<colon], as: UTF8.self)
    if !isBlank(line[colon + 1]), PassKey(known) != nil, !line[(colon + 1)...].starts(with: "//".utf8) {
      return (known, line[(colon + 1)...])
    }
    guard let end = head.first(where: { isEnd($0) && isBlank(line[$0 + 1]) }), end > line.startIndex else { return nil }
    // The value keeps further blanks, because they may belong to a password.
    let (key, value) = (line[..<end], line[(end + 2)...])
    guard let last = key.lastIndex(where: { !isBlank($0) }), !value.allSatisfy(isBlank) else { return nil }
    return (String(decoding: key[...last], as: UTF8.self), value)
  }

  /// The first line without its end, and the number of bytes with it.
  private static func line(_ rest: ArraySlice<UInt8>) -> (content: ArraySlice<UInt8>, count: Int) {
    let line = rest.prefix { $0 != 0x0A }
    let count = line.count + (line.endIndex < rest.endIndex ? 1 : 0)
    return (line.last == 0x0D ? line.dropLast() : line, count)
  }

  private static func takeLine(_ rest: inout ArraySlice<UInt8>, ifIs text: String) -> Bool {
    let (content, count) = line(rest)
    guard content.elementsEqual(text.utf8) else { return false }
    rest = rest.dropFirst(count)
    return true
  }
}

extension PassText {
  /// Adds the fields to the entry, and sets its kind.
  func add(to entry: inout Entry) {
    var (pairs, note) = (pairs, Self.withoutLineEnd(note[...]))
    if noteCount <= Self.longestNote, let file = GopassFile(pairs, note: note) {
      entry.put(file.name, .attachment, file.content, mediaType: "application/octet-stream")
      pairs.removeAll { GopassFile.isHeader($0.key) }
      note = []
    }
    entry.put("password", .password, password)
    let roles = PassKey.roles(pairs.map(\.key), hasPassword: !password.isEmpty)
    for (pair, role) in zip(pairs, roles) {
      if role == .oneTime {
        entry.putOneTime(pair.key, String(decoding: pair.value, as: UTF8.self))
      } else {
        entry.put(pair.key, role, pair.value)
      }
    }
    for uri in uris { entry.putOneTime("otpauth", uri) }
    if noteCount > Self.longestNote {
      entry.refuseTooLarge("note", .note, size: noteCount)
    } else {
      entry.put("note", .note, note)
    }
    entry.kind = Self.kind(entry)
  }

  private static func kind(_ entry: Entry) -> ImportedEntry.Kind {
    let own = entry.fields.filter { ![.title, .folder, .identifier].contains($0.role) }
    guard let first = own.first?.role, own.allSatisfy({ $0.role == first }) else { return .login }
    switch first {
    case .oneTime: return own.count == 1 ? .oneTime : .login
    case .note: return .note
    case .attachment: return .value
    default: return .login
    }
  }

  private static func withoutLineEnd(_ note: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    note.lastIndex { $0 != 0x0A && $0 != 0x0D }.map { note[...$0] } ?? []
  }
}
