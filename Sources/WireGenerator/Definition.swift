/// A Varlink interface definition (https://varlink.org/Interface-Definition), as far as the interfaces here use it:
/// everything except enumerations and structs without a name.
///
/// A comment belongs to the declaration after it. Words in it that begin with `@` are marks:
/// see ``Field`` and ``Method``.
struct Definition {
  /// The name of the interface, such as `io.vaultd.Vault`.
  let name: String
  private(set) var types: [Structure] = []
  private(set) var methods: [Method] = []
  private(set) var errors: [Structure] = []

  /// A type, or an error with its parameters.
  struct Structure {
    let name: String
    let comment: Comment
    let fields: [Field]
  }

  struct Field {
    let name: String
    let kind: Kind
    let comment: Comment

    /// True for text that the programs never hold as a `String`. A field named `data` is the base64 form of
    /// the field before it.
    var isSecret: Bool { comment.marks.contains("secret") }
    /// True for Unix time in seconds.
    var isTime: Bool { comment.marks.contains("time") }
  }

  struct Method {
    let name: String
    let comment: Comment
    let parameters: [Field]
    let reply: [Field]

    /// True if prompts come between the replies.
    var isConversation: Bool { reply.prefix(2).map(\.name) == ["conversation", "prompt"] }
    /// True if the method must be called with `more`.
    var streams: Bool { isConversation || comment.marks.contains("more") }
    /// True if the method must be called with `upgrade`.
    var upgrades: Bool { comment.marks.contains("upgrade") }
  }

  indirect enum Kind: Equatable {
    case string, int, bool
    case named(String)
    case optional(Kind)
    case array(Kind)
    /// The type `[string]string`.
    case map
  }

  init(_ text: String) throws {
    var tokens = try Tokens(text)
    _ = tokens.comment()
    try tokens.expect("interface")
    name = try tokens.next()
    while !tokens.isAtEnd {
      let comment = tokens.comment()
      let word = try tokens.next()
      let name = try tokens.next()
      let fields = try tokens.fields()
      switch word {
      case "type": types.append(Structure(name: name, comment: comment, fields: fields))
      case "error": errors.append(Structure(name: name, comment: comment, fields: fields))
      case "method":
        try tokens.expect("->")
        methods.append(Method(name: name, comment: comment, parameters: fields, reply: try tokens.fields()))
      default: throw Malformed("`\(word)` is no type, method or error")
      }
    }
  }
}

/// The comment above a declaration: its lines and the marks in them.
struct Comment {
  var lines: [String] = []
  var marks: Set<String> = []

  /// Adds a line, without its `#`.
  mutating func add(_ line: Substring) {
    var words = line.split(separator: " ", omittingEmptySubsequences: false)
    while let first = words.first, first.isEmpty { words.removeFirst() }
    while let word = words.first, word.hasPrefix("@") {
      marks.insert(String(word.dropFirst()))
      words.removeFirst()
    }
    let text = words.joined(separator: " ")
    if !text.isEmpty || !lines.isEmpty { lines.append(text) }
  }
}

/// The error for a definition that cannot be read.
struct Malformed: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
