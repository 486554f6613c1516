import Testing
import VaultWire

@testable import VaultImport

@Suite struct JSONReaderTests {
  private func value(_ text: String, within room: JSONReader.Room = .init()) throws(ImportFailure) -> JSONValue {
    var reader = JSONReader(Array(text.utf8))
    let value = try reader.value(within: room)
    try reader.finish()
    return value
  }

  private func code(_ text: [UInt8]) -> ImportFailure.Code? {
    var reader = JSONReader(text)
    do throws(ImportFailure) {
      try reader.skip()
      try reader.finish()
      return nil
    } catch {
      return error.code
    }
  }

  @Test(
    "A value comes back as it was, without white space and escapes",
    arguments: [
      (#" { "a" : [ 1 , -2.50e+3 , true , false , null ] , "" : { } } "#, #"{"a":[1,-2.50e+3,true,false,null],"":{}}"#),
      (#""\u0041\u00e9\ud83d\ude00\/\n""#, "\"Aé😀/\\n\""),
      ("123456789012345678901234567890.10", "123456789012345678901234567890.10"),
      ("\u{FEFF}[]", "[]"), ("\"\u{7f}\"", "\"\u{7f}\""),
    ])
  func readsValues(_ text: String, _ expected: String) throws {
    #expect(String(decoding: try value(text).json, as: UTF8.self) == expected)
  }

  @Test("The parts of a value are found by their names, byte for byte")
  func findsMembers() throws {
    let value = try value(#"{"k":1e2,"\u212a":2,"n":null,"s":"t","b":true,"e":{"x":["",null,{}]},"f":0.5}"#)
    #expect(value["k"]?.integer == 100)
    #expect(value["K"] == nil)
    #expect(value["n"] == nil)
    #expect(value["s"]?.string == "t")
    #expect(value["b"]?.bool == true)
    #expect(value["f"]?.integer == nil)
    #expect(value["e"]?.isBlank == true)
    #expect(value["e"]?["x"]?.elements.count == 3)
    #expect(value.members.map(\.name) == ["k", "\u{212a}", "n", "s", "b", "e", "f"])
  }

  @Test(
    "Text that is not JSON is an error",
    arguments: [
      "", "{", "[", "}", "]", "{]", "[}", "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}",
      "{1:1}",
      "01", "-", "1.", ".5", "1e", "+1", "tru", "nul", "True", "\"", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\n\"",
      "\"\\ud800\"", "\"\\udc00\\ud800\"", "\"\\ud800x\"", "1 1", "{} {}", "[] x", "\u{FEFF}\u{FEFF}[]", "\u{a0}1",
    ])
  func refusesOthers(_ text: String) { #expect(code(Array(text.utf8)) == .damaged) }

  @Test("Bytes that are not UTF-8 are an error")
  func refusesOtherBytes() {
    for bytes in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xC3], [0xF4, 0x90, 0x80, 0x80]] as [[UInt8]] {
      #expect(code([0x22] + bytes + [0x22]) == .damaged)
    }
  }

  @Test("A key twice in one object is an error, however it is written and however many there are")
  func refusesDuplicates() {
    #expect(code(Array(#"{"a":1,"b":{"a":1},"\u0061":2}"#.utf8)) == .damaged)
    #expect(code(Array(#"{"a":1,"b":[{"a":1},{"a":1}],"A":2,"\u00e1":3,"a\u0301":4}"#.utf8)) == nil)
    let many = (0..<1000).map { #""k\#($0)":\#($0)"# }.joined(separator: ",")
    #expect(code(Array("{\(many)}".utf8)) == nil)
    #expect(code(Array("{\(many),\"\\u006b500\":0}".utf8)) == .damaged)
  }

  @Test("Depth, keys and the size of one value have limits")
  func limits() throws {
    func nested(_ depth: Int) -> [UInt8] { Array((String(repeating: "[", count: depth)).utf8) }
    #expect(code(nested(128) + Array(String(repeating: "]", count: 128).utf8)) == nil)
    #expect(code(nested(129)) == .tooLarge)
    #expect(code(Array("{\"\(String(repeating: "k", count: 70_000))\":1}".utf8)) == .tooLarge)
    #expect(throws: ImportFailure.self) { try value("[1,2,3]", within: .init(values: 4)) }
    #expect(try value("[1,2,3]", within: .init(values: 5)).elements.count == 3)
    #expect(throws: ImportFailure.self) { try value(#"["abc"]"#, within: .init(bytes: 2)) }
  }

  @Test("Objects and arrays are gone through in place, and what is left alone is passed over")
  func goesThrough() throws {
    var reader = JSONReader(Array(#"{"skip":[{"x":[1]}],"list":[1,{"y":2},"z"],"text":"a\u0062","no":5}"#.utf8))
    var (found, place, texts) = ([String](), JSONReader?.none, [String?]())
    try reader.object { key, reader throws(ImportFailure) in
      found.append(key)
      switch key {
      case "list":
        place = reader
        try reader.array { reader throws(ImportFailure) in
          if found.count < 4 { found.append(String(decoding: try reader.value().json, as: UTF8.self)) }
        }
      case "text", "no":
        let text = try reader.text()
        texts.append(text.map { reader.string($0) })
      default: break
      }
    }
    try reader.finish()
    #expect(found == ["skip", "list", "1", #"{"y":2}"#, "text", "no"])
    #expect(texts == ["ab", nil])
    var again = try #require(place)
    #expect(String(decoding: try again.value().json, as: UTF8.self) == #"[1,{"y":2},"z"]"#)
    #expect(throws: ImportFailure.self) {
      var reader = JSONReader(Array("[]".utf8))
      try reader.object { _, _ in }
    }
  }

  @Test("Every truncation is an error")
  func refusesTruncations() {
    let text = Array(#"{"a":[1.5e3,"\ud83d\ude00é",{"b":null}],"c":true}"#.utf8)
    for count in text.indices { #expect(code(Array(text.prefix(count))) == .damaged) }
    #expect(code(text) == nil)
  }
}
