internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultModel

/// An edit of one setting in `vaultd.conf`, which keeps every other line as it is.
struct SettingEdit {
  let path: String

  /// The largest file that the daemon reads, in bytes.
  private static let largest = 64 << 10

  init(_ path: String) { self.path = path }

  /// The value of a setting; nil if it is not set.
  func value(of key: String) -> String? {
    guard let text = FileInput.text(of: path) else { return nil }
    return Self.lines(text).lazy.compactMap { Self.value(of: key, in: $0) }.first
  }

  /// Gives a setting another value; nil removes it. A file of which nothing is left is removed.
  func set(_ key: String, to value: String?) throws(Failure) {
    let isThere = FileState(path).exists
    var text = ""
    if isThere {
      let content = try FileInput.readRegularFile(path, limit: Self.largest)
      guard let read = content.withBytes({ bytes in Self.text(bytes) }) else {
        throw Failure(.invalid, "\(Printable.quoted(path)) is not text", "correct it")
      }
      text = read
    }
    let new = Self.edited(text, key, value)
    guard new != text || !isThere && value != nil else { return }
    if new.isEmpty {
      guard unsafe unlink(path) == 0 || errno == ENOENT else { throw NewFile.failure("remove \(path)", errno) }
      return
    }
    var mode: mode_t = 0o600
    if case .there(_, _, let bits, _) = FileState(path) { mode = bits & 0o777 }
    let file = try NewFile(path, replaces: true, mode: mode, isOfVault: true)
    try file.write(unsafe new.utf8.span.bytes)
    try file.finish()
  }

  private static func text(_ bytes: RawSpan) -> String? {
    let bytes = Span<UInt8>(_bytes: bytes)
    return String(validating: bytes.indices.map { bytes[$0] }, as: UTF8.self)
  }

  /// The text with another value of a setting. A new setting takes its place below the commented-out line that shows
  /// its default, if there is one, and otherwise at the end.
  static func edited(_ text: String, _ key: String, _ value: String?) -> String {
    var lines = lines(text)
    let line = value.map { "\(key) = \($0)" }
    if let index = lines.firstIndex(where: { Self.value(of: key, in: $0) != nil }) {
      let ending = Self.ending(of: lines[index])
      if let line {
        lines[index] = line + ending
      } else {
        lines.remove(at: index)
        // If the removed line was the last one and had no line break, the new last line gets none either.
        if ending.isEmpty, let last = lines.popLast() { lines.append(String(last.dropLast())) }
      }
      return lines.joined()
    }
    guard let line else { return text }
    let shown = lines.firstIndex { $0.hasPrefix("#") && Self.value(of: key, in: String($0.dropFirst())) != nil }
    let ending = lines.first.map { Self.ending(of: $0) } ?? "\n"
    let usual = ending.isEmpty ? "\n" : ending
    let place = shown.map { $0 + 1 } ?? lines.count
    if place == lines.count, let last = lines.last, Self.ending(of: last).isEmpty {
      lines[place - 1] += usual
      lines.append(line)
    } else {
      lines.insert(line + usual, at: place)
    }
    return lines.joined()
  }

  /// The lines of a text with their ends.
  private static func lines(_ text: String) -> [String] {
    var lines: [String] = []
    var line = ""
    for character in text {
      line.append(character)
      guard character.isNewline else { continue }
      lines.append(line)
      line = ""
    }
    return line.isEmpty ? lines : lines + [line]
  }

  private static func ending(of line: String) -> String { line.last.map { $0.isNewline ? String($0) : "" } ?? "" }

  private static func value(of key: String, in line: String) -> String? {
    var value: String?
    // One line at a time, so that another line that is wrong does not matter.
    try? SettingLines.read(line) { name, text in
      if name == key { value = text }
      return nil
    }
    return value
  }
}

/// Folders that are made for a file, and removed when nothing is in them.
enum Folders {
  /// The folders on the way to a file that do not exist, from the outermost on.
  static func missing(for file: String) -> [String] {
    var missing: [String] = []
    var path = file
    while let slash = path.lastIndex(of: "/"), slash > path.startIndex {
      path = String(path[..<slash])
      guard !FileState(path).exists else { break }
      missing.insert(path, at: 0)
    }
    return missing
  }

  static func make(_ path: String) throws(Failure) {
    guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else { throw NewFile.failure("make \(path)", errno) }
  }

  /// Removes an empty folder; false if it stays.
  static func remove(_ path: String) -> Bool { unsafe rmdir(path) == 0 }
}
