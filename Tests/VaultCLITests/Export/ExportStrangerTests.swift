import Testing
import VaultTesting

/// An export from the machine's vault, where another user has the rights to read and to make items in one folder.
@Suite("vault export beside another user's items", .enabled(if: Root.isAtHand, "needs root to be another user"))
struct ExportStrangerTests {
  /// A vault with a variable of this user's that an import has made.
  private static func with(_ body: (Sandbox) throws -> Void) throws {
    try SharedFolder.with { sandbox in
      let file = try sandbox.write("DB_PASSWORD=hunter2\n", to: ".env")
      try sandbox.must(["import", "--from", "env", "--yes", file] + SharedFolder.at(sandbox))
      try body(sandbox)
    }
  }

  @Test("writes no variable that the other user has chosen, and each own variable under its own name")
  func variables() throws {
    try Self.with { sandbox in
      for name in ["LD_PRELOAD", "PATH", "DB_PASSWORD"] {
        try SharedFolder.plant(sandbox, "shared/\(name)", "evil", ["source=env:.env", "source-id=env/\(name)"])
      }
      let outcome = try sandbox.run(["export", "--to", "env", "--plaintext", "--yes"] + SharedFolder.at(sandbox))
      let lines = [
        "DB_PASSWORD='hunter2'", "SHARED_DB_PASSWORD='evil'", "SHARED_LD_PRELOAD='evil'", "SHARED_PATH='evil'", "",
      ]
      #expect(outcome.status == 0 && outcome.output == lines.joined(separator: "\n"), "\(outcome)")
    }
  }

  @Test("a copy of the other user's item is no item of an import, and --undo leaves it", arguments: ["cp", "json"])
  func copies(way: String) throws {
    try Self.with { sandbox in
      let at = SharedFolder.at(sandbox)
      try sandbox.must(["set", "mine/prod"] + at, stdin: "first")
      try sandbox.must(["set", "mine/prod", "--update"] + at, stdin: "second")
      try SharedFolder.plant(sandbox, "shared/x", "new", ["import=9999-01-01T00:00:00Z-0000", "import-replaced=1"])
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
