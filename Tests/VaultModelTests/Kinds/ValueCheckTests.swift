import Testing

@testable import VaultModel

@Suite("Values of plain kinds")
struct ValueCheckTests {
  @Test("each kind takes so many bytes and refuses more before it looks at them", arguments: ItemKind.allCases)
  func longest(_ kind: ItemKind) {
    let bytes = [UInt8](repeating: UInt8(ascii: "7"), count: kind.longest + 1)
    let reason = "a value of kind \(kind.rawValue) has at most \(kind.longest >> 10) KiB"
    func fault(_ count: Int) -> String? {
      do throws(ValueError) {
        _ = try kind.validate(unsafe bytes.span.bytes.extracting(first: count), attributes: ["ssid": "net"])
        return nil
      } catch { return error.reason }
    }
    #expect(fault(kind.longest + 1) == reason && fault(kind.longest) != reason)
  }

  @Test("A password is anything but nothing")
  func password() throws {
    #expect(throws: ValueError.self) { try ItemKind.password.check("") }
    #expect(ItemKind.password.accepts("x"))
    #expect(throws: Never.self) { try ItemKind.password.check([0, 0xFF, 0x0A]) }
  }

  @Test("An API key and a device token are one line of text", arguments: [ItemKind.apiKey, .deviceToken])
  func lines(kind: ItemKind) {
    #expect(kind.accepts("sk-live-0123"))
    #expect(kind.accepts("with spaces and ü"))
    for bad in ["", "a\nb", "a\rb", "a\tb", "a\0", "a\u{7F}", "a\u{85}b", "\u{1B}[0m"] { #expect(!kind.accepts(bad)) }
  }

  @Test("A line break at the end is pointed out, as echo puts one there", arguments: ["\n", "\r\n", "\r"])
  func trailingBreak(end: String) {
    let error = #expect(throws: ValueError.self) { try ItemKind.apiKey.check("hunter2\(end)") }
    #expect(error?.reason == "an API key is one line without a line break; the value ends with one")
  }

  @Test(
    "Of several lines it is said that they are several, whether or not a break is at their end",
    arguments: ["a\nb", "a\nb\n", "a\r\nb\r\n", "a\rb", "a\n\n", "\na"])
  func severalLines(value: String) {
    let error = #expect(throws: ValueError.self) { try ItemKind.apiKey.check(value) }
    #expect(error?.reason == "an API key is one line, and the value has several lines")
  }

  @Test("A note is UTF-8, a blob is anything")
  func notes() throws {
    #expect(ItemKind.note.accepts("") && ItemKind.blob.accepts(""))
    #expect(ItemKind.note.accepts("Grüße\n€ 🔑 \u{10FFFF}"))
    #expect(throws: ValueError.self) { try ItemKind.note.check([0x80]) }
    #expect(throws: Never.self) { try ItemKind.blob.check([0x80, 0x00]) }
  }

  @Test("UTF-8 is recognised exactly as the standard library does, for all short sequences at the edges")
  func utf8() {
    let edges: [UInt8] = [
      0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF,
      0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
    ]
    let leads: [UInt8] = [0xE1, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5]
    var sequences: [[UInt8]] = [[]]
    for first in edges {
      sequences.append([first])
      for second in edges {
        sequences.append([first, second])
        for third in edges { sequences += [[first, second, third]] + leads.map { [$0, first, second, third] } }
      }
    }
    var disagreements: [[UInt8]] = []
    for bytes in sequences {
      let span = unsafe bytes.span.bytes
      if span.isUTF8 != (String(validating: bytes, as: UTF8.self) != nil) { disagreements.append(bytes) }
    }
    #expect(disagreements.isEmpty)
  }

  @Test("UTF-8 is recognised wherever it stands in a longer text of ASCII")
  func longText() {
    for place in 0..<24 {
      let cases: [([UInt8], Bool)] = [([0xC3, 0xA9], true), ([0x7F, 0x00], true), ([0x80], false), ([0xFF], false)]
      for (bytes, isText) in cases {
        var text = [UInt8](repeating: 0x61, count: 24)
        text.insert(contentsOf: bytes, at: place)
        let isFound = unsafe text.span.bytes.isUTF8
        #expect(isFound == isText, "\(bytes) at \(place)")
      }
      let cut = [UInt8](repeating: 0x61, count: place) + [0xE2, 0x82]
      let isFound = unsafe cut.span.bytes.isUTF8
      #expect(!isFound, "cut after \(place)")
    }
  }

  @Test("Attributes are checked with every kind", arguments: ItemKind.allCases)
  func attributes(kind: ItemKind) {
    let error = #expect(throws: ValueError.self) { try kind.check("x", ["bad key": "x"]) }
    #expect(error?.reason.contains("attribute's name") == true)
  }

  @Test("No refusal quotes the value", arguments: ItemKind.allCases)
  func silence(kind: ItemKind) {
    for value in ["hunter2hunter2\n", "-----BEGIN hunter2-----\nhunter2\n-----END hunter2-----\n", "otpauth://hunter2"]
    {
      do throws(ValueError) { try kind.check(value, ["ssid": "home"]) } catch {
        #expect(!error.reason.contains("hunter2"), "\(kind)")
      }
    }
  }
}
