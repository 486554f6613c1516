internal import ArgumentParser

/// The words of a command line before the one that is being typed, read as the argument parser would read them.
struct TypedWords {
  /// A word that no command knows.
  enum Unknown: Equatable {
    case command(String)
    /// An option, with its dashes and without its value.
    case option(String)
  }

  /// The options that the parser itself adds to every command, without their dashes.
  static let everywhere = ["help", "version"]

  /// The command, or a parent of one.
  private(set) var command: any ParsableCommand.Type = VaultCommand.self
  /// True after `vault help`: the next words name a command.
  private(set) var isHelp = false
  /// The full names that lead to ``command``.
  private(set) var path: [String] = []
  /// The first word that is not a command, or not an option of the command.
  private(set) var unknown: Unknown?
  /// True if that option has a value in the same word.
  private(set) var unknownHasValue = false
  private(set) var shape = CommandShape(of: Globals.self)
  /// The option whose value comes next.
  private(set) var pending: CommandShape.Argument?
  private(set) var operands: [String] = []
  /// The names of the given options.
  private(set) var given: Set<String> = []
  /// True after two dashes: no more options follow.
  private(set) var isBehindDashes = false
  private(set) var socket: String?
  private(set) var isSystem = false

  /// True while a command must still be named.
  var isCommandNext: Bool { !command.configuration.subcommands.isEmpty }

  /// The arguments that may come next: those of the command or, if the name of a default subcommand may be left out,
  /// those of that subcommand.
  var nextShape: CommandShape {
    isHelp ? shape : command.configuration.defaultSubcommand.map { CommandShape(of: $0) } ?? shape
  }

  /// The first operand for which the command has no place.
  var extra: String? {
    guard shape.operands.last?.isRepeating != true else { return nil }
    return operands.dropFirst(shape.operands.count).first
  }

  init(_ words: some Collection<String>) {
    for word in words { read(word) }
  }

  private mutating func read(_ word: String) {
    if let option = pending {
      pending = nil
      // The style after --generate is optional.
      if case .words(let known) = option.values, option.names.contains("--generate"), !known.contains(word) {
        return read(word)
      }
      if option.names.contains("--socket") { socket = word }
      return
    }
    if isBehindDashes || !word.utf8.starts(with: "-".utf8) || word == "-" { return readOperand(word) }
    if word == "--" {
      isBehindDashes = true
      return
    }
    let equals = word.firstIndex(of: "=")
    let name = String(word[..<(equals ?? word.endIndex)])
    if !isHelp, !isKnown(name), let next = command.configuration.defaultSubcommand { enter(next) }
    given.insert(name)
    if name == "--system" { isSystem = true }
    if name == "--socket", let equals { socket = String(word[word.index(after: equals)...]) }
    if equals == nil, let option = shape.option(name), option.takesValue { pending = option }
    if unknown == nil, !isKnown(name) {
      unknown = .option(name)
      unknownHasValue = equals != nil
    }
  }

  private func isKnown(_ name: String) -> Bool {
    if shape.option(name) != nil { return true }
    if name.utf8.starts(with: "--".utf8) { return Self.hidden.contains(String(name.dropFirst(2))) }
    // Short options may be joined in one word.
    return name.dropFirst().allSatisfy { $0 == "h" || shape.option("-\($0)") != nil }
  }

  /// The options that the parser itself answers with a text, without their dashes.
  static let parserOptions = everywhere + ["help-hidden", "experimental-dump-help"]

  /// The names of the options that no help shows.
  private static let hidden = parserOptions + [RemoveCommand.nameOption]

  private mutating func readOperand(_ word: String) {
    guard isCommandNext, !isBehindDashes else { return operands.append(word) }
    // After an unknown command, no word is a command any more.
    if case .command = unknown { return operands.append(word) }
    if word == "help", !isHelp, command == VaultCommand.self {
      isHelp = true
      return
    }
    guard let next = CommandTable.subcommand(word, of: command) else {
      if unknown == nil { unknown = .command(word) }
      return operands.append(word)
    }
    enter(next)
  }

  private mutating func enter(_ next: any ParsableCommand.Type) {
    command = next
    path.append(next._commandName)
    if !isHelp, !isCommandNext { shape = CommandShape(of: next) }
  }
}
