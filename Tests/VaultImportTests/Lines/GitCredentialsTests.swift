import Testing
import VaultWire

@testable import VaultImport

@Suite("Git's stored credentials") struct GitCredentialsTests {
  // git credential-store (2.39.5) wrote these lines.
  private static let written = """
    http://c%2fd:tok%20en@h%3a8080
    https://bob:x@Git.example%3a443/team/repo.git
    https://ana:p%40ss%20w%3ard%2f%c3%a9@example.org

    """

  @Test("lines become the items that the git helper looks up") func lines() throws {
    #expect(
      try ReadEntries(GitCredentialsReader.self, Self.written, name: ".git-credentials").told == [
        "login git/http/h:8080/c%2Fd", "  URL [url] http://h:8080", "  user [username] c/d",
        "  password [password] tok en", "login git/https/git.example/team%2Frepo.git/bob",
        "  URL [url] https://Git.example:443/team/repo.git", "  user [username] bob", "  password [password] x",
        "login git/https/example.org/ana", "  URL [url] https://example.org", "  user [username] ana",
        "  password [password] p@ss w:rd/é",
      ])
  }

  @Test("lines that git ignores are listed") func ignored() throws {
    #expect(
      try ReadEntries(GitCredentialsReader.self, "https://a:b@h\nhttps://h/x\n# c\n", name: "x").told.suffix(3) == [
        "value x", "  line 2 [setting] it is no URL with a user and a password, and git ignores it",
        "  line 3 [setting] it is no URL with a user and a password, and git ignores it",
      ])
    #expect(refusal(GitCredentialsReader.self, "https://h") == "no line is a URL with a user and a password")
  }

  @Test("it is recognized by its name or by all of its lines") func recognized() {
    #expect(recognizes(GitCredentialsReader.self, "", name: ".config/git/credentials"))
    #expect(recognizes(GitCredentialsReader.self, Self.written))
    #expect(!recognizes(GitCredentialsReader.self, "https://a:b@h\nhttps://h"))
  }

  @Test("no damaged file crashes the reader") func attacked() { attack(GitCredentialsReader.self, Self.written) }
}
