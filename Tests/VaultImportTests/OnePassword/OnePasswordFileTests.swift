import Testing
import VaultWire

@testable import VaultImport

@Suite("Exports of 1Password") struct OnePasswordFileTests {
  /// The entries without their times.
  private static func told(_ found: ReadEntries) -> String {
    found.told.filter { !$0.hasPrefix("  createdAt [created]") && !$0.hasPrefix("  updatedAt [modified]") }
      .joined(separator: "\n")
  }

  @Test("give every item of every category with all its fields") func whole() throws {
    let found = try OnePasswordStand.read(OnePasswordStand.file())
    #expect(
      found.format
        == ImportedFormat(name: "1pux", detail: "1Password export, version 3", source: "1pux:ACCOUNT1"))
    #expect(Self.told(found) == Self.expected)
    #expect(found.entries.filter(\.isTrashed).map(\.title) == ["Gone"])
    #expect(found.entry("Visa")?.fields.first { $0.role == .document }?.mediaType == "application/json")
  }

  @Test("have times, ids, and old passwords with theirs, the oldest first") func times() throws {
    let entry = try #require(OnePasswordStand.read(OnePasswordStand.file()).entry("Mail"))
    #expect(entry.id == "item01")
    #expect(entry.fields.filter { $0.role == .oldPassword }.map(\.time) == [1_605_000_000, 1_610_000_000])
    let times = entry.fields.filter { $0.role == .created || $0.role == .modified }
    #expect(times.map { String(decoding: $0.value, as: UTF8.self) } == ["1600000001", "1650000000"])
  }

  @Test("are read from the folder into which somebody has unpacked them, too") func folder() throws {
    let bytes = try OnePasswordStand.file()
    var archive = try ZipArchive(bytes)
    var files: [Source.File] = []
    for member in archive.members { files.append(Source.File("mine/\(member.name)", try archive.content(of: member))) }
    #expect(OnePasswordStand.recognizes(files) && !OnePasswordStand.recognizes(Array(files.dropFirst())))
    let found = try ReadEntries(OnePasswordReader.self, files)
    #expect(Self.told(found) == Self.expected)
    #expect(throws: ImportFailure.self) {
      try ReadEntries(OnePasswordReader.self, files + [Source.File("other/export.data", [])])
    }
  }

  @Test("are recognized by the name of a file in the archive, also if they are damaged") func recognized() throws {
    let bytes = try OnePasswordStand.file()
    #expect(OnePasswordStand.recognizes([Source.File("a", bytes)]))
    #expect(OnePasswordStand.recognizes([Source.File("a", bytes.dropLast())]))
    #expect(!OnePasswordStand.recognizes([Source.File("a", BuiltZip([BuiltZip.File("b", "x")]).bytes)]))
    #expect(!OnePasswordStand.recognizes([Source.File("a", Array("export.data".utf8))]))
    #expect(FileFormat.guess(Source([Source.File("a", bytes)]) { (_) throws(ImportFailure) in nil }) == .onePassword)
  }

  private static let expected = #"""
    login Personal/Mail
      favorite [setting] 1
      username [username] ana
      password [password] pw-1
      remember [text] ✓
      second [secret] 1234
      mail [text] alias@example.org
      mail: provider [setting] fastmail
      note [note] a note
    of two lines
      Extra: one-time password [one-time] otpauth://totp/Mail:ana?secret=JBSWY3DPEHPK3PXP&issuer=Mail
      Extra: one-time password [one-time] otpauth://totp/Mail?secret=JBSWY3DPEHPK3PXP
      Extra: phone [text] 555
      Extra: site [url] https://other.example.org
      Extra: mail [text] ana@example.org
      Extra: born [text] 2016-01-01
      Extra: seen [text] 1969-12-31T00:00:00Z
      Extra: until [text] 2025-12
      Extra: pick [text] b
      Extra: hidden [secret] s3cret
      Extra: see [text] item02
      Extra: home [document] {"street":"1 Road","city":"Town","country":"us","zip":"1","state":"MA"}
      scan.txt [attachment] scan

      Extra: future [document] {"x":1}
      password [old-password] pw-00
      password [old-password] pw-0
      website [url] https://mail.example.org
      admin [url] https://admin.example.org
      tag [tag] work
      tag [tag] mail
    login Personal/Password alone
      password [password] pw-2
    note Personal/Diary
      state [setting] archived
      note [note] dear diary
    document Personal/Visa
      note [note] the blue one
      card [document] [{"title":"","name":"s","fields":[{"title":"number","id":"ccnum","value":{"creditCardNumber":"\#
    4111111111111111"}},{"title":"verification number","id":"cvv","value":{"concealed":"123"}},{"title":"expiry date\#
    ","id":"expiry","value":{"monthYear":202712}}]}]
    document Personal/Me
      Codes: code [one-time] otpauth://totp/Me?secret=JBSWY3DPEHPK3PXP
      identity [document] [{"title":"Identification","name":"s","fields":[{"title":"first name","id":"firstname","va\#
    lue":{"string":"Ana"}}]}]
    file Personal/Deed
      deed ä.pdf [attachment] %PDF
    file Personal/Lost
      lost.pdf [attachment] the export does not have the file
    file Personal/Film
      film.bin [attachment] it has 1048577 bytes, and an item has room for 1 MiB
    login Personal/Editor
      license key [password] AAA-BBB
      version [text] 8
    login Personal/DB
      username [username] sa
      password [password] db-pw
      port [text] 5432
    wifi Personal/Home network
      base station password [secret] base-pw
      ssid [text] HomeNet
      security [text] WPA
      wireless network password [password] wifi-pw-1
    login Personal/Host
      URL [url] ssh://h
      username [username] root
      password [password] root-pw
    login Personal/Mailbox
      username [username] ana
      password [password] pop-pw
      SMTP: password [secret] smtp-pw
    token Personal/API
      username [username] svc
      credential [password] tok-1
      expires [expires] 4102444860
      hostname [text] api.example.org
    ssh-key Personal/Key
      private key [password] -----BEGIN PRIVATE KEY-----
    MC4CAQAwBQYDK2VwBCIEIOp01/ssk401oUPaCqc3657i+OEfUIyZcXbiXLfajfTZ
    -----END PRIVATE KEY-----

      public-key [text] ssh-ed25519 AAAA
      fingerprint [text] SHA256:x
      key-type [text] ed25519
    document Personal/Later
      categoryUuid [setting] 999
      sections [document] [{"title":"","name":"s","fields":[{"title":"what","id":"w","value":{"string":"v"}}]}]
      passkey [document] {"rpId":"example.org"}
    login Personal/Gone
      state [setting] trashed
      username [username] old
      password [password] old-pw
    file Shared/Wrapped
      w.txt [attachment] wrapped
    login 1Password export
      description [setting] 1Password Unencrypted Export
      createdAt [setting] 1700000000
      accountName of Ana's [setting] Ana's
      name of Ana's [setting] Ana
      email of Ana's [setting] ana@example.org
      uuid of Ana's [setting] ACCOUNT1
      domain of Ana's [setting] https://my.1password.com/
      uuid of Personal [setting] v1
      desc of Personal [setting] mine
      type of Personal [setting] P
      uuid of Shared [setting] v2
      avatar of Shared [setting]\#(" ")
      type of Shared [setting] U
      files/orphan.txt [attachment] nobody's
    """#
}
