import Testing
import VaultWire

@testable import VaultImport

@Suite("npm's settings") struct NpmrcTests {
  private func read(_ text: String) throws -> [String] { try ReadEntries(NpmrcReader.self, text, name: ".npmrc").told }

  // npm config set (10.8.2) wrote these lines.
  private static let written = """
    //registry.npmjs.org/:_authToken=npm_abc123
    //gitlab.example/api/v4/npm/:_password="cGFzcw=="
    //gitlab.example/api/v4/npm/:username=ana
    @acme:registry=https://gitlab.example/api/v4/npm/
    //auth.example/:_auth="YW5hOnM6ZWM="
    proxy=http://u:p@proxy:3128
    fund=false

    """

  @Test("registries become tokens and logins, and a proxy's password is kept") func registries() throws {
    #expect(
      try read(Self.written) == [
        "value npm/proxy", "  proxy [secret] http://u:p@proxy:3128", "token npm/registry.npmjs.org",
        "  registry [url] https://registry.npmjs.org/", "  _authToken [password] npm_abc123",
        "login npm/gitlab.example%2Fapi%2Fv4%2Fnpm", "  registry [url] https://gitlab.example/api/v4/npm/",
        "  _password [password] pass", "  username [username] ana", "login npm/auth.example",
        "  registry [url] https://auth.example/", "  _auth [username] ana", "  _auth [password] s:ec", "value .npmrc",
        "  @acme:registry [setting] it is a setting of the program that it comes from",
        "  fund [setting] it is a setting of the program that it comes from",
      ])
  }

  @Test("settings without a registry are those of the main one, as up to npm 8") func main() throws {
    #expect(
      try read("registry=https://r.example:8443/npm/\n_authToken = t\nemail = a@b\n").prefix(4) == [
        "token npm/r.example:8443%2Fnpm", "  registry [url] https://r.example:8443/npm/", "  _authToken [password] t",
        "  email [text] a@b",
      ])
    #expect(try read("_auth=!").first == "login npm/registry.npmjs.org")
  }

  @Test("a value from the environment is no secret, and quotes, escapes and comments are npm's") func values() throws {
    let text =
      "//h/:_authToken=${NPM_TOKEN}\n; c\nkey=\"-----BEGIN\\nX\"\n//i/:_authToken = a\\;b ; c\n"
      + "//j/:_authToken='x y'"
    let told = try read(text)
    #expect(told.contains("  key [secret] -----BEGIN\nX") && told.contains("  _authToken [password] a;b"))
    #expect(told.contains("  _authToken [setting] it refers to a variable of the environment"))
    #expect(told.contains("  _authToken [password] x y"))
  }

  @Test("it is recognized by its name or by a registry's credential") func recognized() {
    #expect(recognizes(NpmrcReader.self, "", name: ".npmrc") && recognizes(NpmrcReader.self, Self.written))
    #expect(!recognizes(NpmrcReader.self, "fund=false") && refusal(NpmrcReader.self, "a=\u{0}") == nil)
  }

  @Test("no damaged file crashes the reader") func attacked() { attack(NpmrcReader.self, Self.written) }
}
