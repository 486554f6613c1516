import Testing
import VaultBytes
import VaultWire

@Suite("What vault and vault-keyring tell each other of another keyring") struct ProviderTests {
  private static let content = ProviderContent(
    label: "two\nlines", contentType: "text/plain",
    attributes: [Wire.KeyringAttribute(key: "", value: "\t"), Wire.KeyringAttribute(key: "e\u{301}", value: "")],
    created: 1, modified: 253_402_300_799)

  @Test("every call reads back, with its value") func calls() throws {
    let calls: [ProviderCall] = [
      .open(name: "org.freedesktop.secrets", daemon: 7), .unlock(collection: 1), .list(collection: 2),
      .read(collection: 3, item: 4), .make(label: "x"), .store(collection: 5, Self.content),
    ]
    for call in calls {
      let text = call.frame().text
      let isSame = ProviderCall(try frame(String(text.dropLast()))) == call
      #expect(text.hasSuffix("\0") && isSame)
    }
    for value in [[], Array("text\"".utf8), [0, 255]] as [[UInt8]] {
      let text = calls[5].frame(value: unsafe value.span.bytes).text
      let read = try frame(String(text.dropLast()))
      let (call, bytes) = (ProviderCall(read), ProviderCall.value(read)?.array)
      #expect(call == calls[5] && bytes == value)
    }
  }

  private static func replies() -> [String] {
    let collection = ProviderCollection(path: "/a", label: "\u{1}", isLocked: true, aliases: ["default"])
    return [
      ProviderReply.collections([collection]).frame().text, ProviderReply.collections([]).frame().text,
      ProviderReply.listed(ProviderPlace(path: "/a/1", created: 5)).frame().text,
      ProviderReply.item(content, value: SecretBuffer([1, 2])).frame().text,
      ProviderReply.tooLarge(label: "l", reason: "r").frame().text, ProviderReply.made(3).frame().text,
      ProviderReply.stored(.beside).frame().text, ProviderReply.done.frame().text,
      ProviderReply.failed(ProviderFailure(.locked, "r")).frame().text,
      ProviderReply.listed(ProviderPlace(path: "/a/1", created: 0, problem: "p")).frame().text,
      ProviderReply.collections([
        ProviderCollection(path: "/a", label: "", isLocked: false, aliases: [], problem: "p")
      ]).frame().text,
    ].map { String($0.dropLast()) }
  }

  /// Reads a reply and writes it again; nil if it is none.
  private static func again(_ bytes: [UInt8]) -> String? {
    guard let frame = try? frame(bytes) else { return nil }
    switch ProviderReply(frame) {
    case .some(let reply): return String(reply.frame().text.dropLast())
    case .none: return nil
    }
  }

  @Test("every reply reads back") func faithful() {
    for text in Self.replies() { #expect(Self.again(Array(text.utf8)) == text) }
  }

  @Test("no cut and no changed byte of a reply does harm") func damaged() {
    for text in Self.replies() {
      let bytes = Array(text.utf8)
      for end in bytes.indices { #expect(Self.again(Array(bytes[..<end])) == nil) }
      for index in bytes.indices {
        for bit in 0..<8 {
          var other = bytes
          other[index] ^= 1 << bit
          guard let read = Self.again(other) else { continue }
          // A message that was read means the same when it is written again.
          #expect(Self.again(Array(read.utf8)) == read)
        }
      }
    }
  }

  @Test(
    "wrong replies are none",
    arguments: [
      "{}", #"{"done":false}"#, #"{"done":1}"#, #"{"made":-1}"#, #"{"made":1.5}"#, #"{"made":99999}"#,
      #"{"stored":"else"}"#, #"{"error":"else","reason":""}"#, #"{"error":"locked"}"#, #"{"refused":"x"}"#,
      #"{"path":"/a"}"#, #"{"path":"/a","created":"1"}"#, #"{"collections":{}}"#, #"{"collections":[1]}"#,
      #"{"collections":[{"path":"/a","label":"","locked":false}]}"#,
      #"{"label":"","type":"","attributes":[],"created":0,"modified":0}"#,
      #"{"label":"","type":"","attributes":[],"created":0,"modified":0,"value":"","data":""}"#,
      #"{"label":"","type":"","attributes":[],"created":0,"modified":0,"data":"*"}"#,
      #"{"label":"","type":"","attributes":[{"key":"a"}],"created":0,"modified":0,"value":""}"#,
      #"{"label":"","type":"","attributes":{},"created":0,"modified":0,"value":""}"#,
      #"{"label":"","type":"","attributes":[],"created":0,"value":""}"#,
    ])
  func wrong(_ text: String) { #expect(Self.again(Array(text.utf8)) == nil) }

  @Test("what another program says is cut to what a person reads, and a label to what shows that it is too long")
  func cut() {
    let text = String(repeating: "\u{1}", count: 9 << 20)
    #expect(ProviderFailure(.lost, text).reason.utf8.count == 1000)
    #expect(ProviderPlace(path: "/a", created: 0, problem: text).problem?.utf8.count == 1000)
    let collection = ProviderCollection(path: "/a", label: text, isLocked: false, aliases: [], problem: text)
    #expect(collection.problem?.utf8.count == 1000)
    #expect(collection.label.utf8.count == ProviderCollection.longestLabel + 1)
  }

  @Test("a path that is too long is none") func long() {
    let path = "/" + String(repeating: "a", count: ProviderReply.longestPath)
    #expect(Self.again(Array("{\"path\":\"\(path)\",\"created\":0}".utf8)) == nil)
  }

  @Test("text that is mostly escapes goes as base64 once it would be too long for a message") func escapes() {
    for (count, isText) in [(1 << 19, true), ((3 << 18) + 1, false), (1 << 20, false)] {
      let value = [UInt8](repeating: UInt8(ascii: "\""), count: count)
      let text = written {
        $0.beginObject()
        $0.content(unsafe value.span.bytes)
        $0.endObject()
      }
      #expect(text.hasPrefix(isText ? #"{"value":"# : #"{"data":"#))
      #expect(text.utf8.count < FrameReader.defaultLimit - (400 << 10))
    }
  }
}
