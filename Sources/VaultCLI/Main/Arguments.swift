internal import ArgumentParser

/// The command line, and the argument parser behind it.
enum Arguments {
  /// Returns the command to run.
  ///
  /// - Throws: ``Failure``, or an error that ``answer(_:to:)`` turns into text.
  static func parse(_ arguments: [String]) throws -> any ParsableCommand {
    let words = try helped(normalize(arguments))
    // The parser would take the h of a name such as `-dash` for a request for help.
    let typed = TypedWords(words)
    if case .option(let name) = typed.unknown, !name.hasPrefix("--"), name.utf8.count > 2,
      let failure = Mistake(words).unknown
    {
      throw failure
    }
    do {
      let command = try OverviewCommand.isMeant(words) ? OverviewCommand.parse(words) : VaultCommand.parseAsRoot(words)
      // The parser finds the h of joined letters, as in `-1h`, before it complains about an unknown word.
      if type(of: command)._commandName == "help", !asksForHelp(words) { throw notAsked(words) }
      return command
    } catch let failure as Failure {
      throw failure
    } catch {
      if VaultCommand.exitCode(for: error) == .success {
        guard asksForHelp(words) else { throw notAsked(words) }
        throw error
      }
      throw Mistake(words).failure(VaultCommand.message(for: error))
    }
  }

  /// The failure of a command line in which the parser sees a request that the person did not make: for help, as in
  /// `-nh` or `--help=1`, or for the program's version, in the `--version` of `vault get`.
  private static func notAsked(_ words: [String]) -> Failure {
    let mistake = Mistake(words)
    if let unknown = mistake.unknown { return unknown }
    if hasOwnVersion(words) {
      // Parsed alone, `vault get` has only its own --version, so the parser reports the actual mistake.
      do { _ = try GetCommand.parse(Array(words.dropFirst())) } catch {
        if GetCommand.exitCode(for: error) != .success { return mistake.failure(GetCommand.message(for: error)) }
      }
    }
    return Failure(.usage, "write -h or --help as a word of its own", "see `vault --help`")
  }

  /// Returns true for a command line of `vault get`, where `--version` is the version of an item.
  private static func hasOwnVersion(_ words: [String]) -> Bool { TypedWords(words).path == ["get"] }

  /// Returns true if a whole word asks for the help, or for another text of the parser's own.
  private static func asksForHelp(_ words: [String]) -> Bool {
    words.first == "help"
      || words.prefix { $0 != "--" }.contains { word in
        if word == "--version", hasOwnVersion(words) { return false }
        return word == "-h" || word.hasPrefix("--generate-completion-script")
          || word.hasPrefix("--") && TypedWords.parserOptions.contains(String(word.dropFirst(2)))
      }
  }

  /// Returns true for a command line that asks for a text of the parser, and false for one that gets the help because
  /// it names a group of commands without a command.
  static func isQuestion(_ arguments: [String]) -> Bool { asksForHelp(normalize(arguments)) }

  /// Returns the text that the parser gives instead of a command: help, the version or a completion.
  static func answer(_ error: any Error, to arguments: [String]) -> String {
    let text = VaultCommand.fullMessage(for: error)
    let typed = TypedWords(normalize(arguments))
    let columns = Environment.variable("COLUMNS").flatMap { Int($0) } ?? Output.columns ?? 80
    return HelpPage.text(text, of: typed.command, path: typed.path, columns: columns) ?? text
  }

  /// Replaces aliases in `vault help COMMAND` by the full names of the commands, because the parser accepts no others
  /// there. A request for help before a command becomes one about that command; the parser would answer it for all.
  private static func helped(_ words: [String]) throws(Failure) -> [String] {
    guard words.first == "help" else {
      guard words.first == "-h" || words.first == "--help" else { return words }
      let typed = TypedWords(words)
      return typed.path.isEmpty ? words : page(of: typed)
    }
    // `help` has no page of its own.
    if words.allSatisfy({ $0 == "help" }) { return ["help"] }
    let typed = TypedWords(words)
    if case .command = typed.unknown, let failure = Mistake(words).unknown { throw failure }
    return page(of: typed)
  }

  /// Returns the words that print the help of a command. The help of a protocol is that of its helper.
  private static func page(of typed: TypedWords) -> [String] {
    guard typed.command == HelperCommand.self, let helper = typed.operands.first else { return ["help"] + typed.path }
    return typed.path + [helper, "--help"]
  }

  /// Returns true for an option of every command that is joined with a value by `=`. That includes an option without a
  /// value, so that the parser can report the mistake.
  static func hasJoinedValue(_ word: String) -> Bool {
    ["--json=", "--system=", "--socket="].contains { word.hasPrefix($0) }
  }

  /// Rewrites a command line for the parser. Options that hold for every command move after the command, where the
  /// parser looks for them. A `--generate` without a style gets the default style, because the parser would take an
  /// item's name for the style. For `vault rm`, each word after `--` becomes an option of its own, which says that the
  /// word is a name.
  static func normalize(_ arguments: [String]) -> [String] {
    let start = Start(arguments)
    // The words after the protocol belong to another program.
    if start.command == HelperCommand.self { return start.path + start.globals + start.rest }
    // A group without one of its commands is answered with its help, and has no options.
    let globals = start.isUnfinished ? [] : start.globals
    return start.path + placed(globals, in: start.rest, ofRemoval: start.command == RemoveCommand.self)
  }

  /// The beginning of a command line: the names of the command, and the options of every command before and between
  /// them.
  private struct Start {
    private(set) var path: [String] = []
    private(set) var globals: [String] = []
    private(set) var rest: ArraySlice<String>
    private(set) var command: any ParsableCommand.Type = VaultCommand.self

    init(_ words: [String]) {
      rest = words[...]
      while let first = rest.first {
        if ["--json", "--system"].contains(first) || hasJoinedValue(first) {
          globals.append(first)
          rest = rest.dropFirst()
        } else if first == "--socket", rest.count > 1 {
          globals += rest.prefix(2)
          rest = rest.dropFirst(2)
        } else if isGroup, let next = CommandTable.subcommand(first, of: command) {
          (command, path, rest) = (next, path + [first], rest.dropFirst())
          if next == HelperCommand.self { return }
        } else {
          return
        }
        // Options of a command that is complete stay where they are.
        if !isGroup { return }
      }
    }

    private var isGroup: Bool { !command.configuration.subcommands.isEmpty }

    /// True for a group that must be followed by one of its commands, and is not followed by anything.
    var isUnfinished: Bool {
      !path.isEmpty && rest.isEmpty && isGroup && command.configuration.defaultSubcommand == nil
    }
  }

  /// Puts the options of every command behind the command's own words.
  private static func placed(
    _ given: [String], in rest: ArraySlice<String>, ofRemoval isRemoval: Bool
  ) -> [String] {
    var globals = given
    var result: [String] = []
    var options = true
    for (index, argument) in zip(rest.indices, rest) {
      if argument == "--" && options {
        options = false
        result += globals
        globals = []
        if isRemoval { continue }
      } else if !options && isRemoval {
        // The parser wants a value for every option. An empty word stays as it is, and is no predicate either.
        result.append(argument.isEmpty ? argument : "--\(RemoveCommand.nameOption)=\(argument)")
        continue
      }
      let isBare = options && argument == "--generate"
      let next = index + 1 < rest.endIndex ? rest[index + 1] : ""
      result.append(isBare && GeneratedStyle(rawValue: next) == nil ? "--generate=password" : argument)
    }
    return result + globals
  }
}
