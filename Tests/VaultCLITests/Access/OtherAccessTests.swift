import Testing
import VaultTesting

/// `vault revoke`, `deny`, `grant`, `requests` and `can` against a daemon with scripted replies, where something else
/// gives the same.
@Suite("What else gives rights") struct OtherAccessTests {
  /// One thing that gives rights, as JSON.
  private static func source(_ rights: String, _ member: String = "", some: Bool = false) -> String {
    #"{"rights":[\#(rights)]\#(some ? #","some":true"# : "")\#(member.isEmpty ? "" : ",")\#(member)}"#
  }

  private static func grant(_ subject: String, _ items: String, _ rights: String, some: Bool = false) -> String {
    let grant = """
      "grant":{"subject":"\(subject)","items":"\(items)","rights":[\(rights)],"created":1,"active":true}
      """
    return source(rights, grant, some: some)
  }

  private static func approval(_ right: String, _ more: String = "", some: Bool = false) -> String {
    let approval = """
      "approval":{"number":271828,"state":"approved","subject":"user:svc","right":"\(right)","name":"db/a"\(more)}
      """
    return source("\"\(right)\"", approval, some: some)
  }

  private static func reply(_ rights: String = "", some: String = "", _ sources: String...) -> String {
    """
    {"parameters":{"rights":[\(rights)],"some":[\(some)],"sources":[\(sources.joined(separator: ","))]}}
    """
  }

  /// Runs a command on a terminal.
  ///
  /// - Parameters:
  ///   - words: with "none", the subject has no grant to revoke.
  ///   - rights: the reply to Rights: what the subject has now.
  private func screen(
    _ words: String..., rights: String = Self.reply(), can: String = "", status: Int32 = 0
  ) throws -> String {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let revoked = """
      {"parameters":{"revoked":[{"subject":"user:svc","items":"db/a","rights":["get","set"],"created":1,\
      "active":false}]}}
      """
    let none = #"{"error":"io.vaultd.Vault.NoSuchGrant","parameters":{"subject":"user:svc"}}"#
    let denied =
      #"{"parameters":{"requests":[{"state":"denied","subject":"user:svc","name":"db/a"}]},"continues":true}"#
    let daemon = try ScriptedDaemon(
      sandbox,
      [
        "Revoke": [words.contains("none") ? none : revoked],
        "Deny": [#"{"parameters":{"subject":"user:svc","name":"db/a"}}"#],
        "Grant": [#"{"parameters":{"confined":false}}"#], "Grants": [#"{"parameters":{"grants":[]}}"#],
        "Undelete": [#"{"parameters":{"open_to":[{"subject":"user:svc","rights":["get"]}]}}"#],
        "Rights": [rights], "Can": [can], "Requests": [denied, #"{"parameters":{"requests":[]}}"#],
      ])
    defer { daemon.close() }
    let terminal = try Terminal(sandbox, words.filter { $0 != "none" } + ["--socket", daemon.socket])
    #expect(try terminal.wait() == status, "\(terminal.screen)")
    return terminal.screen
  }

  @Test("an item that is restored is said to be open to those whom grants name") func restored() throws {
    #expect(try screen("trash", "restore", "db/a").contains("vault: `db/a` is open to user:svc (get) by grants\r\n"))
  }

  @Test("revoke does not say that a subject may no longer do what something else gives it") func revoke() throws {
    #expect(try screen("revoke", "user:svc", "db/a") == "vault: user:svc may no longer get, set `db/a`\r\n")
    let some = Self.reply(#""get","use""#, Self.grant("group:ops", "db/*", #""get","use""#))
    #expect(
      try screen("revoke", "user:svc", "db/a", rights: some)
        == "vault: user:svc may no longer set `db/a`, but may still get `db/a`, by the grant group:ops `db/*`; "
        + "`vault revoke group:ops 'db/*'` takes that back\r\n")
    // All that is left is named, also what the revoked grant did not give.
    let others = Self.reply(#""find""#, Self.grant("group:ops", "db/*", #""find""#))
    #expect(
      try screen("revoke", "user:svc", "db/a", rights: others).contains(
        "user:svc may no longer get, set `db/a`, but may still find `db/a`, by the grant group:ops `db/*`; "))
    let all = Self.reply(#""get","set","use""#, Self.grant("user:svc", "**", #""set","get","use""#))
    #expect(
      try screen("revoke", "user:svc", "db/a", rights: all).hasPrefix(
        "vault: the grant is revoked, but user:svc may still get, set `db/a`, by the grant user:svc `**`; "))
    let every = #""get","set","find","deposit","watch","use","admin""#
    #expect(
      try screen("revoke", "user:svc", "db/a", rights: Self.reply(every, Self.source(every))).hasSuffix(
        "may still get, set `db/a`, as an administrator of the vault\r\n"))
    // The right admin includes the others.
    let admin = Self.reply(every, Self.grant("user:svc", "db/*", every))
    #expect(try screen("revoke", "user:svc", "db/a", rights: admin).contains("may still get, set `db/a`, by the grant"))
  }

  @Test("approvals count, with their terms and the command that takes them back") func approvals() throws {
    let approval = Self.reply(#""use""#, Self.approval("use", #","uses":2"#))
    let sentence = "may still use `db/a`, by the approval 271828 (2 times); `vault deny 271828` takes that back\r\n"
    #expect(try screen("deny", "314159", rights: approval) == "vault: that is denied, but user:svc \(sentence)")
    #expect(
      try screen("deny", "314159", "--always", rights: approval)
        == "vault: that is denied, but user:svc \(sentence)")
    #expect(
      try screen("revoke", "user:svc", "db/a", rights: approval)
        == "vault: user:svc may no longer get, set `db/a`, but \(sentence)")
    // The list has that below the row, in full.
    #expect(
      try screen("requests", rights: approval).contains("    but may use it by the approval 271828 (2 times); "))
    let process = Self.reply(some: #""get""#, Self.approval("get", #","pid":4711"#, some: true))
    #expect(
      try screen("deny", "314159", rights: process).contains(
        "may still get `db/a`, by the approval 271828 (for process 4711 only); `vault deny 271828`"))
    let narrow = Self.reply(some: #""get""#, Self.grant("user:svc,unit:gw.service", "db/a", #""get""#, some: true))
    #expect(
      try screen("revoke", "user:svc", "db/a", rights: narrow).contains(
        "may no longer set `db/a`, but may still get `db/a`, by the grant user:svc,unit:gw.service `db/a`"))
  }

  @Test("revoke names what gives the subject what it has no grant for") func noSuchGrant() throws {
    let wider = Self.reply(#""get""#, Self.grant("user:svc", "db/*", #""get""#))
    #expect(
      try screen("revoke", "none", "user:svc", "db/new", rights: wider, status: 66).hasPrefix(
        "vault: user:svc has no such grant, but may get `db/new`, by the grant user:svc `db/*`; "))
  }

  @Test("deny and grant say what the subject may do all the same") func denyAndGrant() throws {
    #expect(try screen("deny", "271828") == "vault: user:svc may not have `db/a`\r\n")
    let wider = Self.reply(#""get","use","find""#, Self.grant("group:ops", "db/*", #""get","use""#))
    #expect(
      try screen("deny", "271828", rights: wider).hasPrefix(
        "vault: that is denied, but user:svc may still get, find `db/a`, by the grant group:ops `db/*`; "))
    #expect(
      try screen("grant", "user:svc", "db/a", "--can", "find", rights: wider).contains(
        "user:svc may find `db/a`; it also has the right get, by the grant group:ops `db/*`; "))
  }

