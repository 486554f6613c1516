import Foundation
import Testing
import VaultTesting

@Suite("The command keyring") struct KeyringHelperTests {
  @Test("stores, prints and deletes a password, and what is not there is exit code 1 alone") func roundTrip() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    #expect(
      try stand.run("keyring", ["set", "https://pypi.example.org/simple", "ana"], stdin: "hunter2\n").status == 0)
    let item = "keyring/https:%2F%2Fpypi.example.org%2Fsimple/ana"
    #expect(try stand.sandbox.must(["get", item]) == "hunter2")
    #expect(try stand.must("keyring", ["get", "https://pypi.example.org/simple", "ana"]) == "hunter2\n")
    for words in [["get", "pypi.example.org", "ana"], ["get", "https://pypi.example.org/simple", "bob"]] {
      let outcome = try stand.run("keyring", words)
      #expect(outcome.status == 1 && outcome.output.isEmpty && outcome.errors.isEmpty, "\(outcome)")
    }
    #expect(
      try stand.run("keyring", ["set", "https://pypi.example.org/simple", "ana"], stdin: "hunter2\n").status == 0)
    #expect(try stand.version(item) == "1")
    #expect(try stand.run("keyring", ["del", "https://pypi.example.org/simple", "ana"]).status == 0)
    #expect(try stand.run("keyring", ["del", "https://pypi.example.org/simple", "ana"]).status == 66)
    #expect(try stand.names("keyring") == [])
  }

  @Test("an empty password replaces none, and makes no item") func empty() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    try stand.must("keyring", ["set", "s", "ana"], stdin: "good")
    for user in ["ana", "bob"] {
      for given in ["", "\n"] {
        let outcome = try stand.run("keyring", ["set", "s", user], stdin: given)
        #expect(outcome.status == 65 && outcome.errors.contains("nothing was stored for `keyring/s/\(user)`"))
      }
    }
    #expect(try stand.names("keyring") == ["keyring/s/ana"])
    #expect(try stand.must("keyring", ["get", "s", "ana"]) == "good\n")
  }

  @Test("with --mode creds it also tells the user, also one that was not named") func creds() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    try stand.must("keyring", ["set", "s", "ana"], stdin: "1")
    #expect(try stand.must("keyring", ["--mode", "creds", "get", "s"]) == "ana\n1\n")
    #expect(try stand.must("keyring", ["--mode=creds", "get", "s", "ana"]) == "ana\n1\n")
    #expect(try stand.must("keyring", ["get", "s", "--mode", "creds"]) == "ana\n1\n")
    #expect(
      try stand.must("keyring", ["--mode", "creds", "--output", "json", "get", "s"])
        == #"{"username":"ana","password":"1"}"# + "\n")
    #expect(try stand.must("keyring", ["--output=json", "get", "s", "ana"]) == #"{"password":"1"}"# + "\n")
    #expect(try stand.run("keyring", ["--mode", "creds", "get", "none"]).status == 1)
    // A user's name of two lines could make its second line look like the password.
    #expect(try stand.run("keyring", ["set", "t", "ana\nx"], stdin: "1").status == 65)
    try stand.sandbox.must(["set", "keyring/t/ana%0Ax"], stdin: "1")
    let lines = try stand.run("keyring", ["--mode", "creds", "get", "t"])
    #expect(lines.status == 65 && lines.output.isEmpty)
  }

  @Test("a value that is no text is refused by name, in each form") func noText() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    let value = stand.sandbox.home + "/value"
    try Data([0x61, 0xFF]).write(to: URL(fileURLWithPath: value))
    try stand.sandbox.must(["set", "keyring/s/ana", "--file", value, "--kind", "blob"])
    for words in [[], ["--mode", "creds"], ["--output", "json"]] {
      let outcome = try stand.run("keyring", words + ["get", "s", "ana"])
      #expect(outcome.status == 65 && outcome.output.isEmpty, "\(outcome)")
      #expect(outcome.errors.contains("`keyring/s/ana`"), "\(outcome)")
    }
  }

  @Test("of several users that are stored at once the last one is told") func newest() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    for user in ["bob", "ana", "carol"] {
      try stand.must("keyring", ["set", "s", user], stdin: "1")
      #expect(try stand.must("keyring", ["--mode", "creds", "get", "s"]) == "\(user)\n1\n")
    }
  }

  @Test("a user who has expired or is in the trash gives way to the one before, until there is a password again")
  func newestInUse() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    let sandbox = stand.sandbox
    let place = "https://pypi.example.org"
    func item(_ user: String) -> String { "keyring/https:%2F%2Fpypi.example.org/\(user)" }
    func expire(_ user: String, _ time: String) throws {
      try sandbox.must(["set", item(user), "--update", "--keep-value", "--expires", time, "--expired"])
    }
    func told(_ options: String...) throws -> Outcome {
      try stand.run("keyring", ["--mode", "creds"] + options + ["get", place])
    }
    // dora's password has another spelling of the place.
    try stand.must("keyring", ["set", "pypi.example.org", "dora"], stdin: "of dora")
    for user in ["ana", "carol", "bob"] { try stand.must("keyring", ["set", place, user], stdin: "of \(user)") }
    #expect(try told().output == "bob\nof bob\n")
    try expire("bob", "2020-01-31")
    #expect(try told().output == "carol\nof carol\n")
    #expect(try told("--output", "json").output == #"{"username":"carol","password":"of carol"}"# + "\n")
    // A user who is named gets no other user's password.
    let named = try stand.run("keyring", ["get", place, "bob"])
    #expect(named.status == 1 && named.output.isEmpty && named.errors.isEmpty, "\(named)")
    try sandbox.must(["rm", item("carol")])
    #expect(try told().output == "ana\nof ana\n")
    try expire("ana", "2100-01-01")
    #expect(try told().output == "ana\nof ana\n")
    try expire("ana", "2020-01-31")
    #expect(try told().output == "dora\nof dora\n")
    try sandbox.must(["rm", "keyring/pypi.example.org/dora"])
    let none = try told()
    #expect(none.status == 1 && none.output.isEmpty && none.errors.isEmpty, "\(none)")
    try sandbox.must(["trash", "restore", item("carol")])
    #expect(try told().output == "carol\nof carol\n")
    try stand.must("keyring", ["set", place, "bob"], stdin: "new")
    #expect(try told().output == "bob\nnew\n")
  }

  @Test(
    "words that it does not know are a mistake, and no option of ours stands behind its own",
    arguments: [
      [], ["get"], ["get", "s"], ["frob", "s", "u"], ["--mode", "x", "get", "s", "u"],
      ["--backend=x", "get", "s", "u"],
      ["get", "s", "--system"], ["get", "--socket=/x", "s", "u"], ["set", "s"], ["get", "s", "u", "v"],
    ])
  func mistakes(words: [String]) throws {
    let stand = try HelperStand()
    defer { stand.close() }
    let outcome = try stand.run("keyring", words, stdin: "hunter2")
    #expect([1, 64].contains(outcome.status) && outcome.output.isEmpty, "\(outcome)")
    #expect(try stand.names("keyring") == [])
  }

  @Test("locked, with nobody to ask, it says so at once") func locked() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    try stand.must("keyring", ["set", "s", "ana"], stdin: "1")
    try stand.sandbox.must(["lock"])
    for words in [["get", "s", "ana"], ["--mode", "creds", "get", "s"], ["set", "s", "bob"]] {
      let outcome = try stand.run("keyring", words, stdin: "2")
      #expect(outcome.status == 75 && outcome.output.isEmpty && outcome.errors.contains("locked"), "\(outcome)")
    }
  }

  // MARK: Real programs

  /// Starts a package index with the package `thing`, open to the user ana only.
  private func index(_ stand: HelperStand) throws -> GuardedServer {
    let folder = stand.sandbox.home + "/index"
    try FileManager.default.createDirectory(atPath: folder + "/simple/thing", withIntermediateDirectories: true)
    let wheel = "thing-1.0-py3-none-any.whl"
    try stand.must(
      "/usr/bin/python3",
      [
        "-c",
        """
        import sys, zipfile
        with zipfile.ZipFile(sys.argv[1], "w") as wheel:
            wheel.writestr("thing.py", "")
            base = "thing-1.0.dist-info/"
            wheel.writestr(base + "METADATA", "Metadata-Version: 2.1\\nName: thing\\nVersion: 1.0\\n")
            wheel.writestr(base + "WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: \
            py3-none-any\\n")
            wheel.writestr(base + "RECORD", "thing.py,,\\n" + "".join(base + name + ",,\\n" for name in ["METADATA", \
            "WHEEL", "RECORD"]))
        """, "\(folder)/simple/thing/\(wheel)",
      ])
    try stand.sandbox.write("<a href=\"\(wheel)\">\(wheel)</a>\n", to: "index/simple/thing/index.html")
    let server = try GuardedServer(stand.sandbox, folder, wanted: GuardedServer.basic("ana", "hunter2"))
    try stand.must("keyring", ["set", "127.0.0.1:\(server.port)", "ana"], stdin: "hunter2")
    return server
  }

  /// Returns the manual's command for a program, with this index instead of the example's.
  private func command(_ program: String, _ stand: HelperStand, _ server: GuardedServer, _ options: String) throws
    -> String
  {
    let lines = try HelperManual.example("keyring", program + " install", in: stand)
      .replacing("\\\n", with: "").split(separator: "\n").map(String.init)
    let line = try #require(lines.first { $0.hasPrefix(program + " install") })
    return try #require(lines.first { $0.hasPrefix("export PATH") }) + "\n"
      + line.replacing("https://ana@pypi.example.org", with: "http://ana@127.0.0.1:\(server.port)")
      .replacing("NAME", with: "thing").replacing(" install", with: " install \(options)") + "\n"
  }

  @Test(
    "pip installs from an index with it", .enabled(if: OtherProgram.hasPackage("pip"), OtherProgram.why("PyPI's pip")))
  func pip() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    let server = try index(stand)
    let target = stand.sandbox.home + "/target"
    let script =
      "pip() { /usr/bin/python3 -m pip --disable-pip-version-check \"$@\"; }\n"
      + (try command("pip", stand, server, "-q --no-input --no-cache-dir --target '\(target)'"))
    let python: [String: String?] = ["PYTHONPATH": OtherProgram.python, "PIP_CONFIG_FILE": "/dev/null"]
    try stand.must("/bin/sh", ["-ec", script], python)
    #expect(FileManager.default.fileExists(atPath: target + "/thing.py"))
    // Without the stored password the index refuses.
    try stand.must("keyring", ["del", "127.0.0.1:\(server.port)", "ana"])
    #expect(try stand.run("/bin/sh", ["-ec", script.replacing("target'", with: "none'")], python).status != 0)
    // pip asks for the index with a slash at the end.
    try stand.must("keyring", ["set", "http://127.0.0.1:\(server.port)/simple", "ana"], stdin: "hunter2")
    try stand.must("/bin/sh", ["-ec", script.replacing("target'", with: "again'")], python)
    #expect(FileManager.default.fileExists(atPath: stand.sandbox.home + "/again/thing.py"))
  }

  @Test(
    "uv installs from an index with it", .enabled(if: OtherProgram.path("uv") != nil, OtherProgram.why("PyPI's uv")))
  func uv() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    let server = try index(stand)
    let target = stand.sandbox.home + "/target"
    let uv = try #require(OtherProgram.path("uv"))
    let script =
      "uv() { '\(uv)' --no-config \"$@\"; }\n"
      + (try command("uv pip", stand, server, "-q --no-cache --python /usr/bin/python3 --target '\(target)'"))
    try stand.must("/bin/sh", ["-ec", script], ["UV_NO_PROGRESS": "1"])
    #expect(FileManager.default.fileExists(atPath: target + "/thing.py"))
    // uv asks without a user if its settings say to authenticate always.
    let settings = try stand.sandbox.write(
      """
      [[index]]
      name = "guarded"
      url = "http://127.0.0.1:\(server.port)/simple"
      default = true
      authenticate = "always"
      """, to: "uv.toml")
    try stand.must(
      uv,
      [
        "--config-file", settings, "pip", "install", "-q", "--no-cache", "--python", "/usr/bin/python3", "--target",
        target + "-2", "--keyring-provider", "subprocess", "thing",
      ])
    #expect(FileManager.default.fileExists(atPath: target + "-2/thing.py"))
    // uv asks for the index without a slash at the end.
    try stand.must("keyring", ["del", "127.0.0.1:\(server.port)", "ana"])
    try stand.must("keyring", ["set", "http://127.0.0.1:\(server.port)/simple/", "ana"], stdin: "hunter2")
    try stand.must("/bin/sh", ["-ec", script.replacing("target'", with: "again'")], ["UV_NO_PROGRESS": "1"])
    #expect(FileManager.default.fileExists(atPath: stand.sandbox.home + "/again/thing.py"))
  }
}
