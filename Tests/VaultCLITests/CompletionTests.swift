import Foundation
import Testing
import VaultModel
import VaultTesting

@testable import VaultCLI

@Suite("Completions") struct CompletionTests {
  static let shells = ["bash", "zsh", "fish"]

  @Test("each shell accepts its script", arguments: shells)
  func parse(shell: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let path = try sandbox.write(try sandbox.must(["completions", shell]), to: "script")
    let outcome = try sandbox.run([shell == "fish" ? "--no-execute" : "-n", path], program: "/usr/bin/\(shell)")
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
  }

  @Test("no script asks for names by the argument parser's own way, which evaluates them", arguments: shells)
  func ownFragment(shell: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let script = try sandbox.must(["completions", shell])
    #expect(script.contains("__item-names -- "))
    for fragment in ["---completion ", "eval '", "_describe -V \"\" list"] { #expect(!script.contains(fragment)) }
  }

  @Test("bash offers commands, options and the names of items")
  func bash() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "webcam"], stdin: "v")
    try sandbox.must(["set", "other"], stdin: "v")
    #expect(try Self.bashOffers(["vault", "hist"], sandbox) == ["history"])
    #expect(try Self.bashOffers(["vault", "set", "--gen"], sandbox) == ["--generate"])
    #expect(try Self.bashOffers(["vault", "get", "we"], sandbox) == ["web", "webcam"])
  }

  @Test("fish offers commands, options and the names of items")
  func fish() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "other"], stdin: "v")
    let script = try sandbox.write(try sandbox.must(["completions", "fish"]), to: "script")
    for (line, offered) in [
      ("vault hist", "history\tList an item's versions that are kept, newest first."),
      ("vault set --gen", "--generate\tLet the daemon draw the value: `password` (when left out) or `phrase`."),
      ("vault get we", "web"), ("vault get --version 1 we", "web"),
    ] {
      let outcome = try sandbox.run(
        ["--no-config", "-c", "source \(script); complete -C '\(line)'"], program: "/usr/bin/fish")
      #expect(outcome.output == offered + "\n" && outcome.errors.isEmpty, "\(outcome)")
    }
  }

  /// Names that would do something in a shell that evaluated them; each lies in a folder of its own, by which it is
  /// completed.
  static let names = [
    "$(touch $HOME/pwned)", "`touch $HOME/pwned`", "';touch $HOME/pwned;'", "\";touch $HOME/pwned;\"", "x;touch pwned",
    "a b  c", "*?[a-z]{b,c}", "~root", "a:b=c", "!! !x", "back\\slash\\", "#no comment", "end!", "é 日本",
    "x|touch pwned&",
    "<(touch pwned)", "${HOME:=x}", "$'a'", "-rf", "%s^", "a\u{A0}b",
  ]

  @Test("what a shell completes is the item's name, whatever it looks like, and nothing of it runs", arguments: shells)
  func completes(shell: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    for (number, name) in Self.names.enumerated() {
      try sandbox.must(["set", "--", "n\(number)/\(name)"], stdin: "<value \(number)>")
    }
    let terminal = try self.shell(shell, sandbox)
    for number in Self.names.indices {
      for quote in ["", "'", "\""] {
        terminal.type("vault get \(quote)n\(number)/\t")
        try terminal.expect("<value \(number)>")
      }
    }
    terminal.type("exit")
    try terminal.wait()
    let left = try FileManager.default.contentsOfDirectory(atPath: sandbox.home)
    #expect(!left.contains("pwned"), "\(left)")
  }

  /// A shell on a terminal of its own, prepared with the completions of `vault`.
  private func shell(_ shell: String, _ sandbox: Sandbox) throws -> Terminal {
    let script = try sandbox.write(try sandbox.must(["completions", shell]), to: "script")
    let options = ["bash": ["--norc", "--noprofile", "-i"], "zsh": ["-f", "-i"], "fish": ["--no-config", "-i"]]
    let prepare = ["zsh": "autoload -U compinit; compinit -u -D; "]
    let terminal = try Terminal(
      sandbox, options[shell] ?? [], program: "/usr/bin/\(shell)", environment: ["HISTFILE": nil, "TERM": "dumb"])
    terminal.type("cd; \(prepare[shell] ?? "")source \(script)")
    return terminal
  }

  @Test("a name is completed from a beginning that had to be quoted", arguments: shells)
  func quotedBeginning(shell: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "a b c"], stdin: "<value>")
    let terminal = try self.shell(shell, sandbox)
    for _ in 1...2 {
      terminal.type("vault get a\\ b\t")
      try terminal.expect("<value>")
    }
    terminal.type("exit")
    try terminal.wait()
  }

  @Test("a name that would be a predicate or an option is completed only behind two dashes", arguments: shells)
  func predicates(shell: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let hostile = ["name=web", "--yes", "y~**"]
    for name in hostile { try sandbox.must(["set", "--", name], stdin: "v") }
    let terminal = try self.shell(shell, sandbox)
    for prefix in ["nam", "--ye", "y~"] {
      terminal.type("vault rm \(prefix)\t")
      terminal.type("echo d'on'e")
      try terminal.expect("done")
    }
    let all = Set(hostile + ["web"])
    #expect(Set(try sandbox.must(["list"]).split(separator: "\n").map(String.init)) == all)
    for prefix in ["nam", "--ye", "y~"] {
      terminal.type("vault rm -- \(prefix)\t")
      terminal.type("echo d'on'e")
      try terminal.expect("done")
    }
    terminal.type("exit")
    try terminal.wait()
    #expect(try sandbox.must(["list"]) == "web\n", "\(terminal.screen)")
  }

  @Test("where no daemon runs none is started, and nothing is offered")
  func startsNone() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let pid = try #require(sandbox.daemonPid)
    let ended = try sandbox.run(
      "-c", "kill \(pid); while vault status >/dev/null 2>&1; do :; done", program: "/bin/sh")
    #expect(ended.status == 0, "\(ended)")
    let outcome = try sandbox.run("__item-names", "--", "we", "get")
    #expect(outcome.status == 0 && outcome.output.isEmpty && outcome.errors.isEmpty, "\(outcome)")
    #expect(sandbox.daemonPid == nil)
  }

  @Test("which names are offered depends on what stands before them")
  func offered() {
    for (name, words, isOffered) in [
      ("a", ["rm"], true), ("a=b", ["rm"], false), ("a~b", ["--json", "rm", "c"], false), ("a<b", ["rm"], false),
      ("a>b", ["rm"], false), ("a=b", ["rm", "--"], true), ("a=b", ["get"], true), ("-a", ["get"], false),
      ("-a", ["get", "--"], true), ("-\u{301}", ["show"], false),
    ] {
      #expect(ItemNames.isName(name, behind: words[...]) == isOffered, "\(name) \(words)")
    }
  }

  @Test("bash goes on from every way to have quoted what is there")
  func goesOn() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "a/$(touch x)"], stdin: "v")
    try sandbox.must(["set", "c:d e"], stdin: "v")
    for typed in [#"a/\$"#, #"a/'$'"#, #"a/"\$"\(touch\ "#] {
      #expect(try Self.bashOffers(["vault", "get", typed], sandbox) == [#"a/\$\(touch\ x\)"#], "\(typed)")
    }

    #expect(try Self.bashOffers(["vault", "get", #"c\:"#], sandbox) == [#"c\:d\ e"#])
  }

  @Test("a name that a terminal would not show as it is is not offered")
  func unprintable() throws {
    for name in ["a\nb", "a\u{1B}[0m", "a\u{202E}b", "a\u{200B}b", "a\u{2028}b", "a\u{9B}b"] {
      #expect(!Printable.isPlain(name))
    }
    for name in Self.names.dropLast() { #expect(Printable.isPlain(name)) }
  }

  /// The words that the function leaves in COMPREPLY when it is called as bash calls it.
  private static func bashOffers(_ words: [String], _ sandbox: Sandbox) throws -> [String] {
    let script = try sandbox.write(try sandbox.must(["completions", "bash"]), to: "script")
    func quoted(_ text: String) -> String { "'" + text.replacingOccurrences(of: "'", with: "'\\''") + "'" }
    let line = """
      . \(script); COMP_WORDS=(\(words.map(quoted).joined(separator: " "))); COMP_CWORD=\(words.count - 1)
      COMP_LINE=\(quoted(words.joined(separator: " "))); COMP_POINT=${#COMP_LINE}
      _vault vault \(quoted(words[words.count - 1])) vault; printf '%s\\n' "${COMPREPLY[@]}"
      """
    let outcome = try sandbox.run(["-c", line], program: "/bin/bash")
    return outcome.output.split(separator: "\n").map(String.init).sorted()
  }
}
