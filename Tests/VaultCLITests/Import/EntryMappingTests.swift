import Testing
import VaultBytes
import VaultModel
import VaultWire

@testable import VaultCLI

@Suite("The mapping of an entry to items") struct EntryMappingTests {
  private typealias Source = PlannedSource

  @Test("makes one item of a login, with its texts as attributes") func login() throws {
    let mapped = Source.map(
      Source.entry(
        id: "7f", folder: ["Mail"], title: "GitHub",
        [
          ("UserName", .username, "ana"), ("Password", .password, "secret"), ("URL", .url, "https://github.com"),
          ("other", .url, "https://gist.github.com"), ("Project", .text, "vault"), ("tag", .tag, "work"),
          ("tag", .tag, "code"), ("created", .created, "1000000000"),
        ]))
    let item = try #require(mapped.items.first)
    #expect(mapped.items.count == 1 && item.name.text == "Mail/GitHub" && item.kind == .password)
    #expect(Source.text(item.value) == "secret")
    #expect(
      item.attributes == [
        "title": "GitHub", "username": "ana", "url": "https://github.com", "url-2": "https://gist.github.com",
        "Project": "vault", "tags": "work,code", "source": "csv:file", "source-id": "7f",
        "source-created": "2001-09-09T01:46:40Z",
      ])
  }

  @Test("makes items beside it of secrets, notes, files, and texts that no attribute holds") func beside() throws {
    let entry = Source.entry(
      title: "a",
      [
        ("Password", .password, "secret"), ("Notes", .note, "line\nline"), ("PIN", .secret, "1234"),
        ("otp", .oneTime, "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP"), ("two words", .text, "x"),
        ("title", .text, "x"), ("PIN", .secret, "5678"), ("long", .text, String(repeating: "x", count: 1025)),
      ])
    entry.fields.append(Source.field("scan.pdf", .attachment, [0x25, 0xFF], type: "application/pdf"))
    let mapped = Source.map(entry)
    #expect(
      mapped.items.map(\.name.text) == [
        "a", "a/two words", "a/title", "a/long", "a/Notes", "a/PIN", "a/otp", "a/PIN (2)", "a/scan.pdf",
      ])
    #expect(
      mapped.items.map(\.kind) == [.password, .note, .note, .note, .note, .password, .totp, .password, .blob])
    #expect(mapped.items.last?.attributes["media-type"] == "application/pdf")
    #expect(mapped.items.map { $0.attributes["source-field"] }.suffix(3) == ["otp", "PIN (2)", "scan.pdf"])
  }

  @Test("makes items of texts whose names sound like a secret, whatever the source takes them for")
  func named() throws {
    let texts = ["PIN": "4711", "API_KEY": "sk-1", "token": "tt", "password": "fv", "camera": "rtsp://u:p@h/1"]
    let open = ["branch": "Bern", "public-key": "ssh-ed25519 AAAA", "access-key-id": "AKIA1"]
    let fields = (texts.merging(open) { one, _ in one }).sorted { $0.key < $1.key }.map {
      (name: $0.key, role: ImportedField.Role.text, value: $0.value)
    }
    let mapped = Source.map(Source.entry(title: "a", [("Password", .password, "x")] + fields))
    let beside = mapped.items.dropFirst().map { ($0.name.text, Source.text($0.value)) }
    #expect(Dictionary(uniqueKeysWithValues: beside) == Dictionary(uniqueKeysWithValues: texts.map { ("a/" + $0, $1) }))
    #expect(mapped.items[1...].allSatisfy { [.password, .note].contains($0.kind) })
    let kept = mapped.items[0].attributes.filter { !["source", "title"].contains($0.key) }
    #expect(kept == open)
    // Its earlier values are versions, as those of any secret.
    let pin = [
      Source.field("PIN", .text, Array("2".utf8)), Source.field("PIN", .oldField, Array("1".utf8), time: 1),
    ]
    let versions = Source.map(Source.entry(.login, title: "a", of: pin)).items
    #expect(versions.map(\.name.text) == ["a/PIN"] && versions[0].versions.map(Source.text) == ["1"])
  }

  @Test("keeps a text as an attribute that an export has marked as one, and makes an item of a marked secret")
  func marked() throws {
    let fields = [
      Source.field("Password", .password, Array("x".utf8)),
      Source.field("pin", .text, Array("4711".utf8), mark: ImportedField.attribute),
      Source.field("token", .text, Array("t".utf8), mark: "api-key"),
      Source.field("code", .secret, Array("c".utf8), mark: ImportedField.attribute),
      Source.field("api_key", .text, Array("\u{7}".utf8), mark: ImportedField.attribute),
    ]
    let mapped = Source.map(Source.entry(.login, title: "a", of: fields))
    #expect(mapped.items[0].attributes["pin"] == "4711")
    #expect(Set(mapped.items.map(\.name.text)) == ["a", "a/token", "a/code", "a/api_key"])
  }

  @Test("makes an item of an open wireless network, whose value is empty") func openNetwork() throws {
    func items(_ kind: ImportedEntry.Kind, _ security: String) -> [ImportedItem] {
      Source.map(
        Source.entry(kind, folder: ["wifi"], title: "Cafe", [("security", .text, security), ("note", .note, "n")])
      ).items
    }
    let open = items(.wifi, "nopass")
    #expect(open.map(\.name.text) == ["wifi/Cafe", "wifi/Cafe/note"] && open.map(\.kind) == [.wifi, .note])
    #expect(open[0].value.value.count == 0 && open[0].attributes["ssid"] == "Cafe")
    #expect(open[0].attributes["security"] == "nopass")
    #expect(items(.wifi, "WPA").map(\.kind) == [.note] && items(.login, "nopass").map(\.kind) == [.note])
  }

  @Test("makes no item of a missing password") func withoutPassword() {
    let mapped = Source.map(
      Source.entry(title: "a", [("UserName", .username, "ana"), ("Notes", .note, "text")]))
    #expect(mapped.items.map(\.name.text) == ["a/Notes"])
    #expect(mapped.items[0].attributes["username"] == "ana" && mapped.items[0].attributes["title"] == "a")
    #expect(!mapped.isValueless)
    let nothing = Source.map(Source.entry(title: "a", []))
    #expect(nothing.items.isEmpty && nothing.places.map(\.fate) == [.refused("the entry has no value")])
  }

  @Test("makes a note of an entry that has nothing but texts, which remain attributes, too")
  func withoutValue() throws {
    let entry = Source.entry(
      id: "7f", title: "a", [("UserName", .username, "ana"), ("URL", .url, "u"), ("Project", .text, "vault")])
    let mapped = Source.map(entry)
    let item = try #require(mapped.items.first)
    #expect(mapped.items.count == 1 && mapped.isValueless && item.name.text == "a" && item.kind == .note)
    #expect(Source.text(item.value) == "username: ana\nurl: u\nProject: vault")
    #expect(item.attributes["url"] == "u" && item.attributes["username"] == "ana" && item.attributes["title"] == "a")
    #expect(item.attributes["source-id"] == "7f" && item.attributes["source-field"] == nil)
    #expect(mapped.places.map(\.item) == [0, 0, 0, 0, 0])
    // A value of the source that is empty makes no item either.
    let empty = Source.map(Source.entry(title: "a", [("Password", .password, ""), ("UserName", .username, "ana")]))
    #expect(empty.items.map(\.kind) == [.note] && empty.places[1].fate == .refused("it is empty"))
    let plan = PlannedVault().plan([mapped])
    let lines = ImportAccount(plan).lines
    #expect(lines.contains("`a` has no password or other value: a note of the other fields"), "\(lines)")
  }

  @Test("keeps a URL with a password out of the attributes") func secretURL() {
    let mapped = Source.map(
      Source.entry(title: "a", [("Password", .password, "x"), ("URL", .url, "https://ana:pw@example.org/@:")]))
    #expect(mapped.items.map(\.name.text) == ["a", "a/URL"] && mapped.items[0].attributes["url"] == nil)
    for url in ["https://ana@example.org:80/", "https://example.org/a:b@c", "ana:pw", ""] {
      #expect(!ImportNaming.hasPassword(url))
    }
  }

  @Test("makes versions of earlier passwords, the oldest first, and at most ten") func versions() {
    var fields = [Source.field("Password", .password, Array("new".utf8))]
    for number in (0..<12).reversed() {
      fields.append(Source.field("Password", .oldPassword, Array("old\(number)".utf8), time: Int64(number)))
    }
    // A program repeats a value if another field of the entry has changed.
    fields.append(Source.field("Password", .oldPassword, Array("new".utf8), time: 20))
    fields.append(Source.field("Password", .oldPassword, Array("old11".utf8), time: 15))
    let mapped = Source.map(Source.entry(.login, title: "a", of: fields))
    #expect(mapped.items.count == 1)
    #expect(mapped.items[0].versions.map(Source.text) == (3..<12).map { "old\($0)" })
    #expect(mapped.places.count { $0.fate == .refused("only ten versions are kept, with 1 MiB of earlier ones") } == 3)
    #expect(mapped.places.count { $0.fate == .version } == 11)
  }

  @Test("chooses the kind that accepts the value")
  func kinds() {
    func kind(_ kind: ImportedEntry.Kind, _ role: ImportedField.Role, _ bytes: [UInt8]) -> ItemKind? {
      let title = Source.field("title", .title, Array("home".utf8))
      return Source.map(Source.entry(kind, title: "home", of: [title, Source.field("f", role, bytes)])).items.first?
        .kind
    }
    #expect(kind(.value, .password, Array("token".utf8)) == .password)
    #expect(kind(.value, .secret, Array("two\nlines".utf8)) == .note)
    #expect(kind(.value, .password, [0xFF, 0]) == .blob)
    #expect(kind(.key, .password, Array("no key".utf8)) == .blob)
    #expect(kind(.sshKey, .password, Array("no key".utf8)) == .note)
    let key = "-----BEGIN PRIVATE KEY-----\nMAMCAQA=\n-----END PRIVATE KEY-----\n"
    #expect(kind(.sshKey, .password, Array(key.utf8)) == .sshKey)
    #expect(kind(.key, .password, Array(key.utf8)) == .tlsKey)
    #expect(kind(.token, .password, Array("npm_abc".utf8)) == .apiKey)
    #expect(kind(.token, .password, Array("two\nlines".utf8)) == .password)
    #expect(kind(.oneTime, .oneTime, Array("otpauth://totp/x?secret=JBSWY3DPEHPK3PXP".utf8)) == .totp)
    #expect(kind(.oneTime, .oneTime, Array("no secret 0189".utf8)) == .note)
    #expect(kind(.wifi, .password, Array("long enough".utf8)) == .wifi)
    #expect(kind(.wifi, .password, Array("short".utf8)) == .password)
    #expect(kind(.document, .document, Array("{}".utf8)) == .blob)
    #expect(kind(.note, .note, Array("text".utf8)) == .note)
    #expect(kind(.note, .note, [0xFF]) == .blob)
  }

  @Test("keeps an expiry that is ahead, and only notes one that has passed") func expiry() {
    func item(_ time: Int64) -> ImportedItem {
      Source.map(
        Source.entry(title: "a", [("Password", .password, "x"), ("Expires", .expires, String(time))])
      ).items[0]
    }
    #expect(item(Source.now + 1).expires == Source.now + 1)
    #expect(item(Source.now).expires == nil)
    #expect(item(Source.now).attributes["source-expires"] == "2027-01-15T08:00:00Z")
    #expect(item(Int64.max).attributes["source-expires"] == String(Int64.max))
    // A vault has not served the item either.
    let enforced = SourceField(
      ImportedField("ExpiryTime", .expires, size: 4, mark: ImportedField.enforced),
      Source.buffer(Array("1000".utf8)))
    let entry = Source.entry(.login, title: "a", of: [Source.field("Password", .password, [0x70]), enforced])
    #expect(Source.map(entry).items[0].expires == 1000)
  }

  @Test("takes an empty value, and the kind, from the marks that an export of a vault has left") func marks() {
    func kind(_ mark: String?, _ text: String) -> ItemKind? {
      let value = SourceField(
        ImportedField("Password", .password, size: text.utf8.count, mark: mark), Source.buffer(Array(text.utf8)))
      let network = Source.field("ssid", .text, [0x61])
      let security = Source.field("security", .text, Array("nopass".utf8))
      return Source.map(Source.entry(.login, title: "a", of: [value, network, security])).items.first?.kind
    }
    #expect(kind("device-token", "t") == .deviceToken && kind("pairing-code", "no code") == .password)
    #expect(kind("wifi", "") == .wifi && kind("spoon", "t") == .password)
    // An empty password of another program is none; the texts are a note then.
    #expect(kind(nil, "") == .note)
  }

  @Test("keeps a user name, a URL, labels and a media type that the source has as texts") func texts() {
    let mapped = Source.map(
      Source.entry(
        .note, title: "a",
        [("notes", .note, "n"), ("username", .text, "ana"), ("url", .text, "u"), ("media-type", .text, "a/b")]))
    #expect(mapped.items.map(\.name.text) == ["a"])
    #expect(
      mapped.items[0].attributes.filter { $0.key != "title" && $0.key != "source" } == [
        "username": "ana", "url": "u", "media-type": "a/b",
      ])
  }

  @Test("refuses settings, and what the program refused") func refused() {
    let mapped = Source.map(
      Source.entry(
        .login, title: "a",
        of: [
          Source.field("Password", .password, Array("x".utf8)), Source.field("Icon", .setting, [0x31]),
          Source.field("big", .attachment, [], refusal: "it is too large"),
        ]))
    #expect(
      mapped.places.map(\.fate) == [
        .value, .refused("it is a setting of the program that it comes from"), .refused("it is too large"),
      ])
  }

  @Test("tells sources apart by format and identification, or by the file's name")
  func sources() {
    func source(_ source: String, _ file: String) -> String {
      ImportMapping.source(ImportedFormat(name: "kdbx", detail: "", source: source), file: file)
    }
    #expect(source("", "a.kdbx") == "kdbx:a.kdbx")
    #expect(source("0f", "a.kdbx") == "kdbx:0f")
    #expect(source("kdbx:0f", "a.kdbx") == "kdbx:0f")
    #expect(source("\n", "a") == "kdbx:_")
    #expect(source(String(repeating: "x", count: 4000), "a").utf8.count < 1024)
  }
}
