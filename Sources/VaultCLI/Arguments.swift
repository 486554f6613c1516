internal import ArgumentParser

/// The command line, and the argument parser behind it.
enum Arguments {
  /// The parser's last word when it made no command.
  enum Explanation: Equatable {
    /// Help, the version or a completion, for standard output.
    case answer(String)
    /// The fault of the command line.
    case complaint(String)
  }

  /// The command to run; throws what ``explain(_:)`` puts into words.
  static func parse(_ arguments: [String]) throws -> any ParsableCommand {
    try VaultCommand.parseAsRoot(normalize(arguments))
  }

  static func explain(_ error: any Error) -> Explanation {
    if VaultCommand.exitCode(for: error) == .success { return .answer(VaultCommand.fullMessage(for: error)) }
    return .complaint("\(UsageError.message(VaultCommand.message(for: error))); see `vault --help`")
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
    var result: [String] = []
    var options = true
    let isRemoval = rest.first == RemoveCommand.configuration.commandName
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