  @Test("can says what only an approval gives, and what only some processes have") func can() throws {
    let words = ["can", "user:svc", "get", "db/a"]
    func screen(_ reply: String, _ status: Int32 = 0) throws -> String {
      try self.screen(words[0], words[1], words[2], words[3], can: reply, status: status)
    }
    #expect(try screen(#"{"parameters":{"allowed":true}}"#) == "")
    #expect(try screen(#"{"parameters":{"allowed":false}}"#, 77) == "")
    #expect(
      try screen(#"{"parameters":{"allowed":true,"sources":[\#(Self.approval("get"))]}}"#)
        == "vault: user:svc may get `db/a` by the approval 271828; `vault deny 271828` takes that back\r\n")
    let process = Self.approval("get", #","pid":4711"#, some: true)
    #expect(
      try screen(#"{"parameters":{"allowed":false,"sources":[\#(process)]}}"#, 77).hasPrefix(
        "vault: user:svc may not get `db/a`, but some of its processes may, by the approval 271828 (for process 4711"))
    #expect(
      try screen(#"{"parameters":{"allowed":true,"sources":[\#(Self.grant("user:svc", "db/*", "\"get\""))]}}"#) == "")
  }

  @Test("a grant in a restored vault is not in effect before it is confirmed") func unconfirmed() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let daemon = try ScriptedDaemon(
      sandbox,
      [
        "Grant": [#"{"parameters":{"confined":false}}"#],
        "Grants": [#"{"parameters":{"grants":[],"unconfirmed":1}}"#],
      ])
    defer { daemon.close() }
    let terminal = try Terminal(sandbox, ["grant", "user:svc", "db/a", "--socket", daemon.socket])
    #expect(try terminal.wait() == 0)
    #expect(terminal.screen.contains("user:svc may get `db/a` once the grants of the restored vault are confirmed"))
  }
}
