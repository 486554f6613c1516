internal import ArgumentParser

/// The words of a command line that stand before the one that is being typed, read as the argument parser would.
struct TypedWords {
  /// The command, or what leads to one.
  private(set) var command: any ParsableCommand.Type = VaultCommand.self
  /// True behind `vault help`: what follows names a command.
  private(set) var isHelp = false
  private(set) var shape = CommandShape(of: Globals.self)
  /// The option whose value comes next.
  private(set) var pending: CommandShape.Argument?
  private(set) var operands: [String] = []
  /// The names of the options that were given.
  private(set) var given: Set<String> = []
  /// True behind two dashes: no more options.
  private(set) var isBehindDashes = false
  private(set) var socket: String?
  private(set) var isSystem = false

  /// True while a command is still to be named.
  var isCommandNext: Bool { !command.configuration.subcommands.isEmpty }

  init(_ words: some Collection<String>) {
    for word in words { read(word) }
  }

  private mutating func read(_ word: String) {
    if let option = pending {
      pending = nil
      // The style behind --generate may be left out.
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
    given.insert(name)
    if name == "--system" { isSystem = true }
    if name == "--socket", let equals { socket = String(word[word.index(after: equals)...]) }
    if equals == nil, let option = shape.option(name), option.takesValue { pending = option }
  }

  private mutating func readOperand(_ word: String) {
    guard isCommandNext, !isBehindDashes else { return operands.append(word) }
    if word == "help", !isHelp, command == VaultCommand.self {
      isHelp = true
      return
    }
    guard let next = CommandTable.subcommand(word, of: command) else { return operands.append(word) }
    command = next
    if !isHelp, !isCommandNext { shape = CommandShape(of: next) }
  }
}
