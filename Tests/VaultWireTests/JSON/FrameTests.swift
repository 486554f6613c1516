import Testing
import VaultWire

@Suite struct FrameTests {
  @Test("Members are found by their bytes, null and absent ones are nil")
  func findsMembers() throws {
    let frame = try frame(#"{"name":"a","nam":1,"n\u0061mes":2,"none":null,"inner":{"name":"b"}}"#)
    let text = frame.member("name", of: frame.root).flatMap { frame.string($0) }
    #expect(text == "a")
    let shorter = frame.member("nam", of: frame.root).flatMap { frame.integer($0) }
    #expect(shorter == 1)
    let escaped = frame.member("names", of: frame.root).flatMap { frame.integer($0) }
    #expect(escaped == 2)
    for key in ["none", "missing", "na", "names2"] as [StaticString] {
      let node = frame.member(key, of: frame.root)
      #expect(node == nil)
    }
    let inner = try present(frame.member("inner", of: frame.root))
    let innerText = frame.member("name", of: inner).flatMap { frame.string($0) }
    #expect(innerText == "b")
    let ofText = frame.member("name", of: try present(frame.member("name", of: frame.root)))
    #expect(ofText == nil)
  }

  @Test("Members and elements come in their order, with what they hold")
  func listsMembers() throws {
    let frame = try frame(#"{"b":[1,{"x":[]},"t",[2,3]],"a":{},"\u0063":null}"#)
    let names = frame.members(of: frame.root).map { $0.key }
    #expect(names == ["b", "a", "c"])
    let kinds = frame.members(of: frame.root).map { frame.kind($0.value) }
    #expect(kinds == [.array, .object, .null])
    let array = frame.members(of: frame.root)[0].value
    let elements = frame.elements(of: array).map { frame.kind($0) }
    #expect(elements == [.number, .object, .string, .array])
    let none = frame.elements(of: frame.root).count + frame.members(of: array).count
    #expect(none == 0)
  }

  @Test(
    "Escapes are undone in every accessor",
    arguments: [
      (#""""#, ""), (#""plain""#, "plain"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
      (#""\u0041\u00e9\u20AC""#, "Aé€"), (#""\uD83D\uDE39!""#, "😹!"), (#""\u0000""#, "\0"),
      (#""a\ud800\udc00b""#, "a\u{10000}b"), (#""\uDBFF\uDFFF""#, "\u{10FFFF}"),
      (
        #""\u007f\u0080\u07ff\u0800""#,
        "\u{7f}\u{80}\u{7ff}\u{800}"
      ),
    ])
  func unescapes(_ json: String, _ text: String) throws {
    let frame = try frame("{\"a\":\(json)}")
    let node = try present(frame.member("a", of: frame.root))
    let string = frame.string(node)
    #expect(string == text)
    let count = frame.secretCount(node)
    #expect(count == text.utf8.count)
    let secret = frame.secret(node)?.array
    #expect(secret == Array(text.utf8))
  }

  @Test("A name is compared without escapes as with them")
  func comparesNames() throws {
    let frame = try frame(#"{"plain":"io.vaultd","escaped":"\u0069o.vaultd","long":"io.vaultd!","number":1}"#)
    func equal(_ key: StaticString) -> Bool? {
      frame.member(key, of: frame.root).map { frame.equals($0, "io.vaultd") }
    }
    #expect(equal("plain") == true)
    #expect(equal("escaped") == true)
    #expect(equal("long") == false)
    #expect(equal("number") == false)
  }

  static let integers: [(String, Int64?)] = [
    ("0", 0), ("-0", 0), ("7", 7), ("-7", -7), ("9223372036854775807", .max), ("-9223372036854775808", .min),
    ("9223372036854775808", nil), ("-9223372036854775809", nil), ("18446744073709551616", nil),
    ("99999999999999999999999999", nil), ("1.0", 1), ("1e3", 1000), ("1E+3", 1000), ("1500e-2", 15), ("15e-1", nil),
    ("1.5", nil), ("1.5e1", 15), ("0.1e1", 1), ("0.000e9", 0), ("0e999999999999", 0), ("-0.0", 0),
    ("1e18", 1_000_000_000_000_000_000),
    ("1e19", nil), ("1e400", nil), ("1e-400", nil), ("9223372036854775807.0", .max), ("922337203685477580.7e1", .max),
    ("10000000000000000000000e-20", 100), ("0.00000000000000000000000001e26", 1), ("1e99999999999999999999999", nil),
    ("1e-99999999999999999999999", nil),
  ]

  @Test("Integers are exact: what is no integer or does not fit is none", arguments: integers)
  func readsIntegers(_ json: String, _ value: Int64?) throws {
    let frame = try frame("{\"a\":\(json)}")
    let node = try present(frame.member("a", of: frame.root))
    let integer = frame.integer(node)
    #expect(integer == value)
  }

  @Test("A million zeros before the exponent still cancel out")
  func readsLongIntegers() throws {
    let zeros = String(repeating: "0", count: 1_000_000)
    for (json, value) in [("1\(zeros)e-1000000", 1), ("0.\(zeros)1e1000001", 1), ("1\(zeros)", nil)]
      as [(String, Int64?)]
    {
      let frame = try frame("{\"a\":\(json)}")
      let integer = frame.member("a", of: frame.root).flatMap { frame.integer($0) }
      #expect(integer == value)
    }
  }

  @Test("A value of one kind is never read as another")
  func keepsKindsApart() throws {
    let frame = try frame(#"{"o":{},"a":[],"s":"1","n":1,"b":true}"#)
    for (key, value) in frame.members(of: frame.root) {
      let text = frame.string(value)
      #expect((text != nil) == (key == "s"))
      let count = frame.secretCount(value)
      #expect((count != nil) == (key == "s"))
      let integer = frame.integer(value)
      #expect((integer != nil) == (key == "n"))
      let bool = frame.bool(value)
      #expect((bool != nil) == (key == "b"))
    }
  }

  @Test(
    "Base64 is decoded, with escaped slashes too",
    arguments: [
      (#""""#, [] as [UInt8]?), (#""AA==""#, [0]), (#""/+8=""#, [0xFF, 0xEF]), (#""\/+8=""#, [0xFF, 0xEF]),
      (#""\u0041A==""#, [0]), (#""AA=""#, nil), (#""AA""#, nil), (#""A===""#, nil), (#""AA==AA==""#, nil),
      (#""AB==""#, nil),
      (#""A A=""#, nil), (#""A-_=""#, nil), (#""AAA\n""#, nil), ("12", nil),
    ])
  func decodesBase64(_ json: String, _ bytes: [UInt8]?) throws {
    let frame = try frame("{\"a\":\(json)}")
    let node = try present(frame.member("a", of: frame.root))
    let read: [UInt8]?
    do { read = try frame.content(nil, node)?.array } catch { read = nil }
    #expect(read == bytes)
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
