import Testing
import VaultWire

@testable import VaultImport

@Suite("PostgreSQL's password file") struct PGPassTests {
  @Test("lines become logins, with escapes and wildcards as libpq reads them") func lines() throws {
    let text = "# c\nlocalhost:5432:app:ana:s3\\:c\\\\ret\n*:*:*:postgres:any:rest\n\nbad line\n[::1]\n"
    #expect(
      try ReadEntries(PGPassReader.self, text, name: ".pgpass").told == [
        "login pgpass/localhost/5432/app/ana", "  host [url] localhost", "  port [text] 5432", "  database [text] app",
        "  user [username] ana", "  password [password] s3:c\\ret", "login pgpass/%2A/%2A/%2A/postgres",
        "  host [url] *", "  port [text] *", "  database [text] *", "  user [username] postgres",
        "  password [password] any",
        "  text after the password [setting] libpq reads nothing after a colon behind the password", "value .pgpass",
        "  line 5 [setting] it has no host:port:database:user:password, and libpq ignores it",
        "  line 6 [setting] it has no host:port:database:user:password, and libpq ignores it",
        "  comments [setting] it is a setting of the program that it comes from",
      ])
  }

  @Test("an IPv6 address and a backslash at the end are read") func oddities() throws {
    let entry = try #require(try ReadEntries(PGPassReader.self, "\\:\\:1:5432:a:b:c\\\r\n").entries.first)
    let values = entry.fields.map { String(decoding: $0.value, as: UTF8.self) }
    #expect(values.dropFirst() == ["::1", "5432", "a", "b", "c\\"])
  }

  @Test("it is recognized by its name or by the ports of all lines") func recognized() {
    #expect(recognizes(PGPassReader.self, "x", name: ".pgpass") && recognizes(PGPassReader.self, "h:*:d:u:p\n#\n"))
    #expect(!recognizes(PGPassReader.self, "root:x:0:0:root:/root:/bin/sh") && !recognizes(PGPassReader.self, ""))
    #expect(refusal(PGPassReader.self, "x") == "no line is host:port:database:user:password")
  }

  @Test("no damaged file crashes the reader") func attacked() {
    attack(PGPassReader.self, "# c\nh:1:d:u:p\\:\\\\\n*:*:*:*:x:y\n")
  }
}
