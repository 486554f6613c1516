import Testing
import VaultWire

@testable import VaultImport

@Suite("Folders of credentials") struct DotfilesTests {
  private static let files = [
    (".aws/credentials", "[p]\naws_access_key_id=a\naws_secret_access_key=b"), (".env", "A=b"),
    (".git-credentials", "https://a:b@h"), (".netrc", "machine h login a password b"), (".npmrc", "//h/:_authToken=t"),
    (".pgpass", "h:1:d:u:p"), (".docker/config.json", "{\"auths\":{\"h.example\":{\"auth\":\"YTpi\"}}}"),
    (".ssh/known_hosts", "h ssh-rsa AAAA"), ("notes.txt", "hello"), ("sub/.env", "broken\n=x"),
    (".kube/config", "users: [{name: ci, user: {token: t}}]\ncontexts: []"), (".kube/cache/x", "users"),
  ].map { Source.File($0.0, Array($0.1.utf8)) }

  @Test("each file is read by its own format; others and damaged ones are listed") func mixed() throws {
    let read = try ReadEntries(DotfilesReader.self, Self.files)
    let formats = "ssh, netrc, pgpass, git-credentials, npmrc, kubeconfig, docker, aws, env"
    #expect(read.format?.detail == "files of credentials: \(formats)")
    #expect(
      read.told.filter { !$0.hasPrefix("  ") } == [
        "value .ssh/known_hosts", "login netrc/h/a", "login pgpass/h/1/d/u", "login git/https/h/a", "token npm/h",
        "token kubectl/ci", "login kubectl/settings of config", "login other files", "login docker/h.example",
        "login aws/p", "value env/A", "value sub/.env", "login other files",
      ])
    #expect(read.told.contains("  .kube/cache/x [setting] it is a cache, which kubectl fills again"))
    #expect(read.told.contains("  line 2 [secret] it does not begin with the name of a variable"))
    #expect(read.told.last == "  notes.txt [attachment] its name is that of no known file of credentials")
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

  @Test("the credentials of a known file that is damaged are missed, and those of the others are taken") func damaged()
    throws
  {
    let files = [(".npmrc", "//h/:_authToken=t"), (".netrc", "machine h password"), (".kube/config", "users: [")]
    let told = try ReadEntries(DotfilesReader.self, files.map { Source.File($0.0, Array($0.1.utf8)) }).told
    #expect(told.contains("  _authToken [password] t"), "\(told)")
    #expect(told.contains("  .netrc [secret] line 1: no value follows the keyword of .netrc"), "\(told)")
    #expect(told.contains { $0.hasPrefix("  config [secret] ") }, "\(told)")
  }

  @Test("a folder with known files of several formats is none of one of them, whatever else lies in it")
  func several() throws {
    func guess(_ names: String..., key: String? = nil) -> FileFormat? {
      var files = names.map { name in
        Source.File(name, Array((Self.files.first { $0.path == name }?.bytes) ?? Array("x".utf8)))
      }
      if let key { files.append(Source.File(key, Array("-----BEGIN OPENSSH PRIVATE KEY-----\nx".utf8))) }
      return FileFormat.guess(Source(files) { (_) throws(ImportFailure) in nil })
    }
    #expect(guess(".netrc", key: ".ssh/id") == .dotfiles)
    #expect(guess(".netrc", ".kube/config", key: ".ssh/id") == .dotfiles)
    #expect(guess(".netrc", ".kube/config") == .dotfiles)
    #expect(guess(".kube/config", "notes.txt") == .kubeconfig)
    #expect(guess("notes.txt", key: ".ssh/id") == .dotfiles)
    // A key beside a .netrc makes no folder of ssh, either.
    #expect(guess(".netrc", key: "id") == .dotfiles)
    #expect(guess(".ssh/known_hosts", key: ".ssh/id") == .ssh)
    #expect(guess("config", "known_hosts", key: "id") == .ssh)
    #expect(guess("config", key: "work/id") == nil)
  }

  @Test("very large and very many entries are refused") func large() {
    #expect(
      refusal(NetrcReader.self, String(repeating: " ", count: (4 << 20) + 1))
        == "a file of this format has at most 4 MiB")
    let many = (0...(1 << 16)).map { "A\($0)=b\n" }.joined()
    #expect(refusal(EnvironmentReader.self, many) == "there are more than 65536 entries")
  }
}
