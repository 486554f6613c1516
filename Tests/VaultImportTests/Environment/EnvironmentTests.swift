import Foundation
import Testing
import VaultWire

@testable import VaultImport

@Suite("Files of variables") struct EnvironmentTests {
  private static let text = """
    # c
    export A=1
    B="with \\n \\"q\\" $HOME"   # x
    C='single # $'
    D=plain # comment
    E=a#b
    F=
    G
    H=vault:x/y
    I="multi
    line"
    J=over
    J=last

    """

  private func values(_ reader: any SourceReader.Type, _ text: String) throws -> [String: String] {
    let entries = try ReadEntries(reader, text, name: ".env").entries
    return Dictionary(
      entries.compactMap { entry in
        entry.fields.first { $0.role == .secret }.map { (entry.title, String(decoding: $0.value, as: UTF8.self)) }
      }
    ) { first, _ in first }
  }

  @Test("values are those that python-dotenv 1 reads") func dotenv() throws {
    #expect(
      try values(EnvironmentReader.self, Self.text) == [
        "A": "1", "B": "with \n \"q\" $HOME", "C": "single # $", "D": "plain", "E": "a#b", "F": "", "I": "multi\nline",
        "J": "last",
      ])
  }

  // python-dotenv 1.2.4 reads these values, without the expansion of variables.
  @Test(
    "quotes, escapes, comments and names are those of python-dotenv",
    arguments: [
      ("A=s3#cr et", "A", "s3#cr et"), ("A=`back tick`", "A", "`back tick`"), (#"A="p@ss \"q\"""#, "A", #"p@ss "q""#),
      (#"A='it\'s \\ \n'"#, "A", #"it's \ \n"#), (#"A="a\$b\v""#, "A", "a\\$b\u{B}"), ("A= #x", "A", "#x"),
      ("A=x\t# c", "A", "x"), (#"A=a\nb"#, "A", #"a\nb"#), ("'X Y'=3", "X Y", "3"), ("A:b=1", "A:b", "1"),
      ("export\tA = 'x'#c", "A", "x"), ("A='x\r\ny'", "A", "x\ny"), (#"A='x\'"#, "A", #"x\"#), ("A=", "A", ""),
    ])
  func python(_ text: String, _ name: String, _ value: String) throws {
    #expect(try values(EnvironmentReader.self, text) == [name: value])
  }

  @Test("a line that cannot be read is missed, and keeps no other out") func badLines() throws {
    let told = try ReadEntries(EnvironmentReader.self, "A=1\nKEY: value\nB='x' y\n=z\nC=2\nD=\"open\nE=3\n").told
    #expect(
      told.filter { !$0.contains("[setting]") } == [
        "value env/a/A", "  A [secret] 1", "value env/a/C", "  C [secret] 2", "value env/a/E", "  E [secret] 3",
        "value a", "  line 2 [secret] there is no = after the name",
        "  line 3 [secret] there is something after the closing quote",
        "  line 4 [secret] it does not begin with the name of a variable",
        "  line 6 [secret] the quotes do not end",
      ])
  }

  @Test("docker takes the line as it is") func docker() throws {
    let text = "A=\"q\" # c\n B=x \\\nC= y\n"
    #expect(try values(DockerEnvironmentReader.self, text) == ["A": "\"q\" # c", "B": "x \\", "C": " y"])
    #expect(refusal(DockerEnvironmentReader.self, "a b=c") == "line 1: it does not begin with the name of a variable")
  }

  // systemd 252 read the same file with the same values, by systemd-environment-d-generator(8).
  @Test("systemd has rules of its own for quotes and backslashes") func systemd() throws {
    let url = try #require(Bundle.module.url(forResource: "Files/systemd.env", withExtension: nil))
    let text = try String(contentsOf: url, encoding: .utf8)
    #expect(
      try values(SystemdEnvironmentReader.self, text) == [
        "A": "a\\bc\"\\dee f   g", "B": "x", "C": "plain # not comment", "D": "two\nlines", "E": "a\"b c\"d",
        "F": "xy", "G": "ab \"c\"", "H": "q", "I": "a", "J": " x", "K": "a",
      ])
    #expect(refusal(SystemdEnvironmentReader.self, "\nA=\"x") == "line 2: the quotes do not end")
  }

  @Test("a value that other programs read otherwise is told with the programs") func differences() throws {
    func others(_ text: String) throws -> [String] {
      try ReadEntries(EnvironmentReader.self, text).told.filter { $0.contains("[setting] it is read otherwise") }
    }
    #expect(try others("A=plain\nB=two words\n").isEmpty)
    #expect(try others("A=\"quoted\"").count == 1)
    #expect(try others("A=x # c").count == 2)
    #expect(try others("export A=1").count == 2)
    #expect(try others("A=\"a\\nb\"").contains { $0.contains("systemd") })
    // Values that JavaScript's dotenv 17 and `node --env-file` (20) read otherwise.
    func script(_ text: String) throws -> Bool { try others(text).contains { $0.contains("`node --env-file`") } }
    for text in ["A=s3#cr et", "A=`back tick`", #"A="p \"q\"""#, #"A='it\'s'"#, "A= #x", "'X Y'=3"] {
      #expect(try script(text), "\(text)")
    }
    for text in ["A=b", "A=b # c", "A='b # c' # d", "A=\"b\\nc\"", "A=", "export A=1", "A='x\ny'"] {
      #expect(try !script(text), "\(text)")
    }
    #expect(try ReadEntries(EnvironmentReader.self, "A=$B").told.contains { $0.contains("programs that expand") })
  }

  @Test("what is no value is listed") func settings() throws {
    let told = try ReadEntries(EnvironmentReader.self, Self.text, name: ".env").told
    #expect(
      told.drop { $0 != "value .env" }.dropFirst() == [
        "  G [setting] it has no value, or gets it from the environment",
        "  H [setting] it refers to an item of a vault",
        "  J [setting] a later line of the file gives the variable another value",
        "  comments [setting] it is a setting of the program that it comes from",
      ])
  }

  @Test(
    "the name of the file makes the folder",
    arguments: [(".env", "env/A"), (".env.prod", "env/prod/A"), ("app.env", "env/app/A"), ("x/.env", "env/x/A")])
  func names(_ file: String, _ item: String) throws {
    #expect(try ReadEntries(EnvironmentReader.self, "A=b", name: file).told.first == "value \(item)")
  }

  @Test(
    "what is damaged is an error with its line",
    arguments: [
      ("\n=x", "line 2: it does not begin with the name of a variable"),
      ("A B=c", "line 1: there is no = after the name"),
      ("A=\"x", "line 1: the quotes do not end"), ("A='x'y", "line 1: there is something after the closing quote"),
    ])
  func damaged(_ text: String, _ reason: String) {
    #expect(refusal(EnvironmentReader.self, text) == reason)
  }

  @Test("it is recognized by its name or by all of its lines") func recognized() {
    #expect(recognizes(EnvironmentReader.self, "", name: ".env.local"))
    #expect(recognizes(EnvironmentReader.self, "#\nA=b\n"))
    #expect(!recognizes(EnvironmentReader.self, "word") && !recognizes(EnvironmentReader.self, "a,b\n1,2"))
    #expect(!recognizes(DockerEnvironmentReader.self, "A=b"))
  }

  @Test("no damaged file crashes a reader") func attacked() {
    attack(EnvironmentReader.self, Self.text, name: ".env")
    attack(SystemdEnvironmentReader.self, Self.text)
  }
}
