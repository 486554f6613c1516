import Testing
import VaultWire

@testable import VaultImport

@Suite struct BitwardenItemTests {
  private func lines(_ item: String) throws -> [String] {
    let gathered = try ExportStand.read(ExportStand.export(item))
    return try #require(gathered.entries.first).exportLines
  }

  @Test(
    "Nothing is lost that is not as expected",
    arguments: [
      (#""type":1,"notes":{"a":1}"#, [#"notes [document] {"a":1}"#]),
      (#""type":1,"login":"text""#, ["login [secret] text"]),
      (
        #""type":2,"secureNote":"x","fields":{"a":1},"passwordHistory":2"#,
        ["secureNote [secret] x", #"fields [document] {"a":1}"#, "passwordHistory [setting] 2"]
      ),
      (
        #""type":1,"collectionIds":7,"login":{"uris":"u","fido2Credentials":["k",{"rpId":"r"}]}"#,
        ["collectionIds [setting] 7", "uris [secret] u", "passkey [secret] k", #"passkey [document] {"rpId":"r"}"#]
      ),
      (#""type":1,"login":{"password":12}"#, ["password [setting] 12"]),
      (#""type":1,"login":{"new":"x"}"#, ["new [secret] x"]),
      (
        #""type":1,"login":{"uris":["u",{"uri":"v","match":9}]}"#,
        ["uri [secret] u", "uri 2 [url] v", "match 2 [setting] 9"]
      ),
      (#""type":1,"card":{"number":"4"}"#, [#"card [document] {"number":"4"}"#]),
      (
        #""type":1,"fields":["f",{"value":"v"},{"name":"n","value":"w","type":8}]"#,
        ["fields [secret] f", "custom field [secret] v", "n [secret] w", "n: type [setting] 8"]
      ),
      (#""type":2,"passwordHistory":[{"password":"old"}]"#, ["passwordHistory [old-field] old"]),
      (#""type":2,"secureNote":{"type":1}"#, [#"secureNote [document] {"type":1}"#]),
      (#""type":3,"creationDate":"yesterday""#, ["creationDate [setting] yesterday"]),
      (#""name":5,"folderId":"f""#, ["name [setting] 5", "folderId [setting] f"]),
    ])
  func keepsUnknown(_ item: String, _ expected: [String]) throws {
    #expect(try lines(item) == expected)
  }

  @Test("What is empty, or in its usual state, is no field")
  func leavesOutEmpty() throws {
    let item =
      #""type":1,"notes":"","favorite":false,"reprompt":0,"login":{"uris":[{"uri":"","match":null}],"username":"","#
      + #""password":null,"totp":null,"fido2Credentials":[]},"fields":[{"name":"n","value":"","type":1}],"card":null,"#
      + #""passwordHistory":[],"identity":{"title":null,"city":""},"key":null"#
    #expect(try lines(item) == [])
  }

  @Test("Without all times, old passwords come in the reverse order of the source")
  func ordersHistory() throws {
    let item =
      #""type":1,"passwordHistory":[{"password":"3","lastUsedDate":"2020-01-01T00:00:00Z"},{"password":"2"},"#
      + #"{"password":"1","lastUsedDate":"2024-01-01T00:00:00Z"}]"#
    #expect(try lines(item).map { $0.last } == ["1", "2", "3"])
  }

  @Test("A type is found by the parts of an item that has none")
  func findsType() throws {
    for (part, kind) in [("login", ImportedEntry.Kind.login), ("sshKey", .sshKey), ("secureNote", .note)] {
      let gathered = try ExportStand.read(ExportStand.export(#""name":"x","\#(part)":{"a":"b"}"#))
      #expect(gathered.entries.first?.kind == kind)
    }
  }

  @Test("Unknown members of the export become an entry of their own")
  func keepsUnknownMembers() throws {
    let big = String(repeating: "a", count: 3 << 20)
    let gathered = try ExportStand.read(#"{"sends":[{"a":"b"}],"items":[],"none":null,"big":"\#(big)","version":2}"#)
    let entry = try #require(gathered.entry("Bitwarden export"))
    #expect(
      entry.exportLines == [
        #"sends [document] [{"a":"b"}]"#, "big [document] it has 3145730 bytes, and an item has room for 1 MiB",
        "version [setting] 2",
      ])
  }

  @Test("An export with too many unknown members is an error")
  func limitsUnknownMembers() {
    let members = (0..<100).map { #""m\#($0)":0"# }.joined(separator: ",")
    #expect(ExportStand.failure(Array(#"{"items":[],\#(members)}"#.utf8))?.code == .tooLarge)
  }
}
