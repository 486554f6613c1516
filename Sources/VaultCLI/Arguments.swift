internal import ArgumentParser

/// The command line, and the argument parser behind it.
enum Arguments {
  /// The command to run.
  ///
  /// - Throws: ``Failure``, or what ``answer(_:to:)`` puts into words.
  static func parse(_ arguments: [String]) throws -> any ParsableCommand {
    let words = try helped(normalize(arguments))
    do {
      return try OverviewCommand.isMeant(words) ? OverviewCommand.parse(words) : VaultCommand.parseAsRoot(words)
    } catch {
      if VaultCommand.exitCode(for: error) == .success { throw error }
      throw Mistake(words).failure(VaultCommand.message(for: error))
    }
  }

  /// Help, the version or a completion, for standard output: what the parser has in place of a command.
  static func answer(_ error: any Error, to arguments: [String]) -> String {
    let text = VaultCommand.fullMessage(for: error)
    let typed = TypedWords(normalize(arguments))
    let columns = Environment.variable("COLUMNS").flatMap { Int($0) } ?? Output.columns ?? 80
    return HelpPage.text(text, of: typed.command, path: typed.path, columns: columns) ?? text
  }

  /// The words of `vault help COMMAND` with the proper names of commands, which are all that the parser takes there.
  private static func helped(_ words: [String]) throws(Failure) -> [String] {
    guard words.first == "help" else { return words }
    // Help has no page of its own.
    if words.allSatisfy({ $0 == "help" }) { return ["help"] }
    let typed = TypedWords(words)
    if case .command = typed.unknown, let failure = Mistake(words).unknown { throw failure }
    return ["help"] + typed.path
  }

  /// Puts the options that hold for every command where the parser looks for them, behind the command, and gives
  /// `--generate` its style when none follows it, because the parser would take an item's name for one. What stands behind
  /// `--` of `vault rm` becomes an option of its own, because there it says that it is a name.
  static func normalize(_ arguments: [String]) -> [String] {
    var rest = arguments[...]
    var globals: [String] = []
    while let first = rest.first {
      if first == "--json" || first == "--system" || first.hasPrefix("--socket=") {
        globals.append(first)
        rest = rest.dropFirst()
      } else if first == "--socket", rest.count > 1 {
        globals += rest.prefix(2)
        rest = rest.dropFirst(2)
      } else {
        break
      }
    }
    // The words behind the protocol are another program's.
    if rest.first == HelperCommand.configuration.commandName { return rest.prefix(1) + globals + rest.dropFirst() }
    var result: [String] = []
    var options = true
    let isRemoval = rest.first.map { CommandTable.subcommand($0, of: VaultCommand.self) == RemoveCommand.self } == true
    for (index, argument) in zip(rest.indices, rest) {
      if argument == "--" && options {
        options = false
        result += globals
        globals = []
        if isRemoval { continue }
      } else if !options && isRemoval {
        // An option has to have a value; what is empty is no predicate as it is.
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
