internal import VaultWire

/// A file of sections with options, in the grammar of Python's `configparser.RawConfigParser`, with which twine and the
/// AWS command line read theirs: `[section]`, `option = value` or `option: value`, comments in lines that begin with
/// `#` or `;`, and lines that are indented more than the option to continue its value.
struct SectionFile {
  struct Option {
    /// The name in lower case.
    let name: String
    var value: [UInt8]
    let line: Int
  }

  struct Section {
    let name: String
    var options: [Option] = []

    /// The value of the first option of the name.
    func value(_ name: String) -> [UInt8]? { options.first { $0.name == name }?.value }
  }

  private(set) var sections: [Section] = []
  /// The bytes of all comments.
  private(set) var comments = 0
  /// The room for the names of options, which contain those of their sections.
  private var names = NameRoom()
  /// The indentation of the option that may go on.
  private var indentation: Int?
  /// The empty lines in the value, which belong to it if it goes on.
  private var emptyLines = 0

  init(_ lines: TextLines) throws(ImportFailure) {
    for line in lines { try take(line) }
  }

  private mutating func take(_ line: TextLines.Line) throws(ImportFailure) {
    let content = line.trimmed
    guard let first = content.first else {
      emptyLines += 1
      return
    }
    if first == UInt8(ascii: "#") || first == UInt8(ascii: ";") {
      comments += content.count
      return
    }
    let depth = content.startIndex - line.bytes.startIndex
    if let indentation, depth > indentation, let section = sections.indices.last,
      let option = sections[section].options.indices.last
    {
      sections[section].options[option].value += Array(repeating: 0x0A, count: emptyLines + 1) + content
      emptyLines = 0
      return
    }
    emptyLines = 0
    if first == UInt8(ascii: "["), let end = content.lastIndex(of: UInt8(ascii: "]")), end > content.startIndex + 1 {
      sections.append(Section(name: content[content.index(after: content.startIndex)..<end].trimmed.text))
      indentation = nil
      return
    }
    guard !sections.isEmpty else { throw damaged(line, "it belongs to no section") }
    guard let mark = content.firstIndex(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ":") }) else {
      throw damaged(line, "it has no = after an option")
    }
    let name = content[..<mark].trimmed.text.lowercased()
    guard !name.isEmpty else { throw damaged(line, "it has no option before the =") }
    try names.take(sections[sections.count - 1].name.utf8.count + name.utf8.count)
    sections[sections.count - 1].options.append(
      Option(name: name, value: Array(content[(mark + 1)...].trimmed), line: line.number))
    indentation = depth
  }

  private func damaged(_ line: TextLines.Line, _ reason: String) -> ImportFailure {
    ImportFailure(.damaged, "line \(line.number): \(reason)")
  }
}
