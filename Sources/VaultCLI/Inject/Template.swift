internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// A text with places into which items are inserted.
///
///     template = { text | "{{" blanks ( value | string ) blanks "}}" }
///     value    = "vault" blanks string { blanks "|" blanks function }
///     function = "field" blanks string | "json" | "shell" | "base64" | "yaml"
///     string   = '"' { character | '\"' | '\\' } '"'
///
/// Blanks are spaces, tabs and line breaks; between two words there must be at least one. A string without `vault`
/// stands for itself, so that `{{ "{{" }}` gives two braces. Text outside the braces is copied byte for byte.
struct Template: ~Copyable {
  /// The most bytes of a template.
  static let limit = 4 << 20

  /// A place for a value.
  struct Action: Equatable {
    let item: ItemReference
    /// The forms of the value, applied one after the other.
    let escapes: [Escape]
    /// The place of the action in the template, with its braces.
    let place: Range<Int>
    let position: Position
  }

  enum Piece: Equatable {
    /// A part of the template that is copied as it is.
    case text(Range<Int>)
    case string([UInt8])
    case action(Action)
  }

  /// A line and a column, both counted from 1. The column counts characters.
  struct Position: Equatable {
    let line: Int
    let column: Int

    /// The place in a template, as errors name it.
    ///
    /// - Parameter name: the name of the template's file, or words for it, such as `standard input`.
    func text(in name: String) -> String { "\(Printable.text(name)):\(line):\(column)" }
  }

  /// The reason why a text is not a template.
  struct Fault: Error, Equatable {
    let position: Position
    let reason: String
  }

  let source: SecretBuffer
  let pieces: [Piece]

  init(_ source: consuming SecretBuffer) throws(Fault) {
    pieces = try source.withBytes { bytes throws(Fault) in
      var parser = TemplateParser()
      return try parser.parse(Span<UInt8>(_bytes: bytes))
    }
    self.source = source
  }

  /// The places for values.
  var actions: [Action] {
    pieces.compactMap { piece in
      if case .action(let action) = piece { action } else { nil }
    }
  }

  /// Appends the template text that stands for `text`: its braces begin no action.
  ///
  /// - Parameter isBeforeAction: true if an action follows. A brace at the end of the text would otherwise combine with
  ///   the braces of that action.
  static func quote(_ text: RawSpan, isBeforeAction: Bool, into source: inout SecretBuffer) {
    let bytes = Span<UInt8>(_bytes: text)
    let brace = UInt8(ascii: "{")
    var at = 0
    while at < bytes.count {
      let isLast = at + 1 == bytes.count
      if bytes[at] == brace, !isLast, bytes[at + 1] == brace {
        source.append("{{ \"{{\" }}" as StaticString)
        at += 2
        continue
      }
      if bytes[at] == brace, isLast, isBeforeAction {
        source.append("{{ \"{\" }}" as StaticString)
      } else {
        source.append(bytes[at])
      }
      at += 1
    }
  }
}

extension Span<UInt8> {
  /// Returns the line and column of an offset.
  func position(of offset: Int) -> Template.Position {
    var (line, column) = (1, 1)
    for index in 0..<Swift.min(offset, count) {
      if self[index] == 0x0A {
        (line, column) = (line + 1, 1)
      } else if self[index] & 0xC0 != 0x80 {
        column += 1
      }
    }
    return Template.Position(line: line, column: column)
  }
}
