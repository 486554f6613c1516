/// The words, signs and comments of a definition, in order.
struct Tokens {
  private enum Token: Equatable {
    case word(String)
    case comment(Substring)
  }

  // The remaining tokens in reverse order, so that the next one is the last.
  private var rest: [Token] = []

  init(_ text: String) throws {
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let code = line.prefix { $0 != "#" }
      try add(code)
      if code.endIndex < line.endIndex { rest.append(.comment(line[code.endIndex...].dropFirst())) }
    }
    rest.reverse()
  }

  private mutating func add(_ line: Substring) throws {
    var line = line
    while let first = line.first {
      let word = line.prefix { $0.isLetter || $0.isNumber || $0 == "." || $0 == "_" }
      if !word.isEmpty {
        rest.append(.word(String(word)))
        line = line[word.endIndex...]
      } else if line.hasPrefix("->") {
        rest.append(.word("->"))
        line = line.dropFirst(2)
      } else {
        if !first.isWhitespace { rest.append(.word(String(first))) }
        line = line.dropFirst()
      }
    }
  }

  var isAtEnd: Bool { !rest.contains { if case .word = $0 { true } else { false } } }

  /// The comment before the next word; empty if there is none.
  mutating func comment() -> Comment {
    var comment = Comment()
    while case .comment(let line)? = rest.last {
      comment.add(line)
      rest.removeLast()
    }
    return comment
  }

  mutating func next() throws -> String {
    _ = comment()
    guard case .word(let word)? = rest.popLast() else { throw Malformed("it ends too early") }
    return word
  }

  mutating func expect(_ word: String) throws {
    let found = try next()
    if found != word { throw Malformed("`\(found)` stands where `\(word)` should") }
  }

  /// Reads a list of fields in parentheses.
  mutating func fields() throws -> [Definition.Field] {
    try expect("(")
    var fields: [Definition.Field] = []
    while true {
      let comment = comment()
      let name = try next()
      if name == ")", fields.isEmpty { return [] }
      try expect(":")
      fields.append(Definition.Field(name: name, kind: try kind(), comment: comment))
      let sign = try next()
      if sign == ")" { return fields }
      if sign != "," { throw Malformed("`\(sign)` stands behind the field `\(name)`") }
    }
  }

  private mutating func kind() throws -> Definition.Kind {
    switch try next() {
    case "?": return .optional(try kind())
    case "[":
      if try next() == "]" { return .array(try kind()) }
      try expect("]")
      try expect("string")
      return .map
    case "string": return .string
    case "int": return .int
    case "bool": return .bool
    case let name where name.first?.isUppercase == true: return .named(name)
    case let other: throw Malformed("`\(other)` is no type")
    }
  }
}
