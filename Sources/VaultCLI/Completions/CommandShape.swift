internal import ArgumentParser
internal import VaultBytes
internal import VaultWire

/// The arguments of a command, as declared to the argument parser.
///
/// The parser describes them only as JSON (`_dumpHelp`, from which its own completion scripts are made, too). The JSON
/// of one command takes a fraction of a millisecond; that of all commands would take ten.
struct CommandShape {
  enum Values: Equatable {
    /// The possible values are not known.
    case unknown
    case words([String])
    case files
    case own(Completes)
  }

  struct Argument: Equatable {
    /// The names with their dashes; empty for an argument that is given by its place.
    var names: [String] = []
    var takesValue = false
    var isRepeating = false
    var help = ""
    var values = Values.unknown
  }

  /// The options, which have names, in the order of the help.
  private(set) var options: [Argument] = []
  /// The operands, which are given by their place.
  private(set) var operands: [Argument] = []

  init(of type: any ParsableArguments.Type) {
    let text = type._dumpHelp()
    do throws(FrameError) { read(try unsafe Frame(parsing: text.utf8.span.bytes)) } catch { return }
  }

  private mutating func read(_ frame: borrowing Frame) {
    guard let command = frame.member("command", of: frame.root),
      let list = frame.member("arguments", of: command)
    else { return }
    for node in frame.elements(of: list) {
      if let shown = frame.member("shouldDisplay", of: node), frame.bool(shown) == false { continue }
      let argument = Self.argument(frame, node)
      if argument.names.isEmpty { operands.append(argument) } else { options.append(argument) }
    }
  }

  /// Returns the option of that name; nil if there is none.
  func option(_ name: String) -> Argument? { options.first { $0.names.contains(name) } }

  /// Returns the operand at a place, counted from 0. The last operand may stand for all that follow.
  func operand(_ place: Int) -> Argument? {
    if operands.indices.contains(place) { return operands[place] }
    return operands.last.flatMap { $0.isRepeating ? $0 : nil }
  }

  private static func argument(_ frame: borrowing Frame, _ node: Frame.Node) -> Argument {
    var argument = Argument()
    if let names = frame.member("names", of: node) {
      for name in frame.elements(of: names) {
        let isLong = text(frame, "kind", of: name) != "short"
        argument.names.append((isLong ? "--" : "-") + text(frame, "name", of: name))
      }
    }
    argument.takesValue = text(frame, "kind", of: node) != "flag"
    if let repeating = frame.member("isRepeating", of: node) { argument.isRepeating = frame.bool(repeating) ?? false }
    argument.help = text(frame, "abstract", of: node)
    if let kind = frame.member("completionKind", of: node) { argument.values = values(frame, kind) }
    return argument
  }

  private static func values(_ frame: borrowing Frame, _ kind: Frame.Node) -> Values {
    if let list = frame.member("list", of: kind), let values = frame.member("values", of: list) {
      var words: [String] = []
      for value in frame.elements(of: values) { if let word = frame.string(value) { words.append(word) } }
      return .words(words)
    }
    if frame.member("file", of: kind) != nil || frame.member("directory", of: kind) != nil { return .files }
    guard let command = frame.member("shellCommand", of: kind) else { return .unknown }
    return Completes(rawValue: text(frame, "command", of: command)).map(Values.own) ?? .unknown
  }

  /// The text of a member; empty if there is none.
  private static func text(_ frame: borrowing Frame, _ key: StaticString, of node: Frame.Node) -> String {
    guard let member = frame.member(key, of: node) else { return "" }
    return frame.string(member) ?? ""
  }
}

/// The tree of the commands.
enum CommandTable {
  /// Returns the subcommand with that name or alias; nil if there is none.
  static func subcommand(_ word: String, of type: any ParsableCommand.Type) -> (any ParsableCommand.Type)? {
    type.configuration.subcommands.first { $0._commandName == word || $0.configuration.aliases.contains(word) }
  }

  /// The names and the aliases of the subcommands.
  static func all(of type: any ParsableCommand.Type) -> [String] {
    type.configuration.subcommands.flatMap { [$0._commandName] + $0.configuration.aliases }
  }

  /// The names of the subcommands, each with one line of help.
  static func names(of type: any ParsableCommand.Type) -> [(name: String, help: String)] {
    var names: [(name: String, help: String)] = []
    for command in type.configuration.subcommands where command.configuration.shouldDisplay {
      names.append((command._commandName, command.configuration.abstract))
    }
    return names
  }
}
