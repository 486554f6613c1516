import ArgumentParser
import Testing
import VaultTesting
import VaultWire

@testable import VaultCLI

@Suite("Help") struct HelpTests {
  /// Returns all commands below `type`, with the words that lead to each.
  private static func all(
    of type: any ParsableCommand.Type = VaultCommand.self, _ path: [String] = []
  ) -> [(type: any ParsableCommand.Type, path: [String])] {
    type.configuration.subcommands.flatMap { next -> [(type: any ParsableCommand.Type, path: [String])] in
      let words = path + [next._commandName]
      return [(next, words)] + all(of: next, words)
    }
  }

  private static func page(_ words: [String], columns: Int = 80) throws -> [Substring] {
    let typed = TypedWords(words)
    let parsers = VaultCommand.helpMessage(for: typed.command, columns: columns)
    let text = try #require(HelpPage.text(parsers, of: typed.command, path: typed.path, columns: columns))
    return text.split(separator: "\n", omittingEmptySubsequences: false)
  }

  @Test("of every command fits the terminal, and each usage line begins with the command or an argument")
  func fits() throws {
    for (_, path) in Self.all() {
      let lines = try Self.page(path)
      #expect(lines.allSatisfy { TextWidth.columns($0) <= 80 }, "\(path): \(lines)")
      let start = try #require(lines.firstIndex { $0.hasPrefix("USAGE: vault \(path[0])") })
      for line in lines[(start + 1)...].prefix(while: { !$0.isEmpty }) {
        let text = line.drop { $0 == " " }
        #expect(text.hasPrefix("[") || text.hasPrefix("<") || text.hasPrefix("vault "), "\(path): \(line)")
        let balance = text.reduce(0) { $0 + ($1 == "[" ? 1 : $1 == "]" ? -1 : 0) }
        #expect(balance == 0, "\(path): \(line)")
      }
    }
  }

  @Test("of a command that stands for another one has all options of that")
  func stands() throws {
    let standing = Self.all().filter { $0.type.configuration.defaultSubcommand != nil }
    #expect(standing.count > 3)
    for (type, path) in standing {
      let other = try #require(type.configuration.defaultSubcommand)
      let text = try Self.page(path).joined(separator: "\n")
      for option in CommandShape(of: other).options { #expect(text.contains(option.names[0]), "\(path): \(option)") }
      #expect(text.contains("vault \(path.joined(separator: " ")) <command>"), "\(text)")
    }
  }

  @Test("of get names --version once, with the meaning that it has there")
  func version() throws {
    for columns in [40, 80, 200] {
      let lines = try Self.page(["get"], columns: columns)
      #expect(lines.filter { $0.hasPrefix("  --version") }.count == 1)
      #expect(lines.contains { $0.hasPrefix("  --version <number>") } && !lines.contains { $0.contains("Show the") })
      #expect(try Self.page(["list"], columns: columns).contains { $0.hasPrefix("  --version ") })
    }
  }

  @Test("of unlock lists the ways in once")
  func waysIn() throws {
    let words = SlotKindArgument.allValueStrings.joined(separator: ", ")
    let lines = try Self.page(["unlock"], columns: 200)
    #expect(lines.filter { $0.contains("\(words))") }.count == 1 && lines.filter { $0.contains(words) }.count == 1)
  }

  @Test("has each command in one group, and ten of them for every day")
  func groups() {
    let names = HelpGroup.allCases.flatMap(\.commands).map { $0._commandName }
    #expect(names.count == Set(names).count)
    #expect(names == VaultCommand.configuration.subcommands.map { $0._commandName })
    #expect(HelpGroup.everyday.count == 10)
    #expect(HelpGroup.everyday.allSatisfy { names.contains($0._commandName) })
  }

  @Test("tells no more of the vault than one line and what is out of the ordinary")
  func overview() {
    var status = Wire.StatusReply(
      state: "unlocked", cause: "by password", since: 1, locksOn: [],
      methods: [Wire.Method(name: "password", available: true, possible: true)], warnings: [], version: "0", pid: 1)
    #expect(OverviewCommand.lines(status, isSystem: false) == ["The vault is unlocked; `vault lock` locks it."])
    (status.state, status.cause) = ("locked", "by `vault lock`")
    #expect(
      OverviewCommand.lines(status, isSystem: true)
        == ["The machine's vault was locked by `vault lock`; open it with `vault --system unlock`."])
    (status.items, status.requests, status.problem) = (1, 2, "\u{1B}[2Jfull")
    #expect(
      OverviewCommand.lines(status, isSystem: false).last
        == "\\u{1b}[2Jfull, 1 item, 2 requests wait (`vault requests`).")
    status.methods = []
    #expect(
      OverviewCommand.lines(status, isSystem: false)[0]
        == "The vault was locked by `vault lock`; its owner opens it.")
    #expect(
      OverviewCommand.lines(status, isSystem: true)[0]
        == "The machine's vault was locked by `vault lock`; an administrator opens it.")
    status.state = "\u{1B}[2J"
    #expect(OverviewCommand.lines(status, isSystem: false)[0] == "The vault is \\u{1b}[2J; see `vault status`.")
  }

  @Test("is no command line of options alone", arguments: [["--json"], ["--system", "--json"], ["--socket=/x"], []])
  func alone(words: [String]) throws { #expect(try Arguments.parse(words) is OverviewCommand) }
}
