internal import VaultWire

/// The lines of a text with one-time secrets: a URI in each, besides blank lines and comments after `#`.
struct OneTimeLines {
  /// The largest text in bytes, and the most entries. Real exports have some hundred lines.
  private static let most = (bytes: 4 << 20, entries: 1 << 16)

  private(set) var entries: [Entry] = []
  private(set) var parts = MigrationParts()

  /// Reads the text.
  init(_ file: Source.File) throws(ImportFailure) {
    guard file.bytes.count <= Self.most.bytes else {
      throw ImportFailure(.tooLarge, "a list of one-time secrets has at most 4 MiB")
    }
    var (rest, number) = (file.bytes[...], 0)
    while !rest.isEmpty {
      let line = rest.prefix { $0 != 0x0A }
      rest = rest.dropFirst(line.count + 1)
      number += 1
      guard let content = Self.content(line) else { continue }
      do { try read(content) } catch { throw ImportFailure(error.code, "line \(number): \(error.reason)") }
      guard entries.count <= Self.most.entries else {
        throw ImportFailure(.tooLarge, "the list has more than \(Self.most.entries) one-time secrets")
      }
    }
  }

  /// Decides whether the first line with content begins with `prefix`.
  static func begins(_ file: Source.File, with prefix: String) -> Bool {
    let start = file.bytes.prefix(64 << 10).split(separator: 0x0A).lazy.compactMap(content).first
    return start.map { AuthURI.hasPrefix($0, prefix) } ?? false
  }

  private mutating func read(_ line: ArraySlice<UInt8>) throws(ImportFailure) {
    if AuthURI.hasPrefix(line, MigrationPart.prefix) {
      let part = try MigrationPart(line)
      if parts.insert(part) { entries += part.accounts.map(\.entry) }
      return
    }
    guard let text = String(validating: line, as: UTF8.self) else { throw ImportFailure(.damaged, "it is not UTF-8") }
    guard AuthURI.hasPrefix(line, "otpauth://") || AuthURI.hasPrefix(line, "steam://") else {
      throw ImportFailure(.damaged, "it is neither an otpauth URI nor a comment after '#'")
    }
    let uri = OneTimeText.uri(text, account: "")
    var entry = Entry(.oneTime, title: AuthURI(uri ?? text)?.title ?? "")
    entry.put("otpauth", .oneTime, uri ?? text)
    entries.append(entry)
  }

  /// The line without a byte order mark and blanks around it; nil if nothing is left, or a comment.
  private static func content(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0D].contains(byte) }
    let line = (line.starts(with: [0xEF, 0xBB, 0xBF]) ? line.dropFirst(3) : line).drop(while: isBlank)
    guard let last = line.lastIndex(where: { !isBlank($0) }), line.first != UInt8(ascii: "#") else { return nil }
    return line[...last]
  }
}
