import Testing
import VaultBytes

@Suite struct JSONWriterTests {
  @Test("Commas and quotes come by themselves")
  func writesStructure() {
    let text = written { writer in
      writer.beginObject()
      writer.key("a")
      writer.beginArray()
      writer.integer(1)
      writer.bool(true)
      writer.null()
      writer.beginObject()
      writer.endObject()
      writer.string("x")
      writer.raw("[]")
      writer.literal("y")
      writer.endArray()
      let odd = "b\"\n"
      writer.key(odd)
      writer.bool(false)
      writer.endObject()
    }
    #expect(text == #"{"a":[1,true,null,{},"x",[],"y"],"b\"\n":false}"#)
  }

  @Test("Integers are written exactly", arguments: [0, 1, -1, 9, 10, 99, 100, -1000, Int64.max, Int64.min])
  func writesIntegers(_ value: Int64) { #expect(written { $0.integer(value) } == "\(value)") }

  @Test("Every byte of a string survives writing and reading")
  func writesEveryScalar() throws {
    let scalars = (0...0x2FF).compactMap { Unicode.Scalar($0) } + ["\u{2028}", "\u{FFFF}", "\u{10FFFF}", "😹"]
    var text = ""
    for scalar in scalars { text.unicodeScalars.append(scalar) }
    let json = written { writer in
      writer.beginObject()
      writer.key("a")
      writer.string(text)
      writer.key("b")
      writer.secret(unsafe text.utf8.span.bytes)
      writer.endObject()
    }
    let object = try object(json)
    for key in ["a", "b"] as [StaticString] {
      let read = object.member(key, of: object.root).flatMap { object.string($0) }
      #expect(read == text)
    }
  }

  @Test("A message ends with one NUL and holds no other")
  func endsWithNUL() {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("a")
    writer.string("\0")
    writer.endObject()
    let bytes = writer.finish().array
    #expect(bytes.firstIndex(of: 0) == bytes.count - 1)
  }
}
