import Testing
import VaultBytes
import VaultWire

@testable import VaultImport

@Suite("The files that are written") struct WrittenFileTests {
  @Test("a database says how its key is made") func derivation() throws {
    let header = try KDBXHeader(RoundTrip.file([], .kdbx, memory: 64))
    #expect(header.major == 4 && header.minor == 0)
    #expect(try header.derivation(mostMemory: 64 << 20).text == "Argon2id with 64 MiB, 10 passes and 4 lanes")
    #expect(try !header.isCompressed)
  }

  @Test("an entry is marked only if its fields do not tell its kind", arguments: ImportedEntry.Kind.allCases)
  func kinds(kind: ImportedEntry.Kind) throws {
    var entry = Entry(kind, title: "a")
    entry.add(kind == .note ? "Notes" : "Password", kind == .note ? .note : .password, "p")
    let read = try RoundTrip.entries(in: RoundTrip.file([entry], .kdbx), .kdbx)
    #expect(read.map(\.kind) == [kind])
    #expect(!read[0].fields.contains { $0.role == .setting })
  }

  @Test("a mark that names no kind is a setting like others") func wrongMark() throws {
    let data = "<CustomData><Item><Key>vault.kind</Key><Value>spoon</Value></Item></CustomData>"
    let entry = "<Entry>\(SealedDatabase.string("Title", "a"))\(SealedDatabase.string("Password", "p"))\(data)</Entry>"
    let found = try ReadEntries(document: entry)
    #expect(found.entries[0].kind == .login && found.entries[0].texts("CustomData/vault.kind") == ["spoon"])
  }

  @Test("the marks of fields come back on them, and those of fields that are gone are settings") func marks() throws {
    var entry = Entry(.wifi, title: "a")
    entry.fields.append(Field("Password", .password, [], mark: "wifi"))
    entry.fields.append(Field("token", .secret, Array("t".utf8), mark: "api-key"))
    entry.fields.append(Field("expires", .expires, Array("1000".utf8), mark: ImportedField.enforced))
    let read = try RoundTrip.entries(in: RoundTrip.file([entry], .kdbx), .kdbx)[0]
    #expect(read.kind == .wifi && !read.fields.contains { $0.role == .setting })
    #expect(read.fields.first { $0.role == .password }?.mark == "wifi")
    #expect(read.fields.first { $0.name == "token" }?.mark == "api-key")
    #expect(read.fields.first { $0.role == .expires }?.mark == "enforced" && read.texts("ExpiryTime") == ["1000"])
    let data = "<CustomData><Item><Key>vault.kind/gone</Key><Value>wifi</Value></Item></CustomData>"
    let found = try ReadEntries(document: "<Entry>\(SealedDatabase.string("Password", "p"))\(data)</Entry>")
    #expect(found.entries[0].texts("CustomData/vault.kind/gone") == ["wifi"])
    // KeePassXC adds the time of its changes.
    let items = [("vault.kind/Password", "api-key"), ("_LAST_MODIFIED", "Tue Dec 1 2026")].map { key, value in
      "<Item><Key>\(key)</Key><Value>\(value)</Value></Item>"
    }
    let password = SealedDatabase.string("Password", "p")
    let edited = try ReadEntries(document: "<Entry>\(password)<CustomData>\(items.joined())</CustomData></Entry>")
    #expect(!edited.entries[0].fields.contains { $0.role == .setting })
    #expect(edited.entries[0].fields.first { $0.role == .password }?.mark == "api-key")
  }

