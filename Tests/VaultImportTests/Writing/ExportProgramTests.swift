import Testing
import VaultBytes
import VaultTesting
import VaultWire

@testable import VaultImport

@Suite("vault-import --write") struct ExportProgramTests {
  private static let order = ExportOrder(.kdbx, name: "Vault", memory: 16, time: 1_700_000_000)

  private static func bytes(_ call: ExportCall, _ value: [UInt8]? = nil) -> [UInt8] {
    let frame = value.map { call.frame(value: unsafe $0.span.bytes) } ?? call.frame()
    return frame.withBytes { $0.array }
  }

  /// The calls for one entry with one field.
  private static func entry(fields count: Int = 1, value: String = "secret", size: Int? = nil) -> [UInt8] {
    let facts = ImportedEntry(.login, id: "", folder: ["f"], title: "a", isTrashed: false, fieldCount: count)
    let field = ImportedField("Password", .password, size: size ?? value.utf8.count)
    return bytes(.entry(facts)) + bytes(.field(field), Array(value.utf8))
  }

  /// The replies to calls, and the program's exit code.
  private static func replies(_ calls: [UInt8]) throws -> (texts: [String], end: Int32?) {
    let stand = try ImportStand(["--write"])
    stand.send(calls)
    stand.hangUp()
    let texts = stand.replies()
    return (texts, stand.end())
  }

  @Test("writes a database in the sandbox, which is read again") func database() throws {
    let calls = Self.bytes(.write(Self.order), Array("pw".utf8)) + Self.entry() + Self.bytes(.finish)
    let (texts, end) = try Self.replies(calls)
    #expect(end == 0)
    var file: [UInt8] = []
    for text in texts.dropLast() {
      guard let frame = try? Frame(parsing: unsafe Array(text.utf8).span.bytes), let reply = ExportReply(frame) else {
        Issue.record("no reply: \(text.prefix(80))")
        return
      }
      if case .part(let part) = reply { file += part.withBytes { $0.array } }
    }
    #expect(texts.last == #"{"count":\#(file.count)}"#)
    let entries = try RoundTrip.entries(in: file, .kdbx)
    #expect(entries.map(\.title) == ["a"] && entries[0].texts(.password) == ["secret"])
  }

  @Test("calls that make no sense end it without an answer")
  func nonsense() throws {
    let begin = Self.bytes(.write(Self.order), Array("pw".utf8))
    let wrong: [[UInt8]] = [
      Self.bytes(.finish), begin, begin + begin, begin + Self.entry(fields: 2) + Self.bytes(.finish),
      begin + Self.entry() + Self.entry().suffix(80), begin + Self.entry(size: 5) + Self.bytes(.finish),
      Array("{}\0".utf8), ImportStand.call(.begin(format: nil)),
    ]
    for calls in wrong {
      let (texts, end) = try Self.replies(calls)
      #expect(texts.isEmpty && end == 65)
    }
  }

  @Test("a missing password is told") func withoutPassword() throws {
    let (texts, end) = try Self.replies(Self.bytes(.write(Self.order)) + Self.bytes(.finish))
    #expect(texts == [#"{"error":"no-secret","reason":"a KeePass database has a password"}"#] && end == 0)
  }

  @Test("frames are the same after writing and reading", arguments: ExportOrder.Format.allCases)
  func frames(format: ExportOrder.Format) throws {
    let order = ExportOrder(format, name: "ü", memory: format == .kdbx ? 64 : nil, time: 5)
    let facts = ImportedEntry(.file, id: "i", folder: ["a"], title: "t", isTrashed: false, fieldCount: 1)
    let field = ImportedField("n", .oldPassword, time: 7, size: 3, mark: "wifi")
    for call in [ExportCall.write(order), .entry(facts), .field(field), .finish] {
      let bytes = Self.bytes(call)
      let frame = try Frame(parsing: unsafe bytes.span.bytes.extracting(..<(bytes.count - 1)))
      #expect(ExportCall(frame) == call)
    }
  }

  @Test(
    "wrong replies are none",
    arguments: [
      "{}", #"{"data":""}"#, #"{"data":"*"}"#, #"{"count":-1}"#, #"{"count":1073741825}"#, #"{"error":"spoon"}"#,
      #"{"error":"failed"}"#,
    ]) func wrongReplies(text: String) throws
  {
    let frame = try Frame(parsing: unsafe Array(text.utf8).span.bytes)
    let isReply = ExportReply(frame) != nil
    #expect(!isReply)
  }

  @Test(
    "wrong orders are none",
    arguments: [
      #"{"write":"spoon","name":"","time":0}"#, #"{"write":"kdbx","time":0}"#, #"{"write":"kdbx","name":""}"#,
      #"{"write":"kdbx","name":"","time":-1}"#, #"{"write":"kdbx","name":"","memory":15,"time":0}"#,
      #"{"write":"kdbx","name":"","memory":1025,"time":0}"#, #"{"entry":"login"}"#, #"{"role":"password"}"#,
    ]) func wrongOrders(text: String) throws
  {
    #expect(try ExportCall(Frame(parsing: unsafe Array(text.utf8).span.bytes)) == nil)
  }
}
