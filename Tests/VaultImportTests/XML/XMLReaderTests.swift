import Testing
import VaultWire

@testable import VaultImport

@Suite("XML documents") struct XMLReaderTests {
  private func element(_ text: String) throws(ImportFailure) -> XMLElement {
    try XMLElement(document: Array(text.utf8))
  }

  @Test("become elements with attributes and texts") func elements() throws {
    let found = try element("<?xml version=\"1.0\"?><a b='1' c=\"&lt;2\"> x <d/><e>&#x2603;<![CDATA[<&]]></e></a>")
    #expect(found.name == "a" && found.attributes.map(\.name) == ["b", "c"])
    #expect(found.attributes.map(\.value) == ["1", "<2"])
    #expect(found.children.map(\.name) == ["d", "e"] && found.string("e") == "☃<&" && found.child("f") == nil)
  }

  @Test("are the same in any pieces") func pieces() throws {
    let text = Array("<a b=\"ü\">x&amp;ÿ<c/></a>".utf8)
    for count in 1...text.count {
      let reader = try XMLReader()
      var names: [String] = []
      var characters: [UInt8] = []
      var rest = text[...]
      while !rest.isEmpty {
        for event in try reader.read(rest.prefix(count)) {
          switch event {
          case .start(let name, _): names.append(name)
          case .text(let text): characters += text
          case .end: names.append("/")
          }
        }
        rest = rest.dropFirst(count)
      }
      #expect(try reader.read([], isLast: true).isEmpty)
      #expect(names == ["a", "c", "/", "/"] && String(decoding: characters, as: UTF8.self) == "x&ÿ")
    }
  }

  @Test(
    "are refused if they are not well-formed, or have a type declaration",
    arguments: [
      "", "<a>", "<a></b>", "</a>", "<a/><b/>", "<a b=1/>", "<a>&b;</a>", "<a>&#1;</a>", "<a>\u{1}</a>",
      "<!DOCTYPE a><a/>",
      "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
    ])
  func refused(text: String) { #expect(throws: ImportFailure.self) { try element(text) } }

  @Test("are refused if they are nested too deeply") func deep() throws {
    func nested(_ count: Int) -> String {
      String(repeating: "<a>", count: count) + String(repeating: "</a>", count: count)
    }
    _ = try element(nested(XMLReader.deepest))
    #expect(throws: ImportFailure.self) { try element(nested(XMLReader.deepest + 1)) }
  }

  @Test("are refused if a tag does not end soon") func longTag() throws {
    let reader = try XMLReader()
    _ = try reader.read(Array("<a b=\"".utf8)[...])
    let piece = Array(repeating: UInt8(ascii: "x"), count: 128 << 10)
    #expect(throws: ImportFailure.self) { for _ in 0..<10 { _ = try reader.read(piece[...]) } }
  }
}
