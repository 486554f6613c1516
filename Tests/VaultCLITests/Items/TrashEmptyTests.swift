import Testing
import VaultTesting

@Suite("Emptying the trash, and deleting many items") struct TrashEmptyTests {
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
    // The shown items may be gone by the answer.
    try sandbox.must(["rm", "later"])
    let late = try Terminal(sandbox, ["trash", "empty"])
    try late.expect("Delete the 1 item in the trash for good? [y/N] ")
    try sandbox.must(["trash", "restore", "later"])
    try sandbox.must(["rm", "later"])
    late.type("y")
    try late.expect("nothing that was shown is in the trash any more; what was deleted since stays: 1 item")
    #expect(try late.wait() == 0)
    try sandbox.must(["trash", "restore", "later"])
    #expect(try sandbox.must(["list"]) == "later\nserved\nweb\n")
    #expect(try sandbox.must(["trash"]) == "")
  }

  @Test("of many items the first by name are shown, and where all of them are") func many() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let lines = (10..<35).reversed().map { "{\"name\":\"a/\($0)\",\"value\":\"v\"}\n" }.joined()
    try sandbox.must(["set", "--batch"], stdin: lines)
    let terminal = try Terminal(sandbox, ["rm", "name~a/*"])
    let shown = (10..<30).map { "  a/\($0)\r\n" }.joined()
    try terminal.expect("\(shown)  and 5 more; `vault find` with the same predicates lists them all\r\n")
    try terminal.expect("Delete these 25 items? [y/N] ")
    terminal.type("n")
    #expect(try terminal.wait() == 77)
  }
}
