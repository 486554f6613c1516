import Testing
import VaultWire

@testable import VaultImport

@Suite("Folders of credentials") struct DotfilesTests {
  private static let files = [
    (".aws/credentials", "[p]\naws_access_key_id=a\naws_secret_access_key=b"), (".env", "A=b"),
    (".git-credentials", "https://a:b@h"), (".netrc", "machine h login a password b"), (".npmrc", "//h/:_authToken=t"),
    (".pgpass", "h:1:d:u:p"), (".docker/config.json", "{\"auths\":{\"h.example\":{\"auth\":\"YTpi\"}}}"),
    (".ssh/known_hosts", "h ssh-rsa AAAA"), ("notes.txt", "hello"), ("sub/.env", "broken\n=x"),
  ].map { Source.File($0.0, Array($0.1.utf8)) }

  @Test("each file is read by its own format; others and damaged ones are listed") func mixed() throws {
    let read = try ReadEntries(DotfilesReader.self, Self.files)
    #expect(
      read.format?.detail == "files of credentials: ssh, netrc, pgpass, git-credentials, npmrc, docker, aws, env")
    #expect(
      read.told.filter { !$0.hasPrefix("  ") } == [
        "value .ssh/known_hosts", "login netrc/h/a", "login pgpass/h/1/d/u", "login git/https/h/a", "token npm/h",
        "login docker/h.example", "login aws/p", "value env/A", "value sub/.env", "value notes.txt",
      ])
    #expect(read.told.contains("  .env [setting] line 2: it does not begin with the name of a variable"))
    #expect(read.told.last == "  notes.txt [setting] its name is that of no known file of credentials")
  }

  @Test("a folder is recognized by one name, and a folder of one format is that format") func recognized() {
    func guess(_ files: [Source.File]) -> FileFormat? {
      FileFormat.guess(Source(files) { (_) throws(ImportFailure) in nil })
    }
    #expect(guess(Self.files) == .dotfiles)
    #expect(guess([Source.File("a/.env", Array("A=b".utf8)), Source.File("b/.env", Array("A=c".utf8))]) == .env)
    #expect(guess([Source.File("a", [0x61]), Source.File("b", [0x62])]) == nil)
    #expect(refusal(DotfilesReader.self, "x") == "no file has the name of a known file of credentials")
  }

  @Test("very large and very many entries are refused") func large() {
    #expect(
      refusal(NetrcReader.self, String(repeating: " ", count: (4 << 20) + 1))
        == "a file of this format has at most 4 MiB")
    let many = (0...(1 << 16)).map { "A\($0)=b\n" }.joined()
    #expect(refusal(EnvironmentReader.self, many) == "there are more than 65536 entries")
  }
}