  @Test("a text that an export has marked as an attribute is one, unless somebody has protected it since")
  func attributes() throws {
    var entry = Entry(.login, title: "a")
    entry.add("Password", .password, "p")
    entry.fields.append(Field("pin", .text, Array("1234".utf8), mark: ImportedField.attribute))
    entry.add("token", .text, "t")
    let read = try RoundTrip.entries(in: RoundTrip.file([entry], .kdbx), .kdbx)[0]
    #expect(read.fields.first { $0.name == "pin" }?.mark == ImportedField.attribute)
    #expect(read.fields.filter { $0.mark != nil }.count == 1 && !read.fields.contains { $0.role == .setting })
    func found(_ string: String, _ value: String) throws -> Entry {
      let item = "<Item><Key>vault.attribute/pin</Key><Value>\(value)</Value></Item>"
      return try ReadEntries(document: "<Entry>\(string)<CustomData>\(item)</CustomData></Entry>").entries[0]
    }
    let name = "CustomData/vault.attribute/pin"
    let protected = #"<String><Key>pin</Key><Value ProtectInMemory="True">1</Value></String>"#
    let open = SealedDatabase.string("pin", "1")
    for (string, value) in [(protected, "attribute"), (open, "api-key"), ("", "attribute")] {
      let entry = try found(string, value)
      #expect(entry.texts(name) == [value] && entry.fields.allSatisfy { $0.mark == nil })
    }
    #expect(try found(open, "attribute").texts(name).isEmpty)
  }

  @Test("an expiry of another program has no mark") func otherExpiry() throws {
    let times = "<Times><ExpiryTime>2020-01-01T00:00:00Z</ExpiryTime><Expires>True</Expires></Times>"
    let found = try ReadEntries(document: "<Entry>\(SealedDatabase.string("Password", "p"))\(times)</Entry>")
    let field = found.entries[0].fields.first { $0.role == .expires }
    #expect(field?.text == "1577836800" && field?.mark == nil)
  }

  @Test("characters that XML does not allow are protected, or replaced in names") func characters() throws {
    var entry = Entry(.login, folder: ["f\u{FFFE}"], title: "a")
    entry.add("Notes", .note, "bell \u{7}")
    entry.add("Password", .password, "p")
    let read = try RoundTrip.entries(in: RoundTrip.file([entry], .kdbx), .kdbx)
    #expect(read[0].folder == ["f?"] && read[0].texts("Notes") == ["bell \u{7}"])
    #expect(XMLCharacters.isAllowed(Array("ä\t\r\n🔑".utf8)) && !XMLCharacters.isAllowed([0xFF]))
  }

  @Test("folders lie in each other once") func folders() throws {
    let paths = [["b", "c"], ["b"], [], ["b", "c", "d"], ["a"], ["b", "c"]]
    let entries = paths.enumerated().map { number, path in
      var entry = Entry(.login, folder: path, title: "\(number)")
      entry.add("Password", .password, "p")
      return entry
    }
    let read = try RoundTrip.entries(in: RoundTrip.file(entries, .kdbx), .kdbx)
    #expect(read.map(\.title) == ["2", "4", "1", "0", "5", "3"])
    #expect(read.map(\.folder) == [[], ["a"], ["b"], ["b", "c"], ["b", "c"], ["b", "c", "d"]])
  }

  @Test("Bitwarden's items have the members of their type") func bitwarden() throws {
    var login = Entry(.login, folder: ["x", "y"], title: "l")
    login.add("uri", .url, "https://a.example/")
    login.add("password", .password, "p")
    var key = Entry(.sshKey, title: "k")
    key.add("privateKey", .password, "private")
    key.add("publicKey", .text, "public")
    let text = String(decoding: try RoundTrip.file([login, key], .bitwarden, password: nil), as: UTF8.self)
    #expect(text.contains(#""name":"x/y""#) && text.contains(#""uris":[{"match":null,"uri":"https://a.example/"}]"#))
    #expect(text.contains(#""type":5"#) && text.contains(#""sshKey":{"privateKey":"private","publicKey":"public"}"#))
  }

  @Test(
    "times of Bitwarden",
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (951_782_400, "2000-02-29T00:00:00.000Z"),
      (1_714_979_289, "2024-05-06T07:08:09.000Z"), (253_402_300_799, "9999-12-31T23:59:59.000Z"),
      (-1, "1970-01-01T00:00:00.000Z"), (Int64.max, "1970-01-01T00:00:00.000Z"),
    ]) func times(unix: Int64, text: String)
  {
    #expect(BitwardenTime.text(unix) == text)
  }

  @Test("times of KeePass go both ways", arguments: [0, 1, 1_700_000_000, -62_135_596_800, 253_402_300_799])
  func keepassTimes(unix: Int64) { #expect(KDBXTime.seconds(KDBXTime.text(unix)) == unix) }
}
