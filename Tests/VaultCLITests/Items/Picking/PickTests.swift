import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultCLI

extension FuzzyRank {
  fileprivate func matches(_ typed: String) -> [String] { matches(typed) { false } ?? [] }
}

@Suite("A choice on the terminal") struct PickTests {
  private let terminal: [String: String?] = ["TERM": "xterm"]

  private func sandbox(unlocked: Bool = true) throws -> Sandbox {
    let sandbox = try Sandbox.withVault(unlocked: true)
    for name in ["iot/lamp", "iot/cellar/pump", "mail"] {
      try sandbox.must(["set", name, "--kind", "note"], stdin: "the value of \(name)")
    }
    if !unlocked { try sandbox.must(["lock"]) }
    return sandbox
  }

  @Test("letters narrow the names, return takes the best, and nothing of the list is left")
  func narrows() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let file = sandbox.home + "/output"
    let pick = try Terminal(sandbox, ["pick"], stdout: file, environment: terminal)
    try pick.expect("4 of 4")
    #expect(!pick.echoes)
    pick.type("cpu", return: false)
    try pick.expect("> cpu\r\n  1 of 4\r\n> iot/cellar/pump")
    pick.type("")
    #expect(try pick.wait() == 0)
    #expect(pick.isCooked)
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "the value of iot/cellar/pump")
    #expect(pick.screen.hasSuffix("\r\u{1B}[J"), "\(pick.screen)")
  }

  @Test("a line break in a paste chooses nothing")
  func pastedLines() {
    var keys = PickKeys()
    #expect(PickKeys.withoutPastedBreaks(keys.take("we\rb\r".utf8)) == [.text("w"), .text("e"), .text("b"), .enter])
    #expect(PickKeys.withoutPastedBreaks(keys.take("\nw\n\nb".utf8)) == [.text("w"), .text("b")])
    #expect(PickKeys.withoutPastedBreaks(keys.take("\r\u{1B}[B".utf8)) == [.enter, .down])
    #expect(PickKeys.withoutPastedBreaks([]) == [])
  }

  @Test("arrows and control-N and -P choose, and a locked vault is unlocked behind the choice")
  func arrows() throws {
    let sandbox = try sandbox(unlocked: false)
    defer { sandbox.close() }
    let pick = try Terminal(sandbox, ["pick", "show"], environment: terminal)
    try pick.expect("> iot/cellar/pump\r\n  iot/lamp\r\n  mail\r\n  web")
    pick.type("\u{1B}[B\u{1B}OB\u{0E}\u{0E}", return: false)
    try pick.expect("  mail\r\n> web")
    pick.type("\u{1B}[A\u{10}", return: false)
    try pick.expect("> iot/lamp\r\n  mail")
    pick.type("")
    try pick.expect("name: iot/lamp")
    #expect(try pick.wait() == 0)
  }

  @Test("escape leaves, and so does control-D", arguments: ["\u{1B}", "\u{04}"])
  func leaves(key: String) throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let pick = try Terminal(sandbox, ["pick"], environment: terminal)
    try pick.expect("4 of 4")
    pick.type(key, return: false)
    #expect(try pick.wait() == 77)
    #expect(
      pick.isCooked
        && pick.screen.hasSuffix(
          "\r\u{1B}[Jvault: canceled; nothing was changed\r\n"),
      "\(pick.screen)")
  }

  @Test("control-C and signals leave with the terminal in order", arguments: [SIGINT, SIGTERM, SIGHUP])
  func signals(number: Int32) throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let pick = try Terminal(sandbox, ["pick"], environment: terminal)
    try pick.expect("4 of 4")
    if number == SIGINT { pick.control("c") } else { pick.signal(number) }
    #expect(try pick.wait() == 128 + number)
    #expect(pick.isCooked && pick.screen.hasSuffix("\r\u{1B}[J"), "\(pick.screen)")
  }

  @Test("control-Z leaves the shell a terminal in order, and fg draws the list again with what was typed")
  func stops() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let shell = try Terminal(
      sandbox, ["--norc", "--noprofile", "-i"], program: "/bin/bash",
      environment: ["HISTFILE": nil, "TERM": "xterm", "PATH": "\(Sandbox.programs):/usr/bin:/bin"])
    shell.type("vault pick")
    try shell.expect("4 of 4")
    shell.type("lam", return: false)
    try shell.expect("> lam\r\n  2 of 4\r\n> iot/lamp")
    shell.control("z")
    try shell.expect("Stopped")
    shell.type("stty -a | tr ' ;' '\\n\\n' | grep -xE 'echo|icanon|isig' | wc -l")
    try shell.expect("\r3\r\n")
    shell.type("fg")
    try shell.expect("> lam\r\n  2 of 4\r\n> iot/lamp")
    shell.type("")
    try shell.expect("the value of iot/lamp")
    shell.type("exit")
    try shell.wait()
  }

  @Test("a terminal that changes its size is drawn on again")
  func resizes() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let pick = try Terminal(sandbox, ["pick"], environment: terminal)
    try pick.expect("4 of 4")
    pick.signal(SIGWINCH)
    try pick.expect("4 of 4")
    pick.control("d")
    #expect(try pick.wait() == 77)
  }

  @Test("return without a match chooses nothing, and what is typed can be taken back")
  func noMatch() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let pick = try Terminal(sandbox, ["pick"], environment: terminal)
    try pick.expect("4 of 4")
    pick.type("xyz")
    try pick.expect("> xyz\r\n  0 of 4")
    pick.type("\u{15}mal", return: false)
    try pick.expect("> mal\r\n  1 of 4\r\n> mail")
    pick.type("")
    #expect(try pick.wait() == 0)
    #expect(pick.screen.hasSuffix("the value of mail\r\n"))
  }

  @Test("a terminal that moves no cursor is told so")
  func dumb() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let pick = try Terminal(sandbox, ["pick"], environment: ["TERM": "dumb"])
    #expect(try pick.wait() == 75)
    #expect(pick.screen == "vault: this terminal cannot move the cursor; name the item, as in `vault get NAME`\r\n")
  }

  @Test("what is typed comes as keys, however it is cut")
  func keys() {
    let bytes = Array("aé日\u{1B}[A\u{1B}[B\u{1B}OA\u{1B}[5~\u{1B}[1;5C\u{7F}\u{17}\r".utf8)
    let wanted: [PickKeys.Key] = [
      .text("a"), .text("é"), .text("日"), .up, .down, .up, .pageUp, .backspace, .word, .enter,
    ]
    for cut in 1...bytes.count {
      var keys = PickKeys()
      var found: [PickKeys.Key] = []
      for start in stride(from: 0, to: bytes.count, by: cut) {
        found += keys.take(bytes[start..<min(start + cut, bytes.count)])
      }
      #expect(found == wanted && !keys.isOpen, "\(cut)")
    }
    var keys = PickKeys()
    #expect(keys.take([0x1B]) == [] && keys.isOpen && keys.close() == .leave && !keys.isOpen)
    #expect(keys.take([0xFF, 0xC3, 0x61, 0x00, 0x62]) == [.text("a"), .text("b")])
    #expect(keys.take([0xE2, 0x82]) == [] && keys.close() == nil)
  }

  @Test("no bytes make the keys stand still")
  func anyBytes() {
    for _ in 0..<2000 {
      var keys = PickKeys()
      _ = keys.take((0..<Int.random(in: 0...40)).map { _ in UInt8.random(in: 0...255) })
      _ = keys.close()
      #expect(keys.take([0x61]) == [.text("a")])
    }
  }

  @Test("what follows each other, or begins a word, fits best; then the shorter name")
  func rank() {
    let rank = FuzzyRank(["xaxbxc", "abc", "a/b/c", "zabcz", "acb", "other/abc", "ABCD"])
    #expect(rank.matches("abc") == ["abc", "ABCD", "other/abc", "a/b/c", "zabcz", "xaxbxc"])
    #expect(rank.matches("other bc") == ["other/abc"])
    #expect(rank.matches("bcd zz").isEmpty)
    #expect(rank.matches("") == ["xaxbxc", "abc", "a/b/c", "zabcz", "acb", "other/abc", "ABCD"])
    #expect(FuzzyRank(["log/aha", "work/gitea", "web/github"]).matches("gh")[0] == "web/github")
    #expect(FuzzyRank(["Übung", "büro"]).matches("ÜB") == ["Übung"])
  }

  @Test("the chosen name stays in sight, and no line is wider than the terminal")
  func window() {
    var list = PickList((0..<50).map { "name \($0) " + String(repeating: "日", count: 60) } + ["a\u{1B}[2Jb"])
    for step in 0..<120 {
      list.take(step < 60 ? .down : .up, height: PickList.height(rows: 10))
      let lines = list.lines(columns: 40, rows: 10)
      #expect(lines.count == 9 && lines.dropFirst(2).filter { $0.hasPrefix("> ") }.count == 1)
      #expect(lines.allSatisfy { TextWidth.columns($0) < 40 && !$0.contains("\u{1B}") })
    }
    list.take(.last, height: 7)
    #expect(list.choice == "a\u{1B}[2Jb")
    list.take(.pageUp, height: 7)
    #expect(list.chosen == 43)
    #expect(PickList([]).choice == nil)
  }

  @Test("keys that come together are one search, which can be stopped and taken up again")
  func oneSearch() {
    var list = PickList((0..<10_000).map { "name \($0)" })
    var searches = 0
    for digit in "123" { list.take(.text(String(digit)), height: 7) }
    list.take(.backspace, height: 7)
    #expect(list.isStale && list.matches.count == 10_000)
    list.search {
      searches += 1
      return searches > 3
    }
    #expect(searches == 4 && list.isStale && list.matches.count == 10_000)
    list.search()
    #expect(!list.isStale && list.choice == "name 12")
    list.search {
      Issue.record("there is nothing new to look for")
      return true
    }
  }

  @Test("what is pasted with the return behind it chooses what fits all of it")
  func pasted() throws {
    let sandbox = try sandbox()
    defer { sandbox.close() }
    let pick = try Terminal(sandbox, ["pick"], environment: terminal)
    try pick.expect("4 of 4")
    pick.type("cellar\u{1B}[B\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}\u{7F}mail")
    #expect(try pick.wait() == 0)
    #expect(pick.screen.contains("the value of mail"), "\(pick.screen)")
  }

  @Test("a signal ends it in the middle of a search, too")
  func stopsSearching() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    // The names are as long as allowed, and so alike that the search tries every place of each for every character.
    let items = (0..<4000).map {
      #"{"name":"\#(String(repeating: "a", count: 500))\#($0)","kind":"note","attributes":{},"#
        + #""accessible":"when-unlocked","#
        + #""require":"none","reuse":60,"version":1,"created":1,"modified":1,"size":1}"#
    }
    let daemon = try ScriptedDaemon(
      sandbox,
      [
        "Status": [
          #"{"parameters":{"state":"unlocked","cause":"","since":1,"locks_on":[],"methods":[],"warnings":[],"#
            + #""version":"0","pid":1}}"#
        ],
        "Find": stride(from: 0, to: 4000, by: 1000).map {
          #"{"parameters":{"items":[\#(items[$0..<$0 + 1000].joined(separator: ","))]},"continues":\#($0 < 3000)}"#
        },
      ])
    defer { daemon.close() }
    let pick = try Terminal(sandbox, ["pick", "--socket", daemon.socket], environment: terminal)
    try pick.expect("4000 of 4000")
    let before = try Self.processorTime(pick.pid)
    pick.type(String(repeating: "a", count: 500), return: false)
    // The search is running.
    while try Self.processorTime(pick.pid) < before + 20 {}
    // A signal instead of control-C: when a terminal sends a signal for control-C, it also discards output shown
    // meanwhile.
    pick.signal(SIGINT)
    #expect(try pick.wait() == 128 + SIGINT)
    #expect(pick.isCooked && !pick.screen.contains("a\r\n  4000 of"), "\(pick.screen)")
  }

  /// Returns the processor time of a process in user mode, in hundredths of a second (proc(5)).
  private static func processorTime(_ pid: Int32) throws -> Int {
    let text = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
    let fields = text.split(separator: ")").last.map { $0.split(separator: " ") } ?? []
    return try #require(fields.count > 11 ? Int(fields[11]) : nil)
  }

  @Test("ten thousand names are narrowed")
  func many() {
    let names = (0..<10_000).map { "folder\($0 % 97)/service-\($0)/account@example.org" }
    let rank = FuzzyRank(names)
    let counts = ["s", "se", "serv acc", "f9s99"].map { rank.matches($0).count }
    #expect(counts.prefix(3) == [10_000, 10_000, 10_000] && (1..<1000).contains(counts[3]), "\(counts)")
  }
}
