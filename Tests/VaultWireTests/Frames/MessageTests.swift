import Testing
import VaultBytes
import VaultWire

@Suite struct MessageTests {
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

  @Test("A value is given as text or as data, not as both")
  func refusesTwoValues() throws {
    let frame = try frame(#"{"v":"a","d":"AA=="}"#)
    let (value, data) = (frame.member("v", of: frame.root), frame.member("d", of: frame.root))
    let text = try frame.content(value, nil)?.array
    #expect(text == [0x61])
    let none = try frame.content(nil, nil)?.array
    #expect(none == nil)
    #expect(throws: ParameterError("data")) { _ = try frame.contentCount(value, data) }
  }
}
