import Testing
import VaultTesting

/// `vault revoke`, `deny` and `grant` against a daemon with scripted replies, where other grants give the same.
@Suite("What other grants give") struct OtherAccessTests {
  private static func grants(_ grants: (subject: String, items: String, rights: String)...) -> String {
    let texts = grants.map { grant in
      """
      {"subject":"\(grant.subject)","items":"\(grant.items)","rights":[\(grant.rights)],"created":1,"active":true}
      """
    }
    return #"{"parameters":{"grants":[\#(texts.joined(separator: ","))]}}"#
  }

  /// Runs a command on a terminal.
  ///
  /// - Parameters:
  ///   - grants: the reply to Grants: those of the subject that are left.
  ///   - isAdministrator: the reply to Can.
  private func screen(
    _ words: String..., grants: String = Self.grants(), isAdministrator: Bool = false, status: Int32 = 0
  ) throws -> String {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let revoked = """
      {"parameters":{"revoked":[{"subject":"user:svc","items":"db/a","rights":["get","set"],"created":1,\
      "active":false}]}}
      """
    let none = #"{"error":"io.vaultd.Vault.NoSuchGrant","parameters":{"subject":"user:svc"}}"#
    let daemon = try ScriptedDaemon(
      sandbox,
      [
        "Revoke": [words.contains("none") ? none : revoked],
        "Deny": [#"{"parameters":{"subject":"user:svc","name":"db/a"}}"#],
        "Grant": [#"{"parameters":{"confined":false}}"#], "Grants": [grants],
        "Can": [#"{"parameters":{"allowed":\#(isAdministrator)}}"#],
      ])
    defer { daemon.close() }
    let terminal = try Terminal(sandbox, words.filter { $0 != "none" } + ["--socket", daemon.socket])
    #expect(try terminal.wait() == status, "\(terminal.screen)")
    return terminal.screen
  }

  @Test("revoke does not say that a subject may no longer do what another grant gives it") func revoke() throws {
    #expect(try screen("revoke", "user:svc", "db/a") == "vault: user:svc may no longer get, set `db/a`\r\n")
    let some = Self.grants(("group:ops", "db/*", #""get""#), ("user:svc", "web/*", #""set""#))
    #expect(
      try screen("revoke", "user:svc", "db/a", grants: some)
        == "vault: user:svc may no longer set `db/a`, but may still get `db/a`, by the grant group:ops `db/*`\r\n")
    let all = Self.grants(("user:svc", "**", #""set","get""#))
    #expect(
      try screen("revoke", "user:svc", "db/a", grants: all)
        == "vault: the grant is revoked, but user:svc may still get, set `db/a`, by the grant user:svc `**`\r\n")
    #expect(
      try screen("revoke", "user:svc", "db/a", isAdministrator: true).hasSuffix(
        "may still get, set `db/a`, as an administrator of the vault\r\n"))
  }

  @Test("revoke names the grant that gives what the subject has no grant for") func noSuchGrant() throws {
    let wider = Self.grants(("user:svc", "db/*", #""get""#))
    #expect(
      try screen("revoke", "none", "user:svc", "db/new", grants: wider, status: 66).hasPrefix(
        "vault: user:svc has no such grant, but may get `db/new`, by the grant user:svc `db/*`; see"))
  }

  @Test("deny and grant say what the subject may do all the same") func denyAndGrant() throws {
    let wider = Self.grants(("group:ops", "db/*", #""get""#))
    #expect(
      try screen("deny", "271828", grants: wider)
        == "vault: that is denied, but user:svc may still get `db/a`, by the grant group:ops `db/*`\r\n")
    #expect(
      try screen("grant", "user:svc", "db/a", "--can", "find", grants: wider).contains(
        "user:svc may find `db/a`; it also has the right get, by the grant group:ops `db/*`\r\n"))
  }

  @Test("a grant in a restored vault is not in effect before it is confirmed") func unconfirmed() throws {
    #expect(
      try screen("grant", "user:svc", "db/a", grants: #"{"parameters":{"grants":[],"unconfirmed":1}}"#).contains(
        "user:svc may get `db/a` once the grants of the restored vault are confirmed"))
  }
}
