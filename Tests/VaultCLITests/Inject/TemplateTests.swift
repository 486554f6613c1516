import Testing
import VaultBytes
import VaultModel
import VaultWire

@testable import VaultCLI

/// Copies the bytes of a buffer, for a test that holds no secret.
func plain(_ buffer: borrowing SecretBuffer) -> [UInt8] {
  buffer.withBytes { bytes in
    let bytes = Span<UInt8>(_bytes: bytes)
    return bytes.indices.map { bytes[$0] }
  }
}

func template(_ text: String) throws(Template.Fault) -> Template {
  try Template(SecretBuffer(copying: unsafe Array(text.utf8).span.bytes))
}

/// Makes the fetched items with these values, all of version 1.
func fetched(_ values: [String: [UInt8]]) throws -> FetchedItems {
  var items = FetchedItems()
  for (name, value) in values { items.add(try ItemReference(parsing: name), version: 1, unsafe value.span.bytes) }
  return items
}

@Suite("Templates") struct TemplateTests {
  private func render(_ text: String, _ values: [String: [UInt8]]) throws -> [UInt8] {
    plain(try Rendering(try template(text), try fetched(values), name: "t").bytes)
  }

  @Test(
    "values stand where they are asked for, and all else as it is",
    arguments: [
      (#"{{ vault "a" }}"#, "x"), (#"{{vault "a"}}"#, "x"), ("{{\n\tvault\r\n \"a\" }}", "x"),
      (#"[{{ vault "a" }}, {{ vault "a" }}]"#, "[x, x]"), (#"{{ vault "a" | field "f" }}"#, "y"),
      (#"{{ vault "a"|field "f"|json }}"#, #""y""#), (#"{{ "{{" }} }}"#, "{{ }}"), (#"{{ "\"\\" }}"#, #""\"#),
      ("", ""), ("{ }} {", "{ }} {"), (#"{{{ "{{" }}"#, "!"), (#"{"k": {{ vault "a" | json }}}"#, #"{"k": "x"}"#),
      (#"{{ vault "a" | base64 }}"#, "eA=="), (#"{{ vault "a" | base64 | json }}"#, #""eA==""#),
      (#"{{ vault "a" }}{{ vault "a" }}"#, "xx"), (#"{{ "}}" }}"#, "}}"), (#"{{ vault "a#b" }}"#, "z"),
    ])
  func renders(text: String, result: String) throws {
    let values = ["a": "x", "a#f": "y", "a#b#value": "z"].mapValues { Array($0.utf8) }
    if result == "!" {
      #expect(throws: Template.Fault.self) { _ = try template(text) }
    } else {
      #expect(try render(text, values) == Array(result.utf8))
    }
  }

  @Test(
    "what is no template is refused at its line and column",
    arguments: [
      ("{{", 1, 1), ("a\nbc{{ vault \"a\"", 2, 3), ("{{ }}", 1, 4), ("{{ valt \"a\" }}", 1, 4),
      ("{{ vault a }}", 1, 10), ("{{ vault \"a }}", 1, 10), ("{{ vault \"a\n\" }}", 1, 10),
      ("{{ vault \"a\"b\" }}", 1, 13),
      ("{{ vault \"a\" \"b\" }}", 1, 14), ("{{ vault \"a\" | }}", 1, 16), ("{{ vault \"a\" | xml }}", 1, 16),
      ("{{ vault \"a\" | json | field \"f\" }}", 1, 23), ("{{ vault \"a\" | field }}", 1, 22),
      ("{{ vault \"\" }}", 1, 10), ("{{ vault \"/a\" }}", 1, 10), ("{{ vault \"a\\n\" }}", 1, 12),
      ("{{- vault \"a\" }}", 1, 3), ("é{{ vault \"a\" }", 1, 15), ("{{ \"a\" | json }}", 1, 8),
      ("{{ vault \"a\" }} {{", 1, 17),
      ("{{ {{ vault \"a\" }} }}", 1, 4), ("{{ vault", 1, 1), ("{{ vault \"a\" | json", 1, 1),
    ])
  func refuses(text: String, line: Int, column: Int) {
    let fault = #expect(throws: Template.Fault.self) { _ = try template(text) }
    #expect(fault?.position == Template.Position(line: line, column: column), "\(text): \(fault as Any)")
  }

  @Test("text in UTF-16 is refused by name") func utf16() {
    let text = #"pin: {{ vault "a" }}"#
    var (little, big): ([UInt8], [UInt8]) = ([], [])
    for byte in text.utf8 {
      little += [byte, 0]
      big += [0, byte]
    }
    for bytes in [little, big, [0xFF, 0xFE] + little, [0xFE, 0xFF] + big] as [[UInt8]] {
      #expect(
        throws: Template.Fault(position: .init(line: 1, column: 1), reason: "it is text in UTF-16; save it as UTF-8")
      ) {
        _ = try Template(unsafe SecretBuffer(copying: bytes.span.bytes))
      }
    }
  }

  @Test("the position of each action is its own") func positions() throws {
    let template = try template("{{ vault \"a\" }}\né {{ vault \"b\" }} {{ vault \"c\" }}\n\n {{ vault \"d\" }}")
    let found = template.actions.map { "\($0.position.line):\($0.position.column)" }
    #expect(found == ["1:1", "2:3", "2:19", "4:2"])
  }

  @Test("each escape makes a whole of its kind", arguments: Escape.allCases)
  func escapes(escape: Escape) throws {
    let text = "it's \"x\" \\ \u{1}\t\r\n\u{7F}\u{85}é\u{2028}\u{FEFF}🔑{{"
    let expected: [Escape: String] = [
      .json: #""it's \"x\" \\ \u0001\t\r\n"# + "\u{7F}\u{85}é\u{2028}\u{FEFF}🔑{{\"",
      .shell: #"'it'\''s "x" \ "# + "\u{1}\t\r\n\u{7F}\u{85}é\u{2028}\u{FEFF}🔑{{'",
      .base64: "aXQncyAieCIgXCABCQ0Kf8KFw6nigKjvu7/wn5SRe3s=",
      .yaml: #""it's \"x\" \\ \u0001\t\r\n\u007f\u0085é\u2028\ufeff🔑{{""#,
    ]
    let result = try render("<{{ vault \"a\" | \(escape.rawValue) }}>", ["a": Array(text.utf8)])
    #expect(String(decoding: result, as: UTF8.self) == "<\(try #require(expected[escape]))>")
    #expect(try render("{{ vault \"a\" | \(escape.rawValue) }}", ["a": []]).isEmpty == (escape == .base64))
  }

  @Test("a value that has no such form is refused, and said where") func noForm() throws {
    for (escape, value) in [("json", [0xFF]), ("yaml", [0xC3]), ("shell", [0x61, 0])] as [(String, [UInt8])] {
      let failure = #expect(throws: Failure.self) {
        _ = try render("\n {{ vault \"a\" | \(escape) }}", ["a": value])
      }
      #expect(failure?.exit == .invalid && failure?.event.hasPrefix("t:2:2: `a` cannot be used there: ") == true)
    }
    #expect(try render("{{ vault \"a\" }}", ["a": [0xFF, 0]]) == [0xFF, 0])
  }

  @Test("forms of forms are refused before they fill the memory") func nested() throws {
    let text = "{{ vault \"a\"" + String(repeating: " | json", count: 40) + " }}"
    let error = #expect(throws: Failure.self) { try render(text, ["a": Array("\"".utf8)]) }
    #expect(error?.message.contains("it becomes more than") == true)
  }

  @Test("any text, quoted, is a template that gives the text") func quoted() throws {
    for _ in 0..<2000 {
      let text = (0..<Int.random(in: 0...12)).map { _ in Array("{{{}\"a\\ ".utf8).randomElement() ?? 0 }
      let isBeforeAction = Bool.random()
      var source = SecretBuffer()
      Template.quote(unsafe text.span.bytes, isBeforeAction: isBeforeAction, into: &source)
      if isBeforeAction { source.append(utf8: #"{{ vault "a" }}"#) }
      let rendering = try Rendering(try Template(source), try fetched(["a": Array("!".utf8)]), name: "t")
      #expect(plain(rendering.bytes) == text + (isBeforeAction ? [0x21] : []))
    }
  }

  @Test("any cut or flipped bit of a template is read or refused within it") func cuts() {
    let text = Array("a {{ vault \"b\" | field \"c\" | json }}\n{{ \"{{\" }} é {{vault \"d\"|yaml|base64}}".utf8)
    func check(_ bytes: [UInt8]) {
      do throws(Template.Fault) { _ = try Template(SecretBuffer(copying: unsafe bytes.span.bytes)) } catch {
        #expect(error.position.line >= 1 && error.position.column <= bytes.count + 1 && !error.reason.isEmpty)
      }
    }
    for count in 0...text.count { check(Array(text[..<count])) }
    for index in text.indices {
      for bit in 0..<8 {
        var other = text
        other[index] ^= 1 << UInt8(bit)
        check(other)
      }
    }
  }
}
