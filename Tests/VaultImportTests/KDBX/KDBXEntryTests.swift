import Testing
import VaultBytes
import VaultWire

@testable import VaultImport

@Suite("The entries of a KeePass database") struct KDBXEntryTests {
  private func only(_ strings: [(String, String)], more: String = "") throws -> Entry {
    let texts = strings.map { SealedDatabase.string($0.0, $0.1) }.joined()
    return try #require(try ReadEntries(document: "<Entry>\(texts)\(more)</Entry>").entries.first)
  }

  @Test("have no fields for empty texts") func empty() throws {
    let entry = try only([("Title", ""), ("UserName", ""), ("Password", ""), ("URL", ""), ("Notes", ""), ("own", "")])
    #expect(entry.lines == [] && entry.title == "" && entry.kind == .login && entry.id == "")
  }

  @Test("are notes if they have only a text") func kinds() throws {
    #expect(try only([("Notes", "n")]).kind == .note)
    for key in ["UserName", "Password", "URL"] { #expect(try only([("Notes", "n"), (key, "x")]).kind == .login) }
    #expect(try only([("Notes", "n"), ("otp", "JBSWY3DPEHPK3PXP")]).kind == .login)
  }

  @Test("keep a second field of the same name") func twice() throws {
    let entry = try only([("Title", "a"), ("Password", "b"), ("Title", "c"), ("Password", "d")])
    #expect(entry.lines == ["password Password=b", "text Title=c", "text Password=d"] && entry.title == "a")
  }

  @Test("have their attachments, unless these are too large or missing") func attachments() throws {
    func binary(_ name: String, _ value: String) -> String { "<Binary><Key>\(name)</Key>\(value)</Binary>" }
    let body = [
      binary("a", "<Value Ref=\"0\"/>"), binary("b", "<Value Ref=\"1\"/>"), binary("c", "<Value Ref=\"2\"/>"),
      binary("d", "<Value>aGk=</Value>"), binary("e", "<Value/>"),
    ].joined()
    let found = try ReadEntries(
      document: "<Entry>\(body)</Entry>", binaries: [[104, 105], Array(repeating: 0, count: 1 << 20 + 1)],
      isCompressed: true)
    #expect(
      found.entries.first?.lines == [
        "attachment a=hi", "attachment b=(1048577) it has 1048577 bytes, and an item has room for 1 MiB",
        "attachment c=(0) the database does not contain this file", "attachment d=hi", "attachment e=",
      ])
  }

  @Test("have compressed attachments of KDBX 3.1, also large ones by their size") func compressed() throws {
    func binary(_ id: Int, _ bytes: [UInt8]) -> String {
      "<Binary ID=\"\(id)\" Compressed=\"True\">\(SealedDatabase.gzip(bytes).base64)</Binary>"
    }
    let pool = binary(0, [104, 105]) + binary(1, Array(repeating: 1, count: 3 << 20))
    let body = "<Entry><Binary><Key>a</Key><Value Ref=\"0\"/></Binary><Binary><Key>b</Key><Value Ref=\"1\"/></Binary>"
    let found = try ReadEntries(document: body + "</Entry>", meta: "<Binaries>\(pool)</Binaries>")
    #expect(
      found.entries.first?.lines == [
        "attachment a=hi", "attachment b=(3145728) it has 3145728 bytes, and an item has room for 1 MiB",
      ])
  }

  @Test("refuse texts for which an item has no room") func long() throws {
    let entry = try only([("Notes", String(repeating: "x", count: 2 << 20))])
    #expect(entry.lines == ["note Notes=(2097152) it has 2097152 bytes, and an item has room for 1 MiB"])
  }

  @Test("have cut titles if these are very long, and a field with all of it") func longTitle() throws {
    let title = String(repeating: "ü", count: 20_000)
    let entry = try only([("Title", title)])
    #expect(entry.title.utf8.count == ImportedEntry.most.text && entry.texts(.title) == [title])
  }

  @Test("say how many fields are left out if there are too many") func many() throws {
    let entry = try only((0..<5000).map { ("k\($0)", "v") })
    #expect(entry.fields.count == ImportedEntry.most.fields)
    #expect(entry.fields.last?.refusal == "the entry has more than 4096 fields, and these 905 are the last ones")
    let versions = (0..<6000).map { "<Entry>\(SealedDatabase.string("Password", "\($0)"))</Entry>" }.joined()
    let old = try only([("Password", "now")], more: "<History>\(versions)</History>")
    #expect(old.fields.count == ImportedEntry.most.fields && old.texts(.password) == ["now"])
    #expect(old.texts(.oldPassword).last == "5999")
    #expect(old.fields.last?.refusal?.hasSuffix("are the oldest of its history") == true)
  }

  @Test("lie in folders that are not nested too deeply") func folders() throws {
    func nested(_ count: Int) -> String {
      String(repeating: "<Group><Name>g</Name>", count: count) + "<Entry/>"
        + String(repeating: "</Group>", count: count)
    }
    #expect(try ReadEntries(document: nested(64)).entries.first?.folder.count == 64)
    #expect(KDBXStand.failure(try SealedDatabase.bytes(SealedDatabase.document(nested(65))))?.code == .tooLarge)
  }

  @Test("have their earlier values once each, the oldest first, with the times at which these came") func history()
    throws
  {
    func version(_ time: Int, _ password: String, _ user: String) -> String {
      "<Entry><Times><LastModificationTime>2020-01-01T00:00:0\(time)Z</LastModificationTime></Times>"
        + SealedDatabase.string("Password", password) + SealedDatabase.string("UserName", user) + "</Entry>"
    }
    let versions = version(1, "a", "u") + version(2, "a", "v") + version(3, "b", "v") + version(4, "a", "")
    let entry = try only([("Password", "c"), ("UserName", "w")], more: "<History>\(versions)</History>")
    let old = entry.fields.filter { $0.role == .oldPassword || $0.role == .oldField }
    #expect(old.map(\.text) == ["u", "a", "b", "v", "a"])
    #expect(old.map { ($0.time ?? 0) - 1_577_836_800 } == [1, 1, 3, 2, 4])
  }

  @Test("are in the trash below the group for deleted entries only") func trash() throws {
    let bin =
      "<Group><UUID>AQEBAQEBAQEBAQEBAQEBAQ==</UUID><Name>bin</Name><Entry>\(SealedDatabase.string("Title", "x"))"
    let body = bin + "</Entry><Group><Entry>\(SealedDatabase.string("Title", "y"))</Entry></Group></Group><Entry/>"
    let meta = "<RecycleBinUUID>AQEBAQEBAQEBAQEBAQEBAQ==</RecycleBinUUID>"
    #expect(try ReadEntries(document: body, meta: meta).entries.map(\.isTrashed) == [true, true, false])
    #expect(try ReadEntries(document: body).entries.map(\.isTrashed) == [false, false, false])
  }
}
