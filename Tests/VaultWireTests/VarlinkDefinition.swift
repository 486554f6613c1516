/// A Varlink interface definition, read as https://varlink.org/Interface-Definition describes it, except for enums and
/// for nested structs without a name, which the vault's interface does not use.
struct VarlinkDefinition {
  indirect enum Kind: Hashable {
    case string, int, bool
    case named(String)
    case optional(Kind)
    case array(Kind)
    case map(Kind)
  }

  struct Field: Hashable {
    let name: String
    let kind: Kind
  }

  let name: String
  /// The fields of `type Item` under "Item", those of a method's parameters under "Get.in", those of its reply under
  /// "Get.out".
  private(set) var structs: [String: [Field]] = [:]
  private(set) var errors: [String: [Field]] = [:]
  private(set) var methods: [String] = []

  struct Malformed: Error { let rest: String }

  init(_ text: String) throws {
    var tokens = Tokens(text)
    try tokens.expect("interface")
    name = try tokens.next()
    while let word = tokens.peek {
      try tokens.expect(word)
      let name = try tokens.next()
      switch word {
      case "type": structs[name] = try tokens.fields()
      case "error": errors[name] = try tokens.fields()
      case "method":
        methods.append(name)
        structs[name + ".in"] = try tokens.fields()
        try tokens.expect("->")
        structs[name + ".out"] = try tokens.fields()
      default: throw Malformed(rest: word)
      }
    }
  }

  private struct Tokens {
    private var rest: [String]

    init(_ text: String) {
      rest = []
      for line in text.split(separator: "\n") {
        let code = line.prefix { $0 != "#" }
        var word = ""
        func isWord(_ character: Character) -> Bool {
          character.isLetter || character.isNumber || "._".contains(character)
        }
        for character in code {
          if isWord(character) {
            word.append(character)
            continue
          }
          if !word.isEmpty { rest.append(word) }
          word = ""
          if character == ">", rest.last == "-" {
            rest[rest.count - 1] = "->"
          } else if !character.isWhitespace {
            rest.append(String(character))
          }
        }
        if !word.isEmpty { rest.append(word) }
      }
      rest.reverse()
    }

    var peek: String? { rest.last }

    mutating func next() throws -> String {
      guard let token = rest.popLast() else { throw Malformed(rest: "") }
      return token
    }

    mutating func expect(_ token: String) throws {
      guard try next() == token else { throw Malformed(rest: "no \(token) before \(peek ?? "the end")") }
    }

    mutating func fields() throws -> [Field] {
      try expect("(")
      var fields: [Field] = []
      while peek != ")" {
        if !fields.isEmpty { try expect(",") }
        let name = try next()
        try expect(":")
        fields.append(Field(name: name, kind: try kind()))
      }
      try expect(")")
      return fields
    }

    mutating func kind() throws -> Kind {
      switch try next() {
      case "?": return .optional(try kind())
      case "[":
        if peek == "]" {
          try expect("]")
          return .array(try kind())
        }
        try expect("string")
        try expect("]")
        return .map(try kind())
      case "string": return .string
      case "int": return .int
      case "bool": return .bool
      case let name where name.first?.isUppercase == true: return .named(name)
      case let other: throw Malformed(rest: other)
      }
    }
  }
}
