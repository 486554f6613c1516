import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("git's helper") struct GitHelperTests {
  private static let place = "protocol=https\nhost=example.org\n"

  private func stand(unlocked: Bool = true) throws -> HelperStand {
    let stand = try HelperStand(unlocked: true)
    try stand.must("/usr/bin/git", ["config", "--global", "credential.helper", "vault"])
    if !unlocked { try stand.sandbox.must(["lock"]) }
    return stand
  }

  /// Runs `git credential` with this action.
  private func git(_ stand: HelperStand, _ action: String, _ lines: String) throws -> Outcome {
    try stand.run("/usr/bin/git", ["credential", action], stdin: lines)
  }

  // MARK: git itself

  @Test("git stores, finds and erases a password") func roundTrip() throws {
    let stand = try stand()
    defer { stand.close() }
    #expect(try git(stand, "approve", Self.place + "username=ana\npassword=s3cr=t ü\n").status == 0)
    #expect(try stand.sandbox.must(["get", "git/https/example.org/ana"]) == "s3cr=t ü")
    #expect(try git(stand, "fill", Self.place).output == Self.place + "username=ana\npassword=s3cr=t ü\n")
    #expect(try git(stand, "reject", Self.place + "username=ana\npassword=s3cr=t ü\n").status == 0)
    #expect(try stand.names("git") == [])
    // With nobody to ask, git itself fails once the password is gone.
    #expect(try git(stand, "fill", Self.place).status != 0)
  }

  @Test("git clones from a server that asks for a password, and what it was given is stored once") func clone() throws {
    let stand = try stand()
    defer { stand.close() }
    let home = stand.sandbox.home
    try stand.must("/usr/bin/git", ["init", "-q", home + "/work"])
    try stand.must("/usr/bin/git", ["-C", home + "/work", "commit", "-q", "--allow-empty", "-m", "first"])
    try stand.must("/usr/bin/git", ["clone", "-q", "--bare", home + "/work", home + "/served/team.git"])
    try stand.must("/usr/bin/git", ["-C", home + "/served/team.git", "update-server-info"])
    let server = try GuardedServer(
      stand.sandbox, home + "/served", wanted: GuardedServer.basic("ana", "hunter2"))
    let url = "http://127.0.0.1:\(server.port)/team.git"
    #expect(try stand.run("/usr/bin/git", ["clone", "-q", url, home + "/none"]).status != 0)
    let name = "git/http/127.0.0.1:\(server.port)/ana"
    try stand.sandbox.must(["set", name], stdin: "hunter2")
    try stand.must("/usr/bin/git", ["clone", "-q", url, home + "/clone"])
    #expect(try stand.must("/usr/bin/git", ["-C", home + "/clone", "log", "--format=%s"]) == "first\n")
    try stand.must("/usr/bin/git", ["-C", home + "/clone", "fetch", "-q"])
    // After each success, git stored the password that it already had, which makes no new version.
    #expect(try stand.version(name) == "1")
    // A password that the server refuses is erased, and remains in the trash.
    try stand.sandbox.must(["set", name, "--update"], stdin: "wrong")
    #expect(try stand.run("/usr/bin/git", ["-C", home + "/clone", "fetch", "-q"]).status != 0)
    #expect(try stand.names("git") == [])
    try stand.sandbox.must(["trash", "restore", name])
    #expect(try stand.sandbox.must(["get", name]) == "wrong")
  }

  @Test("the protocol, the host with its port, the user and a path that git names tell credentials apart")
  func matches() throws {
    let stand = try stand()
    defer { stand.close() }
    try stand.must("/usr/bin/git", ["config", "--global", "credential.useHttpPath", "true"])
    for (line, password) in [
      ("protocol=http\nhost=example.org\nusername=ana", "1"),
      ("protocol=https\nhost=example.org:8443\nusername=ana", "2"),
      ("protocol=https\nhost=example.org\nusername=ana", "3"),
      ("protocol=https\nhost=example.org\nusername=bob", "4"),
      ("protocol=https\nhost=example.org\npath=team/repo.git\nusername=ana", "5"),
    ] {
      #expect(try git(stand, "approve", line + "\npassword=\(password)\n").status == 0)
      #expect(try git(stand, "fill", line + "\n").output == line + "\npassword=\(password)\n")
    }
    #expect(
      try stand.names("git") == [
        "git/http/example.org/ana", "git/https/example.org/ana", "git/https/example.org/bob",
        "git/https/example.org/team%2Frepo.git/ana", "git/https/example.org:8443/ana",
      ])
    #expect(try git(stand, "fill", Self.place + "path=team/other.git\nusername=ana\n").status != 0)
    #expect(try git(stand, "fill", Self.place + "username=carol\n").status != 0)
    // A part that git leaves out matches anything, and an item without a path comes first.
    #expect(try stand.helper("git", "get", stdin: Self.place + "username=ana\n").output == "username=ana\npassword=3\n")
  }

  // MARK: Storing

  @Test("of several users the one is found whose password was stored last") func newest() throws {
    let stand = try stand()
    defer { stand.close() }
    try stand.sandbox.must(["set", "git/https/example.org/ana"], stdin: "0")
    let first = time(nil)
    try wait(for: "the next second") { time(nil) > first }
    try stand.sandbox.must(["set", "git/https/example.org/carol", "--expires", "1d"], stdin: "1")
    try stand.sandbox.must(
      ["set", "--batch", "--expired"],
      stdin: #"{"name":"git/https/example.org/bob","value":"2","expires":1000000000}"# + "\n")
    #expect(try stand.helper("git", "get", stdin: Self.place).output.hasPrefix("username=carol\npassword=1\n"))
  }

  @Test("of users that git stores at once the last one is found, whatever their names are") func newestOfSecond() throws
  {
    let stand = try stand()
    defer { stand.close() }
    for user in ["carol", "bob", "ana", "dora"] {
      #expect(try stand.helper("git", "store", stdin: Self.place + "username=\(user)\npassword=\(user)\n").status == 0)
      #expect(
        try stand.helper("git", "get", stdin: Self.place).output.hasPrefix("username=\(user)\npassword=\(user)\n"))
    }
  }

  @Test("git's note of a server that asks for neither a user nor a password is kept") func nobody() throws {
    let stand = try stand()
    defer { stand.close() }
    let place = "protocol=https\nhost=sso.example.org\n"
    #expect(try stand.helper("git", "store", stdin: place + "username=\npassword=\n").status == 0)
    #expect(try stand.helper("git", "get", stdin: place).output.contains("username=\npassword=\n"))
  }

  @Test("an empty password replaces none, and makes no item") func empty() throws {
    let stand = try stand()
    defer { stand.close() }
    try stand.sandbox.must(["set", "git/https/example.org/ana"], stdin: "good")
    for user in ["ana", "bob"] {
      let outcome = try stand.helper("git", "store", stdin: Self.place + "username=\(user)\npassword=\n")
      #expect(
        outcome.status == 65
          && outcome.errors
            == "vault: the secret is empty, so nothing was stored for `git/https/example.org/\(user)`\n",
        "\(outcome)")
    }
    #expect(try stand.names("git") == ["git/https/example.org/ana"])
    #expect(try stand.sandbox.must(["get", "git/https/example.org/ana"]) == "good")
  }

  @Test("an older password erases no newer one, and one that is not given all") func erases() throws {
    let stand = try stand()
    defer { stand.close() }
    for user in ["ana", "bob"] { try stand.sandbox.must(["set", "git/https/example.org/\(user)"], stdin: "new") }
    #expect(try stand.helper("git", "erase", stdin: Self.place + "username=ana\npassword=old\n").status == 0)
    #expect(try stand.names("git").count == 2)
    #expect(try stand.helper("git", "erase", stdin: Self.place + "username=ana\npassword=new\n").status == 0)
    #expect(try stand.names("git") == ["git/https/example.org/bob"])
    #expect(try stand.helper("git", "erase", stdin: "protocol=https\nhost=example.com\n").status == 0)
    #expect(try stand.names("git").count == 1)
    #expect(try stand.helper("git", "erase", stdin: Self.place).status == 0)
    #expect(try stand.names("git") == [])
  }

  @Test(
    "what has no host, no protocol or no end of a line is an error, and erases nothing", arguments: ["get", "erase"])
  func halves(action: String) throws {
    let stand = try stand()
    defer { stand.close() }
    try stand.sandbox.must(["set", "git/https/example.org/ana"], stdin: "new")
    for lines in ["", "protocol=https\n", "host=example.org\n", "protocol=\nhost=example.org\n", "username=ana"] {
      let outcome = try stand.helper("git", action, stdin: lines)
      #expect(outcome.status == 64 && outcome.output.isEmpty, "\(lines): \(outcome)")
    }
    #expect(try stand.helper("git", action, stdin: "protocol=https\nhost\n").status == 65)
    #expect(try stand.names("git").count == 1)
  }

  @Test("an expiry is kept, and what has expired, is ephemeral or has no user is not stored") func expiries() throws {
    let stand = try stand()
    defer { stand.close() }
    let ana = Self.place + "username=ana\npassword=1\n"
    #expect(try stand.helper("git", "store", stdin: ana + "password_expiry_utc=4102444800\n").status == 0)
    #expect(
      try stand.helper("git", "get", stdin: Self.place).output
        == "username=ana\npassword=1\npassword_expiry_utc=4102444800\n")
    #expect(try stand.helper("git", "store", stdin: ana).status == 0)
    #expect(try stand.helper("git", "get", stdin: Self.place).output == "username=ana\npassword=1\n")
    for rest in [
      "username=bob\npassword=1\npassword_expiry_utc=1000000000\n", "username=bob\npassword=1\nephemeral=1\n",
      "password=1\n", "username=bob\n",
    ] {
      #expect(try stand.helper("git", "store", stdin: Self.place + rest).status == 0)
      #expect(try stand.names("git") == ["git/https/example.org/ana"])
    }
  }

  @Test("a refresh token is an item of its own, and is there still when its password has expired") func refresh() throws
  {
    let stand = try stand()
    defer { stand.close() }
    let said = Self.place + "username=ana\npassword=1\noauth_refresh_token=r1\n"
    #expect(try stand.helper("git", "store", stdin: said).status == 0)
    let token = "git/https/example.org/ana/%oauth_refresh_token"
    #expect(try stand.sandbox.must(["get", token]) == "r1")
    #expect(
      try stand.helper("git", "get", stdin: Self.place).output == "username=ana\npassword=1\noauth_refresh_token=r1\n")
    // The daemon's wall clock is the machine's, so set an expiry in the past on the existing item.
    try stand.sandbox.must(
      ["set", "--batch", "--expired"],
      stdin: #"{"name":"git/https/example.org/ana","value":"1","expires":1000000000,"update":true}"# + "\n")
    #expect(try stand.helper("git", "get", stdin: Self.place).output == "username=ana\noauth_refresh_token=r1\n")
    // A new password without a refresh token removes the old token.
    #expect(try stand.helper("git", "store", stdin: Self.place + "username=ana\npassword=2\n").status == 0)
    #expect(try stand.names("git") == ["git/https/example.org/ana"])
    #expect(try stand.helper("git", "store", stdin: said).status == 0)
    #expect(try stand.helper("git", "erase", stdin: said).status == 0)
    #expect(try stand.names("git") == [])
  }

  @Test("a credential that is no password goes only to a git that takes such") func authtype() throws {
    let stand = try stand()
    defer { stand.close() }
    let said = Self.place + "capability[]=authtype\nauthtype=Bearer\ncredential=t0ken\n"
    #expect(try stand.helper("git", "store", stdin: said).status == 0)
    #expect(try stand.sandbox.must(["get", "git/https/example.org/%"]) == "t0ken")
    #expect(
      try stand.helper("git", "get", stdin: Self.place + "capability[]=state\ncapability[]=authtype\n").output
        == "capability[]=authtype\nauthtype=Bearer\ncredential=t0ken\n")
    for lines in [Self.place, Self.place + "capability[]=authtype\ncapability[]=\n"] {
      let outcome = try stand.helper("git", "get", stdin: lines)
      #expect(outcome.status == 0 && outcome.output.isEmpty, "\(outcome)")
    }
    #expect(try stand.helper("git", "capability").output == "version 0\ncapability authtype\n")
  }

  @Test("what git may yet come up with is ignored, and no action is a mistake") func actions() throws {
    let stand = try stand()
    defer { stand.close() }
    let later = try stand.helper("git", "frobnicate", stdin: Self.place)
    #expect(later.status == 0 && later.output.isEmpty && later.errors.isEmpty)
    #expect(try stand.run("git-credential-vault", []).status == 64)
    #expect(try stand.helper("git", "get", "store").status == 64)
  }

  // MARK: Hostile words

  @Test("no value that holds a line break or a NUL is printed", arguments: ["a\nhost=evil.example", "a\rb", "a\0b"])
  func injections(value: String) throws {
    let stand = try stand()
    defer { stand.close() }
    try stand.sandbox.must(["set", "git/https/example.org/ana", "--kind", "blob"], stdin: value)
    let outcome = try stand.helper("git", "get", stdin: Self.place)
    #expect(outcome.status == 65 && outcome.output.isEmpty, "\(outcome)")
    #expect(outcome.errors.contains("holds a line break, a carriage return or a NUL"))
    // A user's name that holds a line break is not printed, either.
    try stand.sandbox.must(["set", "git/https/example.com/a%0Apassword=x".replacing("=", with: "%3D")], stdin: "1")
    let user = try stand.helper("git", "get", stdin: "protocol=https\nhost=example.com\n")
    #expect(user.status == 65 && user.output.isEmpty, "\(user)")
  }

  @Test("no host, path or user leaves its folder, and a name that would be too long is an error") func names() throws {
    let stand = try stand()
    defer { stand.close() }
    for (host, user) in [("..", "."), ("../../web", "a/b"), ("*", "?"), ("", ""), ("%", "%41"), ("ü", "\u{7F}")] {
      let lines = "protocol=https\nhost=\(host)\nusername=\(user)\n"
      #expect(try stand.helper("git", "store", stdin: lines + "password=p\n").status == 0)
      #expect(try stand.helper("git", "get", stdin: lines).output == "username=\(user)\npassword=p\n")
    }
    #expect(
      try stand.names("git") == [
        "git/https/%/%", "git/https/%25/%2541", "git/https/%2A/%3F", "git/https/%2E%2E/%2E",
        "git/https/%C3%BC/%7F", "git/https/..%2F..%2Fweb/a%2Fb",
      ])
    #expect(try stand.sandbox.must(["get", "web"]) == "hunter2")
    let long = String(repeating: "/", count: 199) + "x"
    let outcome = try stand.helper(
      "git", "store", stdin: "protocol=https\nhost=a\npath=\(long)\nusername=ana\npassword=p\n")
    #expect(outcome.status == 65 && outcome.errors.contains("more than 512"), "\(outcome)")
  }

  @Test("more than two megabytes are refused, and what follows an empty line is not read") func sizes() throws {
    let stand = try stand()
    defer { stand.close() }
    let outcome = try stand.helper("git", "get", stdin: Self.place + String(repeating: "a=b\n", count: 1 << 20))
    #expect(outcome.status == 65 && outcome.errors.contains("more than 2097152 bytes"), "\(outcome)")
    try stand.sandbox.must(["set", "git/https/example.org/ana"], stdin: "1")
    #expect(
      try stand.helper("git", "get", stdin: Self.place + "\nhost=example.com\n").output == "username=ana\npassword=1\n")
  }

  // MARK: Access and locks

  @Test("locked, with nobody to ask, it says so at once and git goes on") func locked() throws {
    let stand = try stand()
    defer { stand.close() }
    try stand.sandbox.must(["set", "git/https/example.org/ana"], stdin: "1")
    try stand.sandbox.must(["lock"])
    for (action, lines) in [
      ("get", Self.place), ("store", Self.place + "username=ana\npassword=2\n"),
      ("erase", Self.place + "username=ana\npassword=1\n"),
    ] {
      let outcome = try stand.helper("git", action, stdin: lines)
      #expect(outcome.status == 75 && outcome.output.isEmpty, "\(action): \(outcome)")
      #expect(outcome.errors.contains("is locked") || outcome.errors.contains("was locked"), "\(outcome)")
    }
    let filled = try git(stand, "fill", Self.place)
    #expect(filled.status != 0 && filled.errors.contains("vault unlock"), "\(filled)")
    try stand.must("/usr/bin/git", ["config", "--global", "--add", "credential.helper", "!echo password=other; :"])
    #expect(try git(stand, "fill", Self.place + "username=ana\n").output.hasSuffix("password=other\n"))
  }

  @Test("before the first unlock, when it knows no names, it says that it is locked") func cold() throws {
    let stand = try stand()
    defer { stand.close() }
    try stand.sandbox.must(["set", "git/https/example.org/ana"], stdin: "1")
    #expect(try stand.sandbox.stopDaemon() == 0)
    for action in ["get", "erase"] {
      let outcome = try stand.helper("git", action, stdin: Self.place)
      #expect(outcome.status == 75 && outcome.output.isEmpty && outcome.errors.contains("not unlocked"), "\(outcome)")
    }
    // With `--wait`, the helper waits until somebody unlocks.
    let waiting = Begun(
      stand.sandbox, ["helper", "git", "--wait", "60s", "get"], stdin: Self.place)
    try stand.sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    #expect(try waiting.outcome().output == "username=ana\npassword=1\n")
  }

  @Test("on a terminal it asks for the unlock, and not where git is to ask nobody") func terminal() throws {
    let stand = try stand()
    defer { stand.close() }
    try stand.sandbox.must(["set", "git/https/example.org/ana"], stdin: "1")
    try stand.sandbox.must(["lock"])
    let input = try stand.sandbox.write(Self.place, to: "input")
    let output = stand.sandbox.home + "/output"
    var environment = stand.environment
    let silent = try Terminal(
      stand.sandbox, ["credential", "fill"], program: "/usr/bin/git", stdin: input, stdout: output,
      environment: environment)
    #expect(try silent.wait() != 0)
    #expect(!silent.screen.contains("Vault password"))
    environment["GIT_TERMINAL_PROMPT"] = .some(nil)
    let terminal = try Terminal(
      stand.sandbox, ["credential", "fill"], program: "/usr/bin/git", stdin: input, stdout: output,
      environment: environment)
    try terminal.expect("Vault password (asked by: git credentials for example.org): ")
    terminal.type(password)
    #expect(try terminal.wait() == 0)
    #expect(try String(contentsOfFile: output, encoding: .utf8) == Self.place + "username=ana\npassword=1\n")
  }

  @Test("a new password is nobody else's, and where a grant reaches it that is told") func open() throws {
    let stand = try stand()
    defer { stand.close() }
    let line = Self.place + "username=ana\npassword=1\n"
    #expect(try stand.helper("git", "store", stdin: line).errors.isEmpty)
    #expect(try stand.sandbox.must(["grants", "--on", "git/https/example.org/ana", "--json"]).isEmpty)
    let grant = try Terminal(stand.sandbox, ["grant", "user:65534", "git/https/example.com/*", "--can", "get,find"])
    try grant.expect("Vault password")
    grant.type(password)
    #expect(try grant.wait() == 0)
    let stored = try stand.helper("git", "store", stdin: line.replacing("example.org", with: "example.com"))
    #expect(
      stored.status == 0
        && stored.errors == "vault: stored `git/https/example.com/ana`; open to user:nobody (get, find) by grants\n",
      "\(stored)")
  }
}
