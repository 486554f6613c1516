import Testing
import VaultWire

@testable import VaultImport

@Suite("Logins of .netrc") struct NetrcTests {
  private func read(_ text: String) throws -> [String] { try ReadEntries(NetrcReader.self, text, name: ".netrc").told }

  @Test("machines, the default and their words become logins with the host as the URL") func machines() throws {
    let text = """
      machine example.org login ana password s3cret
      machine h2 user bob
        account acct passwd "two words" port 21
      default login anonymous password me@x
      """
    #expect(
      try read(text) == [
        "login netrc/example.org/ana", "  machine [url] example.org", "  login [username] ana",
        "  password [password] s3cret", "login netrc/h2/bob", "  machine [url] h2", "  user [username] bob",
        "  account [secret] acct", "  passwd [password] two words", "  port [text] 21",
        "login netrc/default/anonymous", "  login [username] anonymous", "  password [password] me@x",
      ])
  }

  @Test(
    "a password is as curl 7.88 sends it",
    arguments: [
      (#"b"#, "b"), (#""b \"c\\ d""#, #"b "c\ d"#), (#""b\nc""#, "b\nc"), (#"b\c"#, #"b\c"#), (#"b,c#d"#, "b,c#d"),
      (#""""#, ""),
    ])
  func password(_ word: String, _ password: String) throws {
    let entry = try #require(
      try ReadEntries(NetrcReader.self, "machine h login a password \(word) # c\n").entries.first)
    #expect(entry.fields.contains { $0.name == "password" && $0.value == Array(password.utf8) })
  }

  @Test("words that Python and ftp read otherwise are told") func otherReadings() throws {
    func others(_ word: String) throws -> [String] {
      try read("machine h login a password \(word)").filter { $0.contains("as others read it") }
    }
    #expect(try others(#"a\b"#).first?.contains("Python and ftp(1) take a backslash as an escape") == true)
    #expect(try others(#""a\nb""#).first?.contains("as letters") == true)
    #expect(try others("a,b").first?.contains("ftp(1) takes a comma") == true)
    #expect(try others("#a").first?.contains("curl and git take #") == true)
    #expect(try others(#""a\"b""#).isEmpty)
    #expect(try others("plain").isEmpty)
  }

  @Test("macros, comments and logins without a password are listed") func settings() throws {
    let text = "# top\nmachine h login a\nmacdef init\ncd /pub\nput x\n\nmachine i login b password c\n"
    #expect(
      try read(text) == [
        "login netrc/h/a", "  machine [setting] nothing beside it is a secret, so it stays where it is",
        "  login [setting] nothing beside it is a secret, so it stays where it is", "login netrc/i/b",
        "  machine [url] i", "  login [username] b", "  password [password] c", "value .netrc",
        "  macdef init [setting] it is a macro of ftp(1), and no credential",
        "  comments [setting] it is a setting of the program that it comes from",
      ])
  }

  @Test("a second login of a machine has an item of its own, and no name leaves the folder") func names() throws {
    let text = "machine ../a/b login x/y password 1 machine h password 2 machine h password 3"
    let entries = try ReadEntries(NetrcReader.self, text).entries
    let paths = entries.map { ($0.folder + [$0.title]).joined(separator: "/") }
    #expect(paths == ["netrc/..%2Fa%2Fb/x%2Fy", "netrc/h", "netrc/h"])
    // An identification means one entry.
    #expect(entries.map(\.id) == ["netrc/..%2Fa%2Fb/x%2Fy", "netrc/h", ""])
  }

  @Test(
    "what is damaged is an error with its line, and without the word",
    arguments: [
      ("machine h login a password two words", "line 1: a word is no keyword of .netrc"),
      ("\nlogin a", "line 2: no machine precedes the keyword of .netrc"),
      ("machine h password", "line 1: no value follows the keyword of .netrc"),
      ("machine h password \"x", "line 1: the quotes do not end of .netrc"),
    ])
  func damaged(_ text: String, _ reason: String) {
    #expect(refusal(NetrcReader.self, text) == reason)
  }

  @Test("it is recognized by its name and by its words") func recognized() {
    #expect(recognizes(NetrcReader.self, "", name: ".netrc") && recognizes(NetrcReader.self, "machine h login a"))
    #expect(recognizes(NetrcReader.self, "# c\n\ndefault\n  login a"))
    #expect(!recognizes(NetrcReader.self, "machine learning"))
  }

  @Test("no damaged file crashes the reader") func attacked() {
    attack(NetrcReader.self, "# c\nmachine h login a password \"b\\n\"\nmacdef m\nx\n\ndefault account b\n")
  }
}
