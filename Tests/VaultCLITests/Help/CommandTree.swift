import Foundation
import VaultTesting

/// The commands of `vault` and their options, as the program itself dumps them.
struct CommandTree: Decodable {
  struct Command: Decodable {
    var commandName: String
    var subcommands: [Command]?
    var arguments: [Argument]?
    var shouldDisplay: Bool?
  }

  struct Argument: Decodable {
    struct Name: Decodable {
      var kind: String
      var name: String
    }
    var names: [Name]?
    var shouldDisplay: Bool
    var valueName: String?
  }

  var command: Command

  /// Each command that does something, named by the words that lead to it (such as `slot add`), and the options it
  /// shows.
  var commands: [(words: String, options: [String])] { CommandTree.walk(command, []) }

  /// The options that take a duration or a time, with the words that lead to each option's command.
  var timed: [(words: [String], names: [String])] { CommandTree.timed(command, []) }

  static func dump() throws -> CommandTree {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let outcome = try sandbox.run("--experimental-dump-help")
    return try JSONDecoder().decode(CommandTree.self, from: Data(outcome.stdout))
  }

  private static func timed(_ command: Command, _ path: [String]) -> [(words: [String], names: [String])] {
    let own = (command.arguments ?? []).filter { $0.valueName == "duration" || $0.valueName == "time" }.map {
      argument in
      (words: path, names: (argument.names ?? []).map { "--" + $0.name })
    }
    return own + (command.subcommands ?? []).flatMap { timed($0, path + [$0.commandName]) }
  }

  private static func walk(_ command: Command, _ path: [String]) -> [(words: String, options: [String])] {
    let options = (command.arguments ?? []).filter(\.shouldDisplay).flatMap { argument in
      (argument.names ?? []).map { ($0.kind == "short" ? "-" : "--") + $0.name }
    }
    let own = path.isEmpty || command.subcommands != nil ? [] : [(words: path.joined(separator: " "), options: options)]
    let shown = (command.subcommands ?? []).filter { $0.shouldDisplay ?? true && $0.commandName != "help" }
    return own + shown.flatMap { walk($0, path + [$0.commandName]) }
  }
}
