internal import CLinux
internal import Glibc
internal import VaultBytes
internal import VaultModel
internal import VaultProcess

/// The content of a place in the file system, as far as a change of it can be undone.
enum PlaceContent: Equatable {
  case missing
  case file(String)
  case link(to: String)
  /// Something else, such as a folder, or a file that is too large or is not text. It stays.
  case other

  /// The largest file whose content is remembered, in bytes.
  private static let largest = 64 << 10

  init(of path: String) {
    switch FileState(path) {
    case .missing: self = .missing
    case .there(.link, _, _, _): self = SymbolicLink.target(of: path).map { .link(to: $0) } ?? .other
    case .there(.file, _, _, _):
      let content = try? FileInput.readRegularFile(path, limit: Self.largest)
      self = .other
      if let text = content?.withBytes({ bytes in Self.text(bytes) }) ?? nil { self = .file(text) }
    case .there, .hidden: self = .other
    }
  }

  private static func text(_ bytes: RawSpan) -> String? {
    let bytes = Span<UInt8>(_bytes: bytes)
    return String(validating: bytes.indices.map { bytes[$0] }, as: UTF8.self)
  }

  /// The mode of a file that vault makes.
  static let usualMode: mode_t = 0o644

  /// The mode of the file at a path; nil if no file is there.
  static func mode(of path: String) -> mode_t? {
    if case .there(.file, _, let bits, _) = FileState(path) { return bits & 0o777 }
    return nil
  }

  /// True for a file that vault has made, whatever somebody has added to it.
  var isOwn: Bool {
    guard case .file(let text) = self else { return false }
    return text.split(separator: "\n").contains(DesktopFiles.mark[...])
  }

  /// Puts this content at a path. What was there is replaced in one step, or not at all.
  func put(at path: String, mode: mode_t = usualMode) throws(Failure) {
    switch self {
    case .missing:
      guard unsafe unlink(path) == 0 || errno == ENOENT else { throw NewFile.failure("remove \(path)", errno) }
    case .file(let text):
      let part = Self.part(of: path)
      let file = try NewFile(part, replaces: false, mode: mode)
      try file.write(unsafe text.utf8.span.bytes)
      try file.finish()
      try Self.name(part, path)
    case .link(let target):
      let part = Self.part(of: path)
      guard unsafe symlink(target, part) == 0 else { throw NewFile.failure("make \(path)", errno) }
      try Self.name(part, path)
    case .other: break
    }
  }

  private static func part(of path: String) -> String { "\(path).vault-\(NewFile.randomCharacters())" }

  /// Gives a new file its final name. Whatever has that name is replaced, even a link, which is not followed.
  private static func name(_ part: String, _ path: String) throws(Failure) {
    guard unsafe rename(part, path) != 0 else { return }
    let code = errno
    unsafe unlink(part)
    throw NewFile.failure("name \(path)", code)
  }

  // MARK: The record

  /// The content as one word of the record.
  var word: String {
    switch self {
    case .missing: "missing"
    case .file(let text): "file:" + Self.escape(text)
    case .link(let target): "link:" + Self.escape(target)
    case .other: "other"
    }
  }

  /// Reads a word of the record; nil if it is not one.
  init?(word: Substring) {
    switch word {
    case "missing": self = .missing
    default:
      guard let colon = word.firstIndex(of: ":"), let text = Self.unescape(word[word.index(after: colon)...]) else {
        return nil
      }
      switch word[..<colon] {
      case "file": self = .file(text)
      case "link": self = .link(to: text)
      default: return nil
      }
    }
  }

  /// Writes each byte that is no visible ASCII character, and the percent sign, in hexadecimal.
  static func escape(_ text: String) -> String {
    PercentEscape.escaped(text) { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "%") }
  }

  static func unescape(_ text: Substring) -> String? {
    PercentEscape.strictBytes(text).flatMap { String(validating: $0, as: UTF8.self) }
  }
}
