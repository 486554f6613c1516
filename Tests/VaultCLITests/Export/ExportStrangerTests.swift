import Glibc
import Testing
import VaultTesting

/// An export from the machine's vault, where another user has the rights to read and to make items in one folder.
@Suite("vault export beside another user's items", .enabled(if: Root.isAtHand, "needs root to be another user"))
struct ExportStrangerTests {
  private static let stranger = "65534"

  /// A vault with a variable of this user's that an import has made.
  private static func with(_ body: (Sandbox) throws -> Void) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let settings = try sandbox.write("", to: "vaultd.conf")
    unsafe chmod(settings, 0o600)
    try sandbox.startDaemon(arguments: [
      "--system", "--store", sandbox.store, "--socket", sandbox.socket, "--config", settings,
    ])
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    try sandbox.must(["grant", "user:" + stranger, "shared/**", "--can", "get,set"])
    for path in [sandbox.root, sandbox.runtime, sandbox.runtime + "/vault", sandbox.root + "/config"] {
      unsafe chmod(path, 0o755)
    }
    unsafe chmod(sandbox.socket, 0o666)
    let file = try sandbox.write("DB_PASSWORD=hunter2\n", to: ".env")
    try sandbox.must(["import", "--from", "env", "--yes", file] + at(sandbox))
    try body(sandbox)
  }

  /// The option by which this user's commands find the machine's vault, which is in a folder open to the other one.
  private static func at(_ sandbox: Sandbox) -> [String] { ["--socket", sandbox.socket] }

  /// Makes an item as the other user.
  private static func plant(
    _ sandbox: Sandbox, _ name: String, _ value: String, _ attributes: [String]
  ) throws {
    let user = ["--reuid=\(stranger)", "--regid=\(stranger)", "--clear-groups", Sandbox.path(of: "vault")]
    let outcome = try sandbox.run(
      user + ["set", name] + attributes.flatMap { ["--attr", $0] } + at(sandbox), program: "/usr/bin/setpriv",
      stdin: Array(value.utf8))
    try #require(outcome.status == 0, "\(outcome)")
  }

  @Test("writes no variable that the other user has chosen, and each own variable under its own name")
  func variables() throws {
    try Self.with { sandbox in
      for name in ["LD_PRELOAD", "PATH", "DB_PASSWORD"] {
        try Self.plant(sandbox, "shared/\(name)", "evil", ["source=env:.env", "source-id=env/\(name)"])
      }
      let outcome = try sandbox.run(["export", "--to", "env", "--plaintext", "--yes"] + Self.at(sandbox))
      let lines = [
        "DB_PASSWORD='hunter2'", "SHARED_DB_PASSWORD='evil'", "SHARED_LD_PRELOAD='evil'", "SHARED_PATH='evil'", "",
      ]
      #expect(outcome.status == 0 && outcome.output == lines.joined(separator: "\n"), "\(outcome)")
    }
  }

  @Test("a copy of the other user's item is no item of an import, and --undo leaves it", arguments: ["cp", "json"])
  func copies(way: String) throws {
    try Self.with { sandbox in
      let at = Self.at(sandbox)
      try sandbox.must(["set", "mine/prod"] + at, stdin: "first")
      try sandbox.must(["set", "mine/prod", "--update"] + at, stdin: "second")
      try Self.plant(sandbox, "shared/x", "new", ["import=9999-01-01T00:00:00Z-0000", "import-replaced=1"])
      if way == "cp" {
        try sandbox.must(["cp", "--yes", "--force", "shared/x", "mine/prod"] + at)
      } else {
        let line = try sandbox.must(["export", "--to", "json", "--plaintext", "--yes", "name=shared/x"] + at)
        #expect(line.contains("shared/x") && !line.contains("import"))
        try sandbox.must(["set", "--batch", "--update"] + at, stdin: line.replacing("shared/x", with: "mine/prod"))
      }
      try sandbox.must(["import", "--undo", "--yes"] + at)
      #expect(try sandbox.must(["get", "mine/prod"] + at) == "new")
      #expect(try sandbox.must(["list"] + at) == "mine/prod\nshared/x\n")
    }
  }
}
