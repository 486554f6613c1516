import Testing
import VaultWire

@Suite struct WriterTests {
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
    let frame = try frame(json)
    for key in ["a", "b"] as [StaticString] {
      let read = frame.member(key, of: frame.root).flatMap { frame.string($0) }
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

  @Test(
    "Text goes as value, everything else as data",
    arguments: [
      ([0x61], true), ([], true), (Array("tab\tCR\rLF\n é 😹".utf8), true), ([0], false), ([0x1B], false),
      ([0x7F], false),
      (Array("\u{85}".utf8), false), (Array("\u{9f}".utf8), false), (Array("\u{a0}".utf8), true), ([0xFF], false),
      ([0xC3], false), ([0x61, 0xED, 0xA0, 0x80], false), ([0x0B], false),
    ] as [([UInt8], Bool)])
  func choosesForm(_ bytes: [UInt8], _ isText: Bool) throws {
    let json = written { writer in
      writer.beginObject()
      writer.content(unsafe bytes.span.bytes)
      writer.endObject()
    }
    let frame = try frame(json)
    let (value, data) = (frame.member("value", of: frame.root), frame.member("data", of: frame.root))
    #expect((value != nil) == isText)
    #expect((data == nil) == isText)
    let read = try frame.content(value, data)?.array
    #expect(read == bytes)
  }

  @Test("Calls, replies and errors have the envelope of org.varlink.service")
  func writesEnvelopes() {
    #expect(
      written { $0.call(.get, more: true) { Wire.Empty().write(to: &$0) } }
        == #"{"method":"io.vaultd.Vault.Get","more":true,"parameters":{}}"# + "\0")
    #expect(
      written { $0.reply(Wire.SetReply(version: 3), continues: true) }
        == #"{"parameters":{"version":3},"continues":true}"# + "\0")
    #expect(
      written { $0.reply(Fault.noSuchItem(name: "a")) }
        == #"{"error":"io.vaultd.Vault.NoSuchItem","parameters":{"name":"a"}}"# + "\0")
  }

  @Test("One buffer carries many messages")
  func appendsMessages() {
    var writer = JSONWriter()
    writer.reply(Wire.Empty())
    var next = JSONWriter(appendingTo: writer.take())
    next.reply(Wire.SetReply(version: 1))
    #expect(next.take().text == "{\"parameters\":{}}\0{\"parameters\":{\"version\":1}}\0")
  }
}
