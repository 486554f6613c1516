import Foundation
import Testing
import VaultTesting

@Suite("One-time codes on a terminal") struct CodeTerminalTests {
  /// Makes a sandbox whose vault has the item `code`, with codes that last for hours.
  private func sandbox(_ uri: String = "otpauth://totp/x?secret=GEZDGNBVGY3TQOJQ&period=9999") throws -> Sandbox {
    let sandbox = try Sandbox.withVault(unlocked: true)
    try sandbox.must(["set", "code", "--kind", "totp"], stdin: uri)
    return sandbox
  }

  @Test("the code stands on a line of its own, and the seconds that are left of it behind it") func left() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["totp", "code"])
    #expect(try terminal.wait() == 0)
    let shown = try #require(terminal.screen.wholeMatch(of: /[0-9]{6}\r\nvault: ([0-9]+) s left\r\n/)?.output.1)
    #expect((0...9999).contains(try #require(Int(shown))))
  }

  @Test("nothing is shown beside a code that goes elsewhere, and with a vault that is locked the unlock comes first")
  func elsewhere() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    try sandbox.must(["lock"])
    let file = sandbox.home + "/code"
    let terminal = try Terminal(sandbox, ["totp", "code"], stdout: file)
    try terminal.expect("Vault password (asked by: vault totp code): ")
    terminal.type(password)
    #expect(try terminal.wait() == 0)
    #expect(!terminal.screen.contains("left"))
    #expect(try String(contentsOfFile: file, encoding: .utf8).wholeMatch(of: /[0-9]{6}/) != nil)
  }

  @Test("--watch draws code after code in one place, and an interrupt ends it on a line of its own") func watch() throws
  {
    let sandbox = try sandbox("otpauth://totp/x?secret=GEZDGNBVGY3TQOJQ&period=1")
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["totp", "code", "--watch"])
    var codes: Set<String> = []
    while codes.count < 3 {
      try terminal.expect("\r\u{1B}[K")
      codes.insert(String(try terminal.expect("  ").dropLast(2)))
      try terminal.expect(" s left")
    }
    #expect(codes.allSatisfy { $0.wholeMatch(of: /[0-9]{6}/) != nil })
    // A signal instead of control-C: when a terminal sends a signal for control-C, it also discards output written
    // meanwhile.
    terminal.signal(SIGINT)
    #expect(try terminal.wait() == 128 + SIGINT)
    #expect(terminal.screen.hasSuffix("\r\n"))
  }

  @Test(
    "--watch ends when the vault is locked, however long a code lasts, and leaves none on the screen",
    arguments: [1, 9999])
  func watchLocked(period: Int) throws {
    let sandbox = try sandbox("otpauth://totp/x?secret=GEZDGNBVGY3TQOJQ&period=\(period)")
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["totp", "code", "--watch"])
    try terminal.expect(" s left")
    try sandbox.must(["lock"])
    try terminal.expect("\r\u{1B}[Kvault: the vault was locked")
    #expect(try terminal.wait() == 75)
  }

  @Test("--watch goes on over a lock with an item that is served all the same, and writes no code twice")
  func watchServed() throws {
    let sandbox = try sandbox("otpauth://totp/x?secret=GEZDGNBVGY3TQOJQ&period=9999")
    defer { sandbox.close() }
    try sandbox.must(["set", "code", "--update", "--keep-value", "--accessible", "after-first-unlock"])
    let outcome = try sandbox.run(
      "-c",
      """
      cd; vault totp code --watch >codes 2>errors & watcher=$!
      until test -s codes; do sleep 0.05; done
      vault lock && vault totp code | cmp - codes; sleep 1; kill $watcher; wait $watcher
      echo "ended with $?, $(wc -l <codes) code, $(cat errors)"
      """, program: "/bin/bash")
    #expect(outcome.output.contains("ended with 143, 1 code, \n"), "\(outcome)")
  }

  @Test("--watch to a pipe ends when the vault is locked, too, and when the daemon ends", arguments: ["lock", "kill"])
  func watchPiped(way: String) throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let end = way == "lock" ? "vault lock" : "kill $(vault status --json | grep -o '\"pid\":[0-9]*' | cut -d: -f2)"
    let outcome = try sandbox.run(
      "-c",
      """
      cd; vault totp code --watch >codes 2>errors & watcher=$!
      until test -s codes; do sleep 0.05; done
      \(end); wait $watcher; echo "ended with $?"; cat errors
      """, program: "/bin/bash")
    #expect(outcome.output.hasPrefix("ended with 75\nvault: the vault "), "\(outcome)")
  }

  @Test("--watch of codes by a counter shows one, and says that there is nothing to watch") func counter() throws {
    let sandbox = try sandbox("otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0")
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["totp", "code", "--watch"])
    #expect(try terminal.wait() == 0)
    #expect(terminal.screen.hasPrefix("755224\r\nvault: ") && terminal.screen.contains("nothing to watch"))
    #expect(try sandbox.must(["totp", "code"]) == "287082")
  }
}
