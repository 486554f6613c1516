import Testing
import VaultWire

@testable import VaultImport

@Suite("Items of 1Password") struct OnePasswordItemTests {
  private func item(_ members: String) throws -> [String] { Array(try OnePasswordStand.item(members).dropFirst()) }

  @Test("of several accounts go into folders of these, and lists may be null") func accounts() throws {
    let data = #"""
      {"accounts":[{"attrs":{"name":"One"},"vaults":[{"items":[{"overview":{"title":"a"}}],"attrs":{"name":"V"}}]},
      {"attrs":{"email":"b@c"},"vaults":[{"attrs":null,"items":[{}]},{"items":null}]},{"vaults":null}],"more":{"x":1}}
      """#
    let found = try OnePasswordStand.read(OnePasswordStand.archive(data))
    #expect(found.format?.source == "")
    #expect(
      found.told == [
        "login One/V/a", "login b@c/vault/", "login 1Password export", "  name of One [setting] One",
        "  email of b@c [setting] b@c", #"  more [document] {"x":1}"#,
      ])
  }

  @Test("may have unknown members and types, which are kept") func unknown() throws {
    #expect(
      try item(
        #""categoryUuid":"001","x":"y","state":"frozen","details":{"z":{"a":1},"sections":[{"title":"S","new":"n","#
          + #""fields":[1,"#
          + #"{"title":"t","k":"v","value":{"hologram":"h"}},{"id":"i","value":"bare"}]},2],"loginFields":[3],"#
          + #""passwordHistory":[{"value":"p","time":"soon","who":"w"},4]},"overview":{"urls":["u"],"tags":[5]}"#)
        == [
          "  x [secret] y", "  state [setting] frozen", #"  z [document] {"a":1}"#, "  fields [setting] 1",
          "  S: t: k [secret] v", "  S: t [secret] h", "  S: i [secret] bare", "  section: new [secret] n",
          "  sections [setting] 2", "  loginFields [setting] 3", "  passwordHistory [setting] 4",
          "  password [old-password] p", "  time of an old password [setting] soon",
          "  passwordHistory: who [secret] w",
          "  url [url] u", "  tag [setting] 5",
        ])
  }

  @Test("of unknown categories are documents of what their sections say") func documents() throws {
    #expect(
      try item(
        #""categoryUuid":"7","details":{"sections":[{"title":"S","fields":[{"title":"a","guarded":true,"value":"#
          + #"{"string":"x"}},{"title":"b","value":{"string":""}},{"title":"c","value":{"totp":"JBSWY3DPEHPK3PXP"}}]},"#
          + #"{"title":"T","fields":[{"value":{"string":""}}]},{"name":"u","more":1}]}"#) == [
          "  categoryUuid [setting] 7", "  S: c [one-time] otpauth://totp/?secret=JBSWY3DPEHPK3PXP",
          #"  sections [document] [{"title":"S","fields":[{"title":"a","value":{"string":"x"}}]},"#
            + #"{"name":"u","more":1}]"#,
        ])
  }

  @Test("have one address once, whichever member comes first") func addresses() throws {
    #expect(
      try item(#""overview":{"url":"https://a","urls":[{"label":"","url":"https://a"},{"url":"https://b"}]}"#) == [
        "  url [url] https://a", "  url [url] https://b",
      ])
    #expect(try item(#""overview":{"url":"https://a"}"#) == ["  url [url] https://a"])
  }

  @Test("have the password of the form, and another one beside it") func passwords() throws {
    let form = #""loginFields":[{"value":"a","name":"p","designation":"password"}]"#
    #expect(try item(#""details":{"password":"b",\#(form)}"#) == ["  password [secret] b", "  p [password] a"])
    #expect(try item(#""details":{"password":"b"}"#) == ["  password [password] b"])
  }

  @Test("are no network if one of its parts is missing, or if it has no password of its own") func networks() throws {
    func router(_ security: String, _ password: String) throws -> String? {
      let fields =
        [("network_name", "string", "N"), ("wireless_security", "menu", security)]
        + [("wireless_password", "concealed", password)]
      let list = fields.map { #"{"id":"\#($0.0)","value":{"\#($0.1)":"\#($0.2)"}}"# }.joined(separator: ",")
      return try OnePasswordStand.item(#""categoryUuid":"109","details":{"sections":[{"fields":[\#(list)]}]}"#).first
    }
    #expect(try router("wpa3p", "12345678") == "wifi V/" && router("", "12345678") == "wifi V/")
    #expect(try router("wpa2e", "12345678") == "login V/" && router("wpa3p", "") == "login V/")
  }

  @Test("have the same SSH key once") func keys() throws {
    func key(_ outer: String, _ inner: String) throws -> [String] {
      let value = #"{"sshKey":{"privateKey":"\#(outer)","metadata":{"privateKey":"\#(inner)","keyType":{"RSA":4096}}}}"#
      return try item(#""categoryUuid":"114","details":{"sections":[{"fields":[{"id":"k","value":\#(value)}]}]}"#)
    }
    #expect(try key("a", "a") == ["  k [password] a", #"  key-type [setting] {"RSA":4096}"#])
    #expect(
      try key("b", "a") == [
        "  k [password] a", #"  key-type [setting] {"RSA":4096}"#,
        "  k: privateKey [setting] it is the same key in another form",
      ])
    #expect(try key("b", "") == ["  k [password] b", #"  key-type [setting] {"RSA":4096}"#])
  }

  @Test("find their files by the id, whatever name the archive has for them") func files() throws {
    let attributes = #""categoryUuid":"006","details":{"documentAttributes":{"fileName":"a/b","documentId":"d1"}}"#
    #expect(
      try OnePasswordStand.item(attributes, [(name: "files/d1__a_b", content: "x")])
        == ["file V/", "  a/b [attachment] x"])
    #expect(
      try OnePasswordStand.item(attributes, [(name: "files/d2__a_b", content: "x"), (name: "readme", content: "yz")])
        == [
          "file V/", "  a/b [attachment] the export does not have the file", "login 1Password export",
          "  files/d2__a_b [attachment] x", "  readme [attachment] an export of 1Password has no such file",
        ])
  }

  @Test("that are not as they should be are refused") func refused() {
    #expect(
      OnePasswordStand.refusal(BuiltZip([BuiltZip.File("a", "")]).bytes)
        == "there is no file export.data, which an export of 1Password has")
    #expect(OnePasswordStand.refusal(OnePasswordStand.archive("{}")) == "export.data has no 'accounts'")
    let item = #"{"accounts":[{"vaults":[{"items":[1]}]}]}"#
    #expect(OnePasswordStand.refusal(OnePasswordStand.archive(item)) == "an item is no object")
    // The whole text is checked before the first entry.
    #expect(OnePasswordStand.refusal(OnePasswordStand.archive(#"{"accounts":[],"accounts":[]}"#)) != nil)
    let vaults = Array(repeating: "{}", count: 4097).joined(separator: ",")
    #expect(
      OnePasswordStand.refusal(OnePasswordStand.archive(#"{"accounts":[{"vaults":[\#(vaults)]}]}"#))
        == "the export has more than 4096 vaults")
  }

  @Test("that are damaged do not crash the reader") func attacked() {
    let data =
      #"{"accounts":[{"vaults":[{"items":[{"favIndex":1,"createdAt":16,"categoryUuid":"001","overview":{"urls":"#
      + #"[{"label":"w","url":"u"}],"tags":["t"]},"details":{"loginFields":[{"value":"p","designation":"password"}],"#
      + #""passwordHistory":[{"value":"q","time":9}],"sections":[{"title":"S","fields":[{"title":"a","value":{"totp":"#
      + #""JBSWY3DPEHPK3PXP"}},{"value":{"date":-86400}},{"value":{"monthYear":202512}},{"value":{"file":{"documentId""#
      + #":"d"}}}]}]}}]}]}]}"#
    attack(OnePasswordReader.self, data) { text in
      var file = BuiltZip.File("export.data", "")
      file.content = text
      return BuiltZip([file, BuiltZip.File("files/d__x", "y")]).bytes
    }
  }
}
