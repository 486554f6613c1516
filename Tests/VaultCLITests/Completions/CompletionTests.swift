import ArgumentParser
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

  @Test("no script evaluates what is offered", arguments: shells)
  func ownFragment(shell: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let script = try sandbox.must(["completions", shell])
    #expect(script.contains(" __complete -- "))
    for fragment in ["---completion ", "eval ", "compgen", "_describe"] { #expect(!script.contains(fragment)) }
  }

  @Test("bash offers commands, options and the names of items")
  func bash() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "webcam"], stdin: "v")
    try sandbox.must(["set", "other"], stdin: "v")
    #expect(try Self.bashOffers(["vault", "hist"], sandbox) == ["history"])
    #expect(try Self.bashOffers(["vault", "sea"], sandbox) == ["search"])
    #expect(try Self.bashOffers(["vault", "se"], sandbox) == ["secret-service", "set"])
    #expect(try Self.bashOffers(["vault", "ls", "--js"], sandbox) == ["--json"])
    #expect(try Self.bashOffers(["vault", "set", "-k", "pass"], sandbox) == ["password"])
    #expect(try Self.bashOffers(["vault", "set", "--gen"], sandbox) == ["--generate"])
    #expect(try Self.bashOffers(["vault", "get", "we"], sandbox) == ["web", "webcam"])
  }

  @Test("behind a variable and its equals sign items are offered, and before it nothing")
  func variables() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "webcam"], stdin: "v")
    for command in ["run", "env"] {
      #expect(try sandbox.must(["__complete", "--", "A=we", command, "-e"]) == "=A=web\n=A=webcam\n")
      #expect(try sandbox.must(["__complete", "--", "--env=B=webc", command, "-e", "A=web"]) == "=--env=B=webcam\n")
      #expect(try sandbox.must(["__complete", "--", "A", command, "-e"]) == "")
    }
  }

  @Test("trash restore is offered what is in the trash, each name once")
  func trash() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    for name in ["a/b", "a/b", "-x", "kept"] {
      try sandbox.must(["set", "--", name], stdin: "v")
      if name != "kept" { try sandbox.must(["rm", "--", name]) }
    }
    #expect(try Self.bashOffers(["vault", "trash", "restore", ""], sandbox) == ["a/b"])
    #expect(try Self.bashOffers(["vault", "trash", "restore", "--", ""], sandbox) == ["-x", "a/b"])
  }

  @Test("fish offers commands, options and the names of items")
  func fish() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "other"], stdin: "v")
    let script = try sandbox.write(try sandbox.must(["completions", "fish"]), to: "script")
    for (line, offered) in [
      ("vault hist", "history\tList the versions of an item that are kept, newest first."),
      (
        "vault set --gen",
        "--generate\tLet the daemon generate the value: a password (the default) or a phrase, or, with --use, a key."
      ),
      ("vault get we", "web"), ("vault get --version 1 we", "web"),
    ] {
      let outcome = try sandbox.run(
        ["--no-config", "-c", "source \(script); complete -C '\(line)'"], program: "/usr/bin/fish")
      #expect(outcome.output == offered + "\n" && outcome.errors.isEmpty, "\(outcome)")
    }
  }

  /// Names that would have an effect in a shell that evaluated them. Each is completed by a folder of its own that it
  /// lies in.
  static let names = [
    "$(touch pwned)", "`touch pwned`", "';touch pwned;'", "\";touch pwned;\"", "x;touch pwned",
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
    let terminal = try sandbox.completing(in: shell)
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

  @Test("a name is completed from a beginning that had to be quoted", arguments: shells)
  func quotedBeginning(shell: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "a b c"], stdin: "<value>")
    let terminal = try sandbox.completing(in: shell)
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
    let terminal = try sandbox.completing(in: shell)
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

  @Test("an item named a/$(touch x) is completed as a name, as a value and in a predicate", arguments: shells)
  func substitution(shell: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["set", "a/$(touch x)", "--attr", "owner=$(touch y)"], stdin: "<value>")
    let terminal = try sandbox.completing(in: shell)
    for (line, answer) in [
      ("vault get a\t\t", "<value>"), ("vault show a/\t", "name: a/$(touch x)"),
      ("vault get a/\t --field ow\t", "$(touch y)"), ("vault find owner=\t", "a/$(touch x)"),
      ("vault find ow\t\t --json", #""name":"a/$(touch x)""#), ("vault list --fl\t a\t", "a/$(touch x)"),
    ] {
      terminal.type(line)
      try terminal.expect(answer)
    }
    terminal.type("exit")
    try terminal.wait()
    #expect(try Set(FileManager.default.contentsOfDirectory(atPath: sandbox.home)).isDisjoint(with: ["x", "y"]))
  }

  @Test("folders, whole paths, fields, attributes, predicates and help topics are completed", arguments: shells)
  func everything(shell: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(
      ["set", "folder/deeper/one", "--attr", "owner=ana", "--attr", "room=living room"], stdin: "<value>")
    let terminal = try sandbox.completing(in: shell)
    for (line, answer) in [
      ("vault help sl\t", "See and change the ways into the vault."),
      ("vault list --flat fol\t", "folder/deeper/one"),
      ("vault get fol\tdee\ton\t", "<value>"),
      ("vault --json get\tfol\t\t\t", #""value":"<value>""#),
      ("vault get folder/deeper/one --field ow\t", "ana"),
      ("vault get folder/deeper/one --field=ro\t", "living room"),
      ("vault find ow\tan\t", "folder/deeper/one"),
      ("vault find room=\t", "folder/deeper/one"),
      ("vault find name~fol\tdee\t\t", "folder/deeper/one"),
      ("vault find kind=passw\t room~liv\\*", "folder/deeper/one"),
      ("vault set other --file script --attr ow\tan\t; vault find owner=ana --json", #"{"name":"other""#),
      ("vault set third --file sc\t; vault show third", "name: third"),
      ("vault audit --act\tset >/dev/null && echo d'on'e", "done"),
      ("vault grants --js\t --fo\tuser:77 && echo 'r'eady", "ready"),
    ] {
      terminal.type(line)
      try terminal.expect(answer)
    }
    terminal.type("exit")
    try terminal.wait()
  }

  @Test("where no daemon runs none is started, and nothing is offered")
  func startsNone() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let pid = try #require(sandbox.daemonPid)
    let ended = try sandbox.run(
      "-c", "kill \(pid); while vault status >/dev/null 2>&1; do :; done", program: "/bin/sh")
    #expect(ended.status == 0, "\(ended)")
    let outcome = try sandbox.run("__complete", "--", "we", "get")
    #expect(outcome.status == 0 && outcome.output.isEmpty && outcome.errors.isEmpty, "\(outcome)")
    #expect(sandbox.daemonPid == nil)
  }

  @Test("while names are hidden nothing is offered and nobody is asked")
  func hidden() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.configure("hide-names = true\n")
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    try sandbox.must(["set", "web", "--attr", "owner=ana"], stdin: "hunter2")
    #expect(try sandbox.must(["__complete", "--", "", "get"]) == "=web\n")
    try sandbox.must(["lock"])
    for words in [["", "get"], ["owner=", "find"], ["name=", "find"], ["", "set", "a", "--attr"]] {
      let terminal = try Terminal(sandbox, ["__complete", "--"] + words)
      #expect(try terminal.wait() == 0 && terminal.screen.isEmpty, "\(terminal.screen)")
    }
  }

  @Test(
    "what is typed before decides what is offered",
    arguments: [
      (["", "slot"], ["=list", "=add", "=remove"]), (["u"], ["=unlock"]), (["st", "--json"], ["=status"]),
      (["", "--socket"], [":files"]), (["", "backup"], [":files"]),
      (["", "help", "slot"], ["=list", "=add", "=remove"]),
      (["--k", "set", "a"], ["=--kind", "=--keep-value"]), (["--kind", "set", "--kind", "note", "a"], []),
      (["--at", "set", "--attr", "a=b"], ["=--attr"]), (["--kind=no", "set"], ["=--kind=note"]),
      (["n", "set", "--kind"], ["=note"]),
      (
        ["", "set", "a", "--generate"],
        ["=password", "=phrase", "=ed25519", "=p256", "=rsa3072", "=rsa4096", "=hmac256"]
      ),
      (["we", "set", "--generate"], []), (["we", "set", "--generate", "phrase"], ["=web"]),
      (["we", "get", "web"], []), (["we", "rm", "web"], ["=web"]), (["--y", "rm", "--"], []),
      (["", "completions"], ["=bash", "=zsh", "=fish"]), (["expires=", "find"], ["=expires=never"]),
      (["require!=b", "find"], ["=require!=biometry"]), (["name=w", "find"], ["=name=web"]),
      (["name=\"w", "find"], ["=name=\"web\""]), (["kind=t", "rm"], ["=kind=tls-key", "=kind=totp"]),
      (["", "lock"], []),
      (["we", "--socket", "/nowhere", "get"], []), (["we", "get", "--system"], []),
      (["", "requests"], ["=list", "=forget"]), (["", "approve"], []), (["--se", "approve"], ["=--session"]),
      (["we", "requests", "forget", "user:1"], ["=web"]), (["--al", "deny"], ["=--always"]),
      (["", "deposits"], ["=list", "=accept", "=drop"]), (["we", "deposit"], ["=web"]),
      (["", "deposit", "--key"], [":files"]), (["", "deposit", "--sealed"], [":files"]),
      (["", "show-key", "-o"], [":files"]),
      (["--k", "deposit", "a"], ["=--kind", "=--key"]), (["no", "deposit", "--kind"], ["=note"]),
      (["al", "deposit", "--accessible"], ["=always"]),
      (["--act", "audit"], ["=--action"]), (["--ca", "audit", "-n", "5"], ["=--caller"]),
      (["--fo", "grants", "--json"], ["=--for"]), (["--on=we", "grants"], ["=--on=web"]),
      (["we", "grants", "--on"], ["=web"]), (["--fo", "grants", "forget"], []), (["--fo", "help", "grants"], []),
    ])
  func typed(words: [String], offered: [String]) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let lines = try sandbox.must(["__complete", "--"] + words).split(separator: "\n")
    #expect(lines.map { String($0.prefix { $0 != "\t" }) } == offered)
  }

  @Test("where the name of a subcommand may be left out, its options are offered without it")
  func defaultSubcommands() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    var count = 0
    for command in VaultCommand.configuration.subcommands {
      guard let own = command.configuration.defaultSubcommand else { continue }
      let offered = try sandbox.must(["__complete", "--", "--", command._commandName])
      #expect(try offered == sandbox.must(["__complete", "--", "--", command._commandName, own._commandName]))
      #expect(offered.contains("=--json\t") && offered.contains("=--help\t"))
      count += 1
    }
    #expect(count > 4)
  }

  @Test("files are completed with nothing else on the screen", arguments: shells)
  func files(shell: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    for name in ["web.file", "web file two", ".hidden"] { try sandbox.write("<content of \(name)>", to: name) }
    let terminal = try sandbox.completing(in: shell)
    if shell == "zsh" { terminal.type("setopt globdots shwordsplit") }
    for (line, answer) in [
      ("vault set a --file web.\t; vault get a", "<content of web.file>"),
      ("vault set b --file=web.\t; vault get b", "<content of web.file>"),
      ("vault set c --file web\\ \t; vault get c", "<content of web file two>"),
      ("vault set d --file .hid\t; vault get d", "<content of .hidden>"),
    ] {
      terminal.type(line)
      try terminal.expect(answer)
    }
    terminal.type("exit")
    try terminal.wait()
    #expect(!terminal.screen.contains("no matches found") && !terminal.screen.contains("eval"), "\(terminal.screen)")
  }

  @Test("a name that begins with a dash, or that rm would take for a predicate, needs two dashes before it")
  func offered() {
    for (name, isRemoval, isBehindDashes, isOffered) in [
      ("a", true, false, true), ("a=b", true, false, false), ("a~b", true, false, false), ("a<b", true, false, false),
      ("a>b", true, false, false), ("a=b", true, true, true), ("a=b", false, false, true), ("-a", false, false, false),
      ("-a", false, true, true), ("-\u{301}", false, false, false),
    ] {
      #expect(Completion.isName(name, isBehindDashes: isBehindDashes, isRemoval) == isOffered, "\(name)")
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

  /// Returns the words that the completion function leaves in COMPREPLY when it is called as bash calls it.
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
