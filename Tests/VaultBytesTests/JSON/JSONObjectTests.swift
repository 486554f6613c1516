import Testing
import VaultBytes

@Suite struct JSONObjectTests {
  @Test("Members are found by their bytes, null and absent ones are nil")
  func findsMembers() throws {
    let object = try object(#"{"name":"a","nam":1,"n\u0061mes":2,"none":null,"inner":{"name":"b"}}"#)
    let text = object.member("name", of: object.root).flatMap { object.string($0) }
    #expect(text == "a")
    let shorter = object.member("nam", of: object.root).flatMap { object.integer($0) }
    #expect(shorter == 1)
    let escaped = object.member("names", of: object.root).flatMap { object.integer($0) }
    #expect(escaped == 2)
    for key in ["none", "missing", "na", "names2"] as [StaticString] {
      let node = object.member(key, of: object.root)
      #expect(node == nil)
    }
    let inner = try present(object.member("inner", of: object.root))
    let innerText = object.member("name", of: inner).flatMap { object.string($0) }
    #expect(innerText == "b")
    let ofText = object.member("name", of: try present(object.member("name", of: object.root)))
    #expect(ofText == nil)
  }

  @Test("Members and elements come in their order, with what they hold")
  func listsMembers() throws {
    let object = try object(#"{"b":[1,{"x":[]},"t",[2,3]],"a":{},"\u0063":null}"#)
    let names = object.members(of: object.root).map { $0.key }
    #expect(names == ["b", "a", "c"])
    let kinds = object.members(of: object.root).map { object.kind($0.value) }
    #expect(kinds == [.array, .object, .null])
    let array = object.members(of: object.root)[0].value
    let elements = object.elements(of: array).map { object.kind($0) }
    #expect(elements == [.number, .object, .string, .array])
    let none = object.elements(of: object.root).count + object.members(of: array).count
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
    let object = try object("{\"a\":\(json)}")
    let node = try present(object.member("a", of: object.root))
    let string = object.string(node)
    #expect(string == text)
    let count = object.secretCount(node)
    #expect(count == text.utf8.count)
    let secret = object.secret(node)?.array
    #expect(secret == Array(text.utf8))
  }

  @Test("A name is compared without escapes as with them")
  func comparesNames() throws {
    let object = try object(#"{"plain":"io.vaultd","escaped":"\u0069o.vaultd","long":"io.vaultd!","number":1}"#)
    func equal(_ key: StaticString) -> Bool? {
      object.member(key, of: object.root).map { object.equals($0, "io.vaultd") }
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
    let object = try object("{\"a\":\(json)}")
    let node = try present(object.member("a", of: object.root))
    let integer = object.integer(node)
    #expect(integer == value)
  }

  @Test("A million zeros before the exponent still cancel out")
  func readsLongIntegers() throws {
    let zeros = String(repeating: "0", count: 1_000_000)
    for (json, value) in [("1\(zeros)e-1000000", 1), ("0.\(zeros)1e1000001", 1), ("1\(zeros)", nil)]
      as [(String, Int64?)]
    {
      let object = try object("{\"a\":\(json)}")
      let integer = object.member("a", of: object.root).flatMap { object.integer($0) }
      #expect(integer == value)
    }
  }

  @Test("A value of one kind is never read as another")
  func keepsKindsApart() throws {
    let object = try object(#"{"o":{},"a":[],"s":"1","n":1,"b":true}"#)
    for (key, value) in object.members(of: object.root) {
      let text = object.string(value)
      #expect((text != nil) == (key == "s"))
      let count = object.secretCount(value)
      #expect((count != nil) == (key == "s"))
      let integer = object.integer(value)
      #expect((integer != nil) == (key == "n"))
      let bool = object.bool(value)
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
    let object = try object("{\"a\":\(json)}")
    let node = try present(object.member("a", of: object.root))
    let read = object.base64Count(node).flatMap { count in
      var decoded = SecretBuffer()
      let isBase64 = decoded.append(count: count) { object.copyBase64(node, into: &$0) }
      return isBase64 ? decoded.array : nil
    }
    #expect(read == bytes)
  }
}
