import Testing
import VaultTesting

@Suite("Emptying the trash") struct TrashEmptyTests {
  @Test("deletes what was there when the question was asked, and nothing that was deleted since") func asked() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    for name in ["first", "later"] { try sandbox.must(["set", name], stdin: "v") }
    try sandbox.must(["set", "served", "--accessible", "after-first-unlock"], stdin: "v")
    try sandbox.must(["rm", "first"])
    let terminal = try Terminal(sandbox, ["trash", "empty"])
    try terminal.expect("Delete the 1 item in the trash for good? [y/N] ")
    try sandbox.must(["rm", "later", "served", "--yes"])
    terminal.type("y")
    try terminal.expect("deleted 1 item for good")
    #expect(try terminal.wait() == 0)
    try sandbox.must(["trash", "restore", "later", "served"])
    #expect(try sandbox.must(["list"]) == "later\nserved\nweb\n")
    #expect(try sandbox.must(["trash"]) == "")
  }
}
