import Testing
import VaultWire

@testable import VaultImport

@Suite("Kubeconfig files") struct KubeconfigTests {
  @Test("give each user a token, or a key with its certificate, where the helper for kubectl finds it")
  func users() throws {
    let file = try realFile("kubeconfig.yaml")
    let read = try ReadEntries(KubeconfigReader.self, [file])
    #expect(read.format?.name == "kubeconfig")
    let titles = read.entries.map { "\($0.kind.rawValue) \(($0.folder + [$0.title]).joined(separator: "/"))" }
    #expect(
      titles == [
        "key kubectl/ana", "token kubectl/ci", "login kubectl/eks", "login kubectl/file", "login kubectl/oidc",
        "login kubectl/settings of kubeconfig.yaml",
      ])
    let key = try #require(read.entries[0].fields.first { $0.role == .password })
    let text = String(decoding: key.value, as: UTF8.self)
    #expect(text.hasPrefix("-----BEGIN PRIVATE KEY-----\n") && text.hasSuffix("-----END CERTIFICATE-----\n"))
    #expect(
      read.told.contains("  server [url] https://10.0.0.1:6443") && read.told.contains("  token [password] tok-1"))
    #expect(read.told.contains("  exec.command [setting] kubectl gets these credentials from another program"))
    #expect(read.told.contains("  auth-provider.config.client-secret [secret] cs"))
    #expect(
      read.told.contains("  client-key [setting] it names a file that is not in the source; import the file by itself"))
  }

  @Test("take keys and tokens from the files beside them, and from nowhere else") func neighbors() throws {
    let text = """
      users:
      - {name: a/b, user: {client-key: ../k.pem, client-certificate: ./c.pem, username: u, password: p}}
      - {name: t, user: {tokenFile: token}}
      - {name: x, user: {client-key: ../../k.pem}}
      - {name: y, user: {client-key: /k/k.pem, client-key-data: a2V5}}
      contexts: []
      """
    let files = [
      Source.File("k/config", Array(text.utf8)), Source.File("k.pem", Array("KEY\n".utf8)),
      Source.File("k/c.pem", Array("CERT".utf8)), Source.File("k/token", Array("tok\n".utf8)),
      Source.File("cache", [1]),
    ]
    #expect(
      try ReadEntries(KubeconfigReader.self, files).told == [
        "key kubectl/a/b", "  client-key, client-certificate [password] KEY\nCERT", "  username [username] u",
        "  password [secret] p", "token kubectl/t", "  tokenFile [password] tok", "login kubectl/x",
        "  client-key [setting] it names a file that is not in the source; import the file by itself",
        "key kubectl/y", "  client-key [setting] /k/k.pem", "  client-key-data [password] key",
        "login kubectl/settings of config", "  contexts [setting] ", "login other files",
        "  cache [attachment] no kubeconfig names this file",
      ])
  }

  @Test("tell a password from a token by its user name; without one it is neither") func passwords() throws {
    let text = """
      users:
      - {name: basic, user: {username: bob, password: hunter2}}
      - {name: alone, user: {password: x}}
      - {name: both, user: {username: bob, password: x, token: t}}
      contexts: []
      """
    #expect(
      try ReadEntries(KubeconfigReader.self, text, name: "config").told.prefix(9) == [
        "login kubectl/basic", "  username [username] bob", "  password [password] hunter2", "login kubectl/alone",
        "  password [secret] x", "token kubectl/both", "  token [password] t", "  username [username] bob",
        "  password [secret] x",
      ])
  }

  @Test(
    "may have mappings where lists belong, with numbers as keys", arguments: ["0", "1", "9", "-9223372036854775808"])
  func numbers(_ key: String) throws {
    let text = """
      users:
      - {name: a, user: {token: t, exec: {env: {\(key): {name: K, value: v}}}}}
      contexts: {\(key): x}
      clusters: {\(key): {cluster: {server: h}}}
      """
    let told = try ReadEntries(KubeconfigReader.self, text).told
    #expect(
      told.contains("  exec.env.\(key).value [setting] kubectl gets these credentials from another program")
        && told.contains("  contexts.\(key) [setting] x")
        && told.contains("  clusters.\(key).cluster.server [setting] h"), "\(told)")
  }

  @Test("are told from other YAML", arguments: ["", "users: x", "users: []", "kind: Config\nusers: {}", "users: [a"])
  func others(_ text: String) {
    #expect(!recognizes(KubeconfigReader.self, text) && refusal(KubeconfigReader.self, text) != nil)
  }

  @Test("any cut or flipped bit is read or refused") func damage() {
    attack(
      KubeconfigReader.self,
      "kind: Config\nusers:\n- name: a\n  user: {token: t, exec: {env: [{name: K, value: v}]}, client-key-data: eA==}\n"
    )
  }
}
