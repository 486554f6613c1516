import Testing
import VaultWire

@testable import VaultImport

@Suite("Items of a credential exchange") struct CXFItemTests {
  private static func header(_ account: String, version: String = #"{"major":1,"minor":0}"#) -> String {
    #"{"version":\#(version),"exporterRpId":"exporter","accounts":[{\#(account)}]}"#
  }

  /// The entry of an item with these members, without what the exchange says of itself.
  private func item(_ members: String) throws -> [String] {
    let text = Self.header(#""items":[{\#(members)}]"#)
    let told = try ReadEntries(CXFReader.self, text).told
    return told.filter { !$0.hasSuffix("] exporter") && !$0.hasSuffix("exchange") }
  }

  private func credentials(_ list: String) throws -> [String] { try item(#""credentials":[\#(list)]"#) }

  @Test("may be those of one account that is the whole text") func bare() throws {
    let text = #"{"id":"a","username":"ana","items":[{"id":"i","title":"t","credentials":[]}],"collections":null}"#
    let found = try ReadEntries(CXFReader.self, text)
    #expect(recognizes(CXFReader.self, text) && found.format?.detail == "Credential Exchange Format")
    #expect(
      found.told == [
        "login t", "login credential exchange", "  id of ana [setting] a", "  username of ana [setting] ana",
      ])
  }

  @Test("of several accounts go into folders of these") func accounts() throws {
    let text = #"{"accounts":[{"items":[{"title":"a"}],"email":"x"},{"items":[{"title":"b"}]}]}"#
    #expect(
      try ReadEntries(CXFReader.self, text).entries.map { ($0.folder + [$0.title]).joined(separator: "/") }
        == ["x/a", "account/b", "credential exchange"])
  }

  @Test("of another version are refused") func versions() {
    #expect(refusal(CXFReader.self, Self.header("", version: "0")) == nil)
    for version in ["2", #"{"major":2,"minor":0}"#, "{}", "[]"] {
      #expect(
        refusal(CXFReader.self, Self.header("", version: version))
          == "the exchange is of a version that is not known; versions 0 and 1 are")
    }
    #expect(refusal(CXFReader.self, "{}") == "the JSON has no accounts and no items")
    #expect(refusal(CXFReader.self, #"{"items":[1]}"#) == "an item is no object")
  }

  @Test("may have values without a type, as in drafts of the format") func drafts() throws {
    #expect(
      try item(
        #""type":"login","credentials":[{"type":"basic-auth","urls":["https://a"],"username":"u","password":"p"}]"#)
        == [
          "login ", "  type [setting] login", "  url [url] https://a", "  username [username] u",
          "  password [password] p",
        ])
  }

  @Test("take the first password, and keep further ones beside it") func passwords() throws {
    let (empty, full) = (#"{"type":"basic-auth","password":{"value":""}}"#, #""password":{"value":"p"}}"#)
    #expect(
      try credentials(#"\#(empty),{"type":"basic-auth",\#(full),{"type":"basic-auth",\#(full)"#)
        == ["login ", "  password [password] p", "  password [secret] p"])
    // A password that a program has made is one only if there is no other.
    #expect(
      try credentials(#"{"type":"generated-password","password":"g"},{"type":"basic-auth",\#(full)"#)
        == ["login ", "  password [secret] g", "  password [password] p"])
  }

  @Test("keep whole what they do not know") func unknown() throws {
    #expect(
      try credentials(#"{"type":"new","a":1.50},{"b":2},"c",{"type":"note","content":{"value":{"x":1}},"d":"e"}"#)
        == [
          "document ", #"  new [document] {"type":"new","a":1.50}"#, #"  credential [document] {"b":2}"#,
          "  credential [secret] c", #"  note [document] {"x":1}"#, "  note: d [secret] e",
        ])
    #expect(
      try item(#""x":"y","scope":{"z":["q"]},"creationAt":-5,"favorite":false,"extensions":[{"name":"n"}]"#)
        == [
          "document ", "  x [secret] y", #"  scope: z [document] ["q"]"#, "  creationAt [setting] -5",
          #"  extensions [document] [{"name":"n"}]"#,
        ])
  }

  @Test("keep a key that is no key, and a network of an unknown kind, as they are") func odd() throws {
    #expect(
      try credentials(#"{"type":"ssh-key","keyType":"ssh-rsa","privateKey":"???"}"#)
        == ["ssh-key ", "  key-type [text] ssh-rsa", "  privateKey [password] ???"])
    let security = #"{"fieldType":"wifi-network-security-type","value":"wpa9"}"#
    #expect(
      try credentials(#"{"type":"wifi","networkSecurityType":\#(security),"passphrase":{"value":"12345678"}}"#)
        == ["wifi ", "  networkSecurityType [text] wpa9", "  passphrase [password] 12345678"])
  }

  @Test("may be in only so many collections") func limits() {
    let empty = Array(repeating: "{}", count: (1 << 16) + 1).joined(separator: ",")
    #expect(
      refusal(CXFReader.self, Self.header(#""collections":[\#(empty)]"#))
        == "the exchange has more than 65536 collections")
  }

  @Test("that are damaged do not crash the reader") func attacked() {
    let items =
      #"[{"id":"i","title":"t","creationAt":1,"tags":["a"],"scope":{"urls":["u"]},"credentials":[{"type":"#
      + #""totp","secret":"JBSWY3DPEHPK3PXP","period":30,"digits":6,"algorithm":"sha1"},{"type":"ssh-key","privateKey""#
      + #":"MAA"},{"type":"api-key","key":{"value":"k"},"expiryDate":{"fieldType":"date","value":"2026-01-01"}}]}]"#
    attack(
      CXFReader.self,
      Self.header(#""collections":[{"title":"c","items":[{"item":"i"}],"subCollections":[{}]}],"items":\#(items)"#))
  }
}
