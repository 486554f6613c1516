import ArgumentParser
import Testing

@testable import VaultCLI

@Suite("The command line") struct ArgumentsTests {
  @Test(
    "the plain get is read as the parser would read it",
    arguments: [
      ["get", "web"], ["get", "iothome/express.key", "--json"], ["get", "--json", "web"], ["get", "web", "--system"],
      ["get", "--socket", "/run/s", "web"], ["get", "web", "--socket", "/run/s", "--json"], ["get", ""],
    ])
  func fast(arguments: [String]) throws {
    let parsed = try Arguments.parse(arguments)
    let command = try #require(parsed as? GetCommand)
    if arguments != ["get", ""] { #expect(GetRequest(fast: arguments[...]) == command.request) }
  }

  @Test(
    "every other command line is left to the parser",
    arguments: [
      [], ["get"], ["get", ""], ["get", "a", "b"], ["get", "-x"], ["get", "web", "--field", "owner"],
      ["get", "web", "--version", "1"], ["get", "--", "-web"], ["get", "web", "--socket"],
      ["get", "web", "--socket", "--json"], ["get", "web", "--system", "--socket", "/s"], ["get", "--help"],
      ["set", "web"],
      ["--json", "get", "web"], ["get", "web", "--wait", "1s"], ["get", "web", "--clip"], ["get", "web", "--js"],
    ])
  func slow(arguments: [String]) { #expect(GetRequest(fast: arguments[...]) == nil) }

  @Test("options of every command may stand before it, and stay before two dashes")
  func globals() {
    #expect(Arguments.normalize(["--json", "get", "a"]) == ["get", "a", "--json"])
    #expect(
      Arguments.normalize(["--socket", "/s", "--system", "slot", "list"]) == [
        "slot", "list", "--socket", "/s", "--system",
      ])
    #expect(Arguments.normalize(["--socket=/s", "get", "--", "-a"]) == ["get", "--socket=/s", "--", "-a"])
    #expect(Arguments.normalize(["get", "a", "--json"]) == ["get", "a", "--json"])
    #expect(Arguments.normalize(["--help"]) == ["--help"])
    #expect(Arguments.normalize(["--json=1", "list"]) == ["list", "--json=1"])
    #expect(Arguments.normalize(["grants", "--system", "list"]) == ["grants", "list", "--system"])
    let issue = ["--json", "token", "--system", "issue", "x"]
    #expect(Arguments.normalize(issue) == ["token", "issue", "x", "--json", "--system"])
    #expect(Arguments.normalize(["audit", "--json", "-n", "1"]) == ["audit", "-n", "1", "--json"])
    #expect(Arguments.normalize(["--system"]) == ["--system"])
  }

  @Test("a group that needs one of its commands is answered with its help, whatever options of every command it has")
  func groups() {
    for words in [["--system", "token"], ["token", "--system"], ["--socket", "/s", "--json", "token"]] {
      #expect(Arguments.normalize(words) == ["token"], "\(words)")
    }
    #expect(Arguments.normalize(["--json", "slot"]) == ["slot", "--json"])
  }

  @Test("behind two dashes of rm all are names")
  func names() throws {
    #expect(Arguments.normalize(["rm", "a", "--", "b=c", "--"]) == ["rm", "a", "--item=b=c", "--item=--"])
    #expect(Arguments.normalize(["--json", "rm", "--", "--yes"]) == ["rm", "--json", "--item=--yes"])
    #expect(Arguments.normalize(["rm", "--", "", "a"]) == ["rm", "", "--item=a"])
    for names in [["b=c"], ["--yes", "-x", "--", "--item=y"], ["a", "é"]] {
      let command = try #require(try Arguments.parse(["rm", "--"] + names) as? RemoveCommand)
      #expect(command.names == names && command.items.isEmpty && !command.yes)
    }
  }

  @Test("--generate takes a style only where one follows")
  func generate() {
    #expect(Arguments.normalize(["set", "--generate", "web"]) == ["set", "--generate=password", "web"])
    #expect(Arguments.normalize(["set", "web", "--generate"]) == ["set", "web", "--generate=password"])
    #expect(Arguments.normalize(["set", "--generate", "phrase", "web"]) == ["set", "--generate", "phrase", "web"])
    #expect(Arguments.normalize(["set", "--generate=phrase", "web"]) == ["set", "--generate=phrase", "web"])
    #expect(Arguments.normalize(["set", "--", "--generate"]) == ["set", "--", "--generate"])
  }

  @Test("what is left over of a command that takes secrets is never repeated")
  func secrets() {
    for arguments in [
      ["init", "hunter2"], ["unlock", "hunter2"], ["set", "web", "hunter2"], ["passwd", "hunter2"],
      ["slot", "add", "password", "hunter2"], ["slot", "remove", "1", "hunter2"], ["set", "web", "--value=hunter2"],
      ["unlock", "--password=hunter2"], ["set", "web", "--value", "hunter2"],
      ["unlock", "--hunter2"], ["set", "web", "--atr=hunter2"], ["set", "web", "hunter2", "udpate"],
      ["deposit", "web", "hunter2"], ["deposit", "web", "--hunter2"], ["deposit", "--sealed", "box", "hunter2"],
      ["deposit", "--sealed", "box", "web", "hunter2"],
    ] {
      let failure = #expect(throws: Failure.self) { try Arguments.parse(arguments) }
      #expect(failure?.message.contains("hunter2") == false, "\(arguments)")
    }
  }

  @Test(
    "a word with an h among joined letters is no question for help behind an option that is unknown",
    arguments: [
      ["set", "x", "--expirse", "-1h"], ["deposit", "x", "--expires", "-1h"], ["set", "x", "--frob", "-2h30m"],
      ["get", "x", "--wiat", "-1h"], ["backup", "--foo", "f", "-xh"], ["rm", "x", "--yess", "-xh"],
      ["set", "x", "-q", "-1h"], ["lock", "--foo", "-xh", "--", "--help"], ["lokc", "-hh"],
    ])
  func joinedLetters(arguments: [String]) {
    let failure = #expect(throws: Failure.self) { try Arguments.parse(arguments) }
    #expect(failure?.exit == .usage && failure?.event.hasPrefix("unknown ") == true, "\(String(describing: failure))")
    for help in ["--help", "-h"] {
      #expect(throws: Never.self) { _ = try Arguments.parse([arguments[0], help] + arguments.dropFirst()) }
    }
  }

  @Test(
    "the help is asked for by a word of its own",
    arguments: [
      ["lock", "-h=1"], ["lock", "--help=1"], ["lock", "-hh"], ["set", "x", "-nh"], ["-hh"], ["--help=1"],
      ["--version=1"], ["run", "-h=1", "--", "--help"],
    ])
  func wholeWord(arguments: [String]) {
    let failure = #expect(throws: Failure.self) { try Arguments.parse(arguments) }
    #expect(failure?.exit == .usage, "\(String(describing: failure))")
  }

  @Test(
    "a version of no item is no question for the program's version",
    arguments: [
      ["get", "--version", "2"], ["get", "--version=2"], ["get", "--version", "2", "--json"],
      ["--json", "get", "--version", "2"], ["get", "--version", "2", "--field", "size"],
    ])
  func versionOfNothing(arguments: [String]) {
    let failure = #expect(throws: Failure.self) { try Arguments.parse(arguments) }
    let plain = #expect(throws: Failure.self) { try Arguments.parse(["get"]) }
    #expect(failure?.exit == .usage && failure?.message == plain?.message, "\(String(describing: failure))")
    #expect(!Arguments.isQuestion(arguments) && Arguments.isQuestion(arguments + ["--help"]))
  }

  @Test("the program's version is asked for behind every other command, too")
  func programVersion() {
    for arguments in [["--version"], ["list", "--version"], ["history", "a", "--version"]] {
      #expect(Arguments.isQuestion(arguments))
      let error = #expect(throws: (any Error).self) { try Arguments.parse(arguments) }
      #expect(error.map { VaultCommand.exitCode(for: $0) } == .success)
    }
    let unknown = #expect(throws: Failure.self) { try Arguments.parse(["get", "--version", "2", "--nosuch"]) }
    #expect(unknown?.event == "unknown option `--nosuch`")
  }

  @Test("a command goes by its other names, and behind two dashes of delete all are names, too")
  func otherNames() throws {
    #expect(try Arguments.parse(["ls"]) is ListCommand)
    #expect(try Arguments.parse(["search", "a"]) is FindCommand)
    #expect(try #require(try Arguments.parse(["delete", "--", "a=b"]) as? RemoveCommand).names == ["a=b"])
  }

  @Test("sizes, durations and dates")
  func sizes() throws {
    #expect(try Sizes.parse("19m") == 19 << 20)
    #expect(try Sizes.parse("1G") == 1 << 30)
    #expect(try Sizes.parse("65536k") == 64 << 20)
    #expect(try Sizes.parse("4096") == 4096)
    for text in ["", "m", "-1", "0", "1.5g", "19mb", "99999999999999999999", "9223372036854775807g"] {
      #expect(throws: (any Error).self) { try Sizes.parse(text) }
    }
  }

  @Test("durations and times, of which a number alone is neither")
  func times() throws {
    #expect(try Times.duration("15m") == 900)
    for text in ["", "0", "0s", "90", "soon", "-5s", "@90", "2030-01-31"] {
      #expect(throws: (any Error).self) { try Times.duration(text) }
    }
    #expect(try Times.wait("0") == 0 && Times.wait("0s") == 0 && Times.wait("0m") == 0 && Times.wait("1s") == 1)
    #expect(throws: (any Error).self) { try Times.wait("1") }
    #expect(try Times.reuse("1d") == 86_400 && Times.reuse("1s") == 1)
    for text in ["86401s", "25h", "0s", "60"] { #expect(throws: (any Error).self) { try Times.reuse(text) } }
    #expect(try Times.expiry("2030-01-31") == .time(1_896_048_000))
    #expect(try Times.expiry("@1893456000") == .time(1_893_456_000) && Times.expiry("never") == .never)
    #expect(try Times.expiry("@0") == .time(0) && Times.expiry("1970-01-01") == .time(0))
    // In a call, 0 means that the item never expires.
    #expect(Expiry.never.wire == 0 && Expiry.time(0).wire == 1 && Expiry.time(2).wire == 2)
    for text in ["tomorrow", "1893456000", "@", "@-1", "0d", "9000y"] {
      #expect(throws: (any Error).self) { try Times.expiry(text) }
    }
    #expect(try Times.past("@60") == 60 && Times.end("@60") == 60)
  }

  /// Each option of each command that takes a duration or a time, with the other arguments that the command needs
  /// before it.
  static let timed: [[String]] = [
    ["get", "a", "--wait"], ["totp", "a", "--wait"], ["sign", "a", "--wait"], ["mac", "a", "--wait"],
    ["token", "issue", "a", "--wait"], ["token", "issue", "a", "--ttl"], ["token", "verify", "a", "--wait"],
    ["run", "-e", "A=b", "--wait"], ["env", "-e", "A=b", "--wait"], ["inject", "--wait"], ["helper", "--wait"],
    ["set", "a", "--reuse"], ["set", "a", "--expires"], ["unlock", "--for"], ["approve", "1", "--for"],
    ["grant", "user:1", "a", "--until"], ["audit", "--since"], ["audit", "--until"], ["audit", "list", "--since"],
    ["audit", "list", "--until"], ["audit", "item", "a", "--since"], ["audit", "item", "a", "--until"],
    ["list", "--unused"], ["grants", "--unused"], ["grants", "list", "--unused"],
  ]

  @Test(
    "every option that takes a time says of a number alone, and of anything else, what is wrong with it",
    arguments: timed)
  func wrongTimes(option: [String]) throws {
    let rest = option[0] == "run" ? ["--", "true"] : []
    #expect(throws: Never.self) { try Arguments.parse(option + ["1h"] + rest) }
    let number = #expect(throws: Failure.self) { try Arguments.parse(option + ["1893456000"] + rest) }
    #expect(number?.event.contains("a number alone") == true, "\(number?.message ?? "")")
    let word = #expect(throws: Failure.self) { try Arguments.parse(option + ["bogus"] + rest) }
    #expect(word?.event.contains("write a duration such as") == true, "\(word?.message ?? "")")
  }

  @Test("no option that takes a time is left out of these")
  func allTimes() throws {
    for (words, names) in try CommandTree.dump().timed {
      let isTried = Self.timed.contains { $0.starts(with: words) && names.contains($0[$0.count - 1]) }
      #expect(isTried, "\(words) \(names)")
    }
  }

  @Test(
    "an attribute that a field hides is given to no item, and one that a kind or a helper reads is",
    arguments: [
      ("value", false), ("uri", false), ("reuse", false), ("attr:x", false), ("name", false), ("ssid", true),
      ("sub", true),
      ("max-ttl", true), ("xdg:schema", true), ("attr", true), ("Value", true),
    ])
  func hiddenAttributes(key: String, isTaken: Bool) throws {
    for command in ["set", "deposit"] {
      let words = [command, "a", "--attr", "\(key)=x"]
      if isTaken {
        #expect(throws: Never.self) { try Arguments.parse(words) }
      } else {
        #expect(throws: Failure.self) { try Arguments.parse(words) }
      }
    }
    // A token's claim is not an attribute, and an old attribute can be removed.
    #expect(throws: Never.self) { try Arguments.parse(["token", "issue", "a", "--claim", "\(key)=x"]) }
    #expect(throws: Never.self) { try Arguments.parse(["set", "a", "--update", "--keep-value", "--attr", "\(key)="]) }
  }

  @Test("an attribute is a key, an equals sign and any text")
  func attributes() throws {
    #expect(try Attribute(parsing: "owner=ana").key == "owner")
    #expect(try Attribute(parsing: "url=a=b").value == "a=b")
    #expect(try Attribute(parsing: "empty=").value == "")
    for text in ["", "owner", "=ana"] { #expect(throws: (any Error).self) { try Attribute(parsing: text) } }
  }

  @Test("an argument of rm is a predicate when it compares something")
  func predicates() {
    #expect(["a=b", "a~b*", "a<1", "a>1"].allSatisfy(Predicates.isPredicate))
    #expect(!["a", "a/b.c", "a b", "a!"].contains(where: Predicates.isPredicate))
    #expect(Predicates.quote(#"a "b\c"#) == #""a \"b\\c""#)
  }
}
