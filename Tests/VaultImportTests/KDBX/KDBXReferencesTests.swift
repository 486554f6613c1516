import Testing
import VaultWire

@testable import VaultImport

@Suite("References between entries of a KeePass database") struct KDBXReferencesTests {
  private static let target = KDBXEntry(
    id: SealedDatabase.id.hex,
    current: KDBXVersion(
      texts: [
        ("Title", "t"), ("UserName", "u"), ("Password", "p"), ("URL", "https://a"), ("Notes", "n"), ("own", "o"),
      ].map { KDBXText(key: $0.0, value: Array($0.1.utf8), isProtected: false) }))

  private func resolve(_ text: String, _ entries: [KDBXEntry] = [target]) throws -> (text: String, missing: [String]) {
    var references = KDBXReferences(entries)
    let found = try references.resolve(Array(text.utf8))
    return (String(decoding: found.text, as: UTF8.self), found.missing.map { String(decoding: $0, as: UTF8.self) })
  }

  @Test(
    "lead to each field, found by each field",
    arguments: [
      ("{REF:T@I:000102030405060708090A0B0C0D0E0F}", "t"), ("{ref:u@i:000102030405060708090a0b0c0d0e0f}", "u"),
      ("{REF:P@T:t}", "p"), ("{REF:A@U:u}", "https://a"), ("{REF:N@P:p}", "n"), ("{REF:T@A:https://a}", "t"),
      ("{REF:I@N:n}", "000102030405060708090A0B0C0D0E0F"), ("{REF:P@O:o}", "p"),
      ("a{REF:T@T:t}b{REF:U@T:t}c", "atbuc"),
    ])
  func each(text: String, expected: String) throws {
    let found = try resolve(text)
    #expect(found.text == expected && found.missing.isEmpty)
  }

  @Test(
    "stay as they are if they lead nowhere",
    arguments: ["{REF:P@T:x}", "{REF:O@T:t}", "{REF:X@T:t}", "{REF:P@X:t}", "{REF:P:T@t}", "{REF:}", "{REF:P@T:}"])
  func nowhere(text: String) throws {
    let found = try resolve("a\(text)b")
    #expect(found.text == "a\(text)b" && found.missing == [text])
  }

  @Test("are told from other texts in braces", arguments: ["{", "{REF:", "{REF:P@T:t", "{USERNAME}", "{S:x}", "}{"])
  func others(text: String) throws {
    let found = try resolve(text)
    #expect(found.text == text && found.missing.isEmpty)
  }

  @Test("within references are resolved, ten deep") func nested() throws {
    func entry(_ number: Int, _ notes: String) -> KDBXEntry {
      let texts = [("Title", "\(number)"), ("Notes", notes)]
      return KDBXEntry(
        current: KDBXVersion(texts: texts.map { KDBXText(key: $0.0, value: Array($0.1.utf8), isProtected: false) }))
    }
    let chain = (1...20).map { entry($0, $0 == 20 ? "end" : "{REF:N@T:\($0 + 1)}") }
    #expect(try resolve("{REF:N@T:11}", chain).text == "end")
    let deep = try resolve("{REF:N@T:5}", chain)
    #expect(deep.text == "{REF:N@T:15}" && deep.missing == ["{REF:N@T:15}"])
    let loop = try resolve("{REF:N@T:1}", [entry(1, "{REF:N@T:1}")])
    #expect(loop.missing == ["{REF:N@T:1}"])
  }

  @Test("do not multiply without end") func bomb() throws {
    func entry(_ number: Int) -> KDBXEntry {
      let notes = String(repeating: "{REF:N@T:\(number + 1)}", count: 100)
      let texts = [("Title", "\(number)"), ("Notes", number == 12 ? String(repeating: "x", count: 1000) : notes)]
      return KDBXEntry(
        current: KDBXVersion(texts: texts.map { KDBXText(key: $0.0, value: Array($0.1.utf8), isProtected: false) }))
    }
    let found = try resolve("{REF:N@T:5}", (1...12).map(entry))
    #expect(found.text.utf8.count < 2 << 20 && !found.missing.isEmpty)
  }
}
