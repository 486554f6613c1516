internal import VaultModel

/// The parser of a ``Template``.
struct TemplateParser {
  private static let brace = UInt8(ascii: "{")
  private static let endBrace = UInt8(ascii: "}")
  private static let quote = UInt8(ascii: "\"")
  private static let backslash = UInt8(ascii: "\\")

  private var at = 0
  /// The offset whose position was counted last, so that all positions together take one pass.
  private var counted = 0
  private var position = Template.Position(line: 1, column: 1)

  mutating func parse(_ text: Span<UInt8>) throws(Template.Fault) -> [Template.Piece] {
    if Self.isUTF16(text) { throw fault(text, 0, "it is text in UTF-16; save it as UTF-8") }
    var pieces: [Template.Piece] = []
    var start = 0
    while let found = Self.braces(in: text, from: start) {
      if found > start { pieces.append(.text(start..<found)) }
      at = found
      pieces.append(try action(text))
      start = at
    }
    if start < text.count { pieces.append(.text(start..<text.count)) }
    return pieces
  }

  /// Returns true for text that begins with a byte order mark of UTF-16, or that has two braces in UTF-16.
  private static func isUTF16(_ text: Span<UInt8>) -> Bool {
    guard text.count >= 2 else { return false }
    if text[0] == 0xFF && text[1] == 0xFE || text[0] == 0xFE && text[1] == 0xFF { return true }
    return (0..<text.count - 2).contains { text[$0] == brace && text[$0 + 1] == 0 && text[$0 + 2] == brace }
  }

  private static func braces(in text: Span<UInt8>, from start: Int) -> Int? {
    var at = start
    while at + 1 < text.count {
      if text[at] == brace, text[at + 1] == brace { return at }
      at += 1
    }
    return nil
  }

  private mutating func action(_ text: Span<UInt8>) throws(Template.Fault) -> Template.Piece {
    let start = at
    at += 2
    skipBlanks(text)
    guard at < text.count else { throw unended(text, start) }
    if text[at] == Self.quote {
      let string = try string(text, start)
      try end(text, start, or: nil)
      return .string(string)
    }
    let wordStart = at
    let word = word(text)
    guard word == "vault" else {
      throw fault(
        text, wordStart,
        word.isEmpty
          ? "an action begins with vault or with text in quotes"
          : "there is no action \(Printable.quoted(word)); the only one is vault"
      )
    }
    let name = try name(text, start)
    return .action(try value(text, start, name))
  }

  /// Parses the rest of an action after the name of its item.
  private mutating func value(
    _ text: Span<UInt8>, _ start: Int, _ name: ItemName
  ) throws(Template.Fault) -> Template.Action {
    var field: String?
    var escapes: [Escape] = []
    while true {
      skipBlanks(text)
      guard at < text.count, text[at] == UInt8(ascii: "|") else { break }
      at += 1
      skipBlanks(text)
      let wordStart = at
      let word = word(text)
      if word == "field" {
        guard field == nil, escapes.isEmpty else {
          throw fault(text, wordStart, "field may be given once, directly after the item")
        }
        field = try self.text(text, start)
        if field == "" { throw fault(text, at - 2, "the field needs a name") }
      } else if let escape = Escape(rawValue: word) {
        escapes.append(escape)
      } else if at == text.count {
        throw unended(text, start)
      } else {
        let what = word.isEmpty ? "a function is missing" : "there is no function \(Printable.quoted(word))"
        throw fault(text, wordStart, "\(what); the functions are field, \(Escape.names)")
      }
    }
    try end(text, start, or: "| or ")
    return Template.Action(
      item: ItemReference(name, field: field), escapes: escapes, place: start..<at,
      position: position(text, start))
  }

  private mutating func end(_ text: Span<UInt8>, _ start: Int, or other: String?) throws(Template.Fault) {
    skipBlanks(text)
    guard at < text.count else { throw unended(text, start) }
    guard text[at] == Self.endBrace, at + 1 < text.count, text[at + 1] == Self.endBrace else {
      throw fault(text, at, "\(other ?? "")}} is expected here")
    }
    at += 2
  }

  private mutating func name(_ text: Span<UInt8>, _ start: Int) throws(Template.Fault) -> ItemName {
    skipBlanks(text)
    let begin = at
    let name = try self.text(text, start)
    do throws(NameError) { return try ItemName(name) } catch {
      throw fault(text, begin, "that is not the name of an item: \(error.reason)")
    }
  }

  /// Skips blanks, and parses a string that must be UTF-8.
  private mutating func text(_ text: Span<UInt8>, _ start: Int) throws(Template.Fault) -> String {
    skipBlanks(text)
    let begin = at
    guard at < text.count else { throw unended(text, start) }
    guard text[at] == Self.quote else { throw fault(text, at, "a name in quotes is expected here") }
    guard let string = String(validating: try string(text, start), as: UTF8.self) else {
      throw fault(text, begin, "it is not UTF-8")
    }
    return string
  }

  private mutating func string(_ text: Span<UInt8>, _ start: Int) throws(Template.Fault) -> [UInt8] {
    let begin = at
    var string: [UInt8] = []
    at += 1
    while at < text.count, text[at] != Self.quote {
      if text[at] == 0x0A { throw fault(text, begin, "the quote is not closed on its line") }
      if text[at] == Self.backslash {
        at += 1
        guard at < text.count else { break }
        guard text[at] == Self.quote || text[at] == Self.backslash else {
          throw fault(text, at - 1, "a backslash may only stand before a quote or another backslash")
        }
      }
      string.append(text[at])
      at += 1
    }
    guard at < text.count else { throw fault(text, begin, "the quote is not closed") }
    at += 1
    return string
  }

  private mutating func word(_ text: Span<UInt8>) -> String {
    var word: [UInt8] = []
    while at < text.count, VariableName.isPart(text[at]) {
      word.append(text[at])
      at += 1
    }
    return String(decoding: word, as: UTF8.self)
  }

  private mutating func skipBlanks(_ text: Span<UInt8>) {
    while at < text.count, [0x20, 0x09, 0x0A, 0x0D].contains(text[at]) { at += 1 }
  }

  private func unended(_ text: Span<UInt8>, _ start: Int) -> Template.Fault {
    fault(text, start, "the action does not end with }}")
  }

  private func fault(_ text: Span<UInt8>, _ place: Int, _ reason: String) -> Template.Fault {
    Template.Fault(position: text.position(of: place), reason: reason)
  }

  /// Returns the position of an offset that is not before the last requested one.
  private mutating func position(_ text: Span<UInt8>, _ place: Int) -> Template.Position {
    let more = text.extracting(counted..<place).position(of: place - counted)
    let column = more.line == 1 ? position.column + more.column - 1 : more.column
    position = Template.Position(line: position.line + more.line - 1, column: column)
    counted = place
    return position
  }
}
