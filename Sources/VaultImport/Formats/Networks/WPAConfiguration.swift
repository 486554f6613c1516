internal import VaultBytes
internal import VaultWire

/// The lines of a `wpa_supplicant.conf` (wpa_supplicant.conf(5), wpa_supplicant/config_file.c in hostap).
struct WPAConfiguration {
  struct Pair {
    let name: String
    /// The value as it is written, with its quotes.
    let raw: ArraySlice<UInt8>
  }

  /// A block such as `network={`.
  struct Block {
    let name: String
    let line: Int
    var pairs: [Pair] = []
    /// The lines of a blob.
    var text: [UInt8] = []
  }

  private(set) var globals: [Pair] = []
  private(set) var blocks: [Block] = []

  init(_ bytes: [UInt8]) throws(ImportFailure) {
    try Keyfile.check(bytes)
    var (open, count, names): (Block?, Int, NameRoom) = (nil, 0, NameRoom())
    for (number, whole) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
      let line = Self.content(whole)
      guard !line.isEmpty else {
        if let block = open, let pair = Self.comment(whole) {
          try names.take(block.name.utf8.count + pair.name.utf8.count)
          open?.pairs.append(pair)
        }
        continue
      }
      count += 1
      guard count <= Keyfile.most.lines else {
        throw ImportFailure(.tooLarge, "there are more than \(Keyfile.most.lines) lines")
      }
      if let name = open?.name {
        if line.elementsEqual("}".utf8) {
          if let block = open { blocks.append(block) }
          open = nil
        } else if name.hasPrefix("blob-") {
          open?.text += line
        } else {
          let pair = try Self.pair(line, number + 1)
          try names.take(name.utf8.count + pair.name.utf8.count)
          open?.pairs.append(pair)
        }
      } else if line.last == UInt8(ascii: "{"), let sign = line.firstIndex(of: UInt8(ascii: "=")) {
        open = Block(name: String(decoding: Keyfile.trimmed(line[..<sign]), as: UTF8.self), line: number + 1)
      } else {
        globals.append(try Self.pair(line, number + 1))
      }
    }
    guard open == nil else { throw ImportFailure(.damaged, "the block at line \(open?.line ?? 0) does not end") }
  }

  private static func pair(_ line: ArraySlice<UInt8>, _ number: Int) throws(ImportFailure) -> Pair {
    guard let sign = line.firstIndex(of: UInt8(ascii: "=")), sign > line.startIndex else {
      throw ImportFailure(.damaged, "line \(number) is no name with a value")
    }
    return Pair(
      name: String(decoding: Keyfile.trimmed(line[..<sign]), as: UTF8.self), raw: Keyfile.trimmed(line[(sign + 1)...]))
  }

  /// The line without blanks around it and without its comment, which begins behind the last quote.
  private static func content(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let line = Keyfile.trimmed(line)
    guard line.first != UInt8(ascii: "#") else { return [] }
    let start = line.lastIndex(of: UInt8(ascii: "\"")) ?? line.startIndex
    guard let comment = line[start...].firstIndex(of: UInt8(ascii: "#")) else { return line }
    return Keyfile.trimmed(line[..<comment])
  }

  /// The passphrase that wpa_passphrase(8) leaves in a comment above the key that it makes.
  private static func comment(_ line: ArraySlice<UInt8>) -> Pair? {
    let line = Keyfile.trimmed(line)
    guard line.starts(with: "#psk=\"".utf8) else { return nil }
    return Pair(name: "#psk", raw: line.dropFirst(5))
  }
}

extension WPAConfiguration.Pair {
  /// True if another program keeps the value (`ext:NAME`).
  var isElsewhere: Bool { raw.starts(with: "ext:".utf8) }

  var text: String { String(decoding: raw, as: UTF8.self) }

  /// The value of a text (wpa_config_parse_string): between quotes, with escapes after a `P`, or in hexadecimal digits;
  /// nil for any other one.
  var string: [UInt8]? {
    if let quoted = Self.quoted(raw) { return Array(quoted) }
    if raw.first == UInt8(ascii: "P"), let quoted = Self.quoted(raw.dropFirst()) { return Self.unescaped(quoted) }
    return [UInt8](hex: text)
  }

  var isQuoted: Bool { Self.quoted(raw) != nil }

  private static func quoted(_ raw: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard raw.count >= 2, raw.first == UInt8(ascii: "\""), raw.last == UInt8(ascii: "\"") else { return nil }
    return raw.dropFirst().dropLast()
  }

  /// The bytes of a text with the escapes of printf(3) (printf_decode in src/utils/common.c).
  private static func unescaped(_ raw: ArraySlice<UInt8>) -> [UInt8] {
    var value: [UInt8] = []
    var rest = raw
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\"), let escape = rest.popFirst() else {
        value.append(byte)
        continue
      }
      switch escape {
      case UInt8(ascii: "n"): value.append(0x0A)
      case UInt8(ascii: "r"): value.append(0x0D)
      case UInt8(ascii: "t"): value.append(0x09)
      case UInt8(ascii: "e"): value.append(0x1B)
      case UInt8(ascii: "x"):
        let digits = rest.prefix(2).prefix { Self.digit($0, base: 16) != nil }
        value.append(digits.reduce(0) { $0 << 4 | (Self.digit($1, base: 16) ?? 0) })
        rest = rest.dropFirst(digits.count)
      case UInt8(ascii: "0")...UInt8(ascii: "7"):
        let digits = ([escape] + rest.prefix(2)).prefix { Self.digit($0, base: 8) != nil }
        value.append(digits.reduce(0) { $0 << 3 | (Self.digit($1, base: 8) ?? 0) })
        rest = rest.dropFirst(digits.count - 1)
      default: value.append(escape)
      }
    }
    return value
  }

  private static func digit(_ byte: UInt8, base: Int) -> UInt8? {
    UInt8(String(UnicodeScalar(byte)), radix: base)
  }
}
