import Testing
import VaultModel

@Suite("Attributes")
struct AttributesTests {
  private static func refusal(_ attributes: [String: String]) -> String? {
    do throws(ValueError) { try Attributes.validate(attributes) } catch { return error.reason }
    return nil
  }

  @Test(
    "Letters, digits, dot, underscore, dash and colon make a key",
    arguments: ["a", "Z", "owner", "a.b_c-D9", "xdg:schema", String(repeating: "k", count: 128)])
  func goodKeys(key: String) {
    #expect(Self.refusal([key: "value"]) == nil)
  }

  @Test(
    "Anything else in a key, an empty key and 129 bytes are refused",
    arguments: ["", "a b", "a/b", "a=b", "a!", "ü", "a\n", "a\0", "a~", "\"a\"", String(repeating: "k", count: 129)])
  func badKeys(key: String) {
    #expect(Self.refusal([key: "value"]) != nil)
  }

  @Test("The words for an item's own properties are no attribute keys")
  func builtIn() {
    #expect(Attributes.builtInKeys.count == 11)
    for key in Attributes.builtInKeys { #expect(Self.refusal([key: "x"])?.contains(key) == true) }
    #expect(Self.refusal(["Name": "x"]) == nil)
  }

  @Test("A field that begins with attr: is the attribute behind that, and nothing else is")
  func fields() {
    for key in ["owner", "value", "name", "attr:x", "attr", ""] {
      #expect(Attributes.key(ofField: Attributes.field(ofKey: key)) == key)
    }
    for field in ["attr", "Attr:x", "value", "", " attr:x", "xdg:attr:x"] {
      #expect(Attributes.key(ofField: field) == nil)
    }
  }

  @Test("What other programs call like a field is an attribute, and none that a person gives to an item")
  func hidden() {
    for key in Attributes.fieldKeys.union(["attr:x", "attr:attr:x", "attr:"]) {
      #expect(Self.refusal([key: "x"]) == nil && Attributes.isHidden(key))
      #expect(throws: ValueError.self) { try Attributes.checkNew(key) }
    }
    for key in ["ssid", "sub", "max-ttl", "xdg:schema", "attr", "values", "Uri"] {
      #expect(!Attributes.isHidden(key))
      #expect(throws: Never.self) { try Attributes.checkNew(key) }
    }
  }

  @Test("A value has up to 1024 bytes and no control characters")
  func values() {
    #expect(Self.refusal(["k": ""]) == nil)
    #expect(Self.refusal(["k": "Grüße 🔑"]) == nil)
    #expect(Self.refusal(["k": String(repeating: "v", count: 1024)]) == nil)
    #expect(Self.refusal(["k": String(repeating: "v", count: 1025)])?.contains("1025") == true)
    #expect(Self.refusal(["k": String(repeating: "ü", count: 513)])?.contains("1026") == true)
    for control in ["\0", "\n", "\t", "\u{7F}", "\u{85}"] {
      #expect(Self.refusal(["k": "a\(control)"])?.contains("control") == true)
    }
  }

  @Test("There are at most 64 of them")
  func number() {
    let many = Dictionary(uniqueKeysWithValues: (0..<64).map { ("k\($0)", "v") })
    #expect(Self.refusal(many) == nil)
    #expect(Self.refusal(many.merging(["more": "v"]) { $1 })?.contains("65") == true)
  }

  @Test("The message names the key at fault and not its value")
  func message() {
    #expect(Self.refusal(["good": "x", "note": "hunter2\n"]) == "attribute 'note' has a control character in it")
  }
}
