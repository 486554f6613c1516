import Foundation
import Glibc
import Testing
import VaultTesting

@Suite(
  "The client's memory", .enabled(if: geteuid() == 0, "needs root to read the memory of a process that is not dumpable")
)
struct ClientMemoryTests {
  private static func word() -> String {
    String((0..<32).map { _ in "abcdefghjkmnpqrstuvwxyz23456789".randomElement() ?? "x" })
  }

  @Test("while it waits for the next answer, nothing is left of what was typed before") func answers() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.hidePAM()
    let (old, new) = (Self.word(), Self.word())
    _ = try sandbox.makeVault(password: old, config: "idle = off")
    let terminal = try Terminal(sandbox, ["passwd"] + floorOptions)
    try terminal.expect("Password to change the password: ")
    terminal.type(old)
    try terminal.expect("New password for the vault: ")
    #expect(try MemorySearch(pid: terminal.pid).find(Array(old.utf8)) == [])
    terminal.type(new)
    try terminal.expect("Again: ")
    let waiting = try MemorySearch(pid: terminal.pid)
    #expect(waiting.find(Array(old.utf8)) == [])
    // The positive control: the new one is compared with what is typed next.
    #expect(waiting.find(Array(new.utf8)) == ["raw"])
    terminal.type(new)
    try terminal.expect("Give the vault a new key now")
    #expect(try MemorySearch(pid: terminal.pid).find(Array(new.utf8)) == [])
  }
}
