internal import ArgumentParser
internal import VaultModel

/// What is wrong with a command line that the argument parser refused.
struct Mistake {
  private let words: TypedWords

  init(_ words: [String]) { self.words = TypedWords(words) }

  /// The failure, with the parser's own message where nothing better can be said.
  func failure(_ message: String) -> Failure {
    unknown ?? leftOver ?? Failure(.usage, UsageError.message(message), "see \(help)")
  }

  /// The failure for a command or an option that is not there.
  var unknown: Failure? {
    switch words.unknown {
    case .command(let name): unknownCommand(name)
    case .option(let name): unknownOption(name)
    case nil: nil
    }
  }

  private var help: String { Mistake.help(words.path) }

  private static func help(_ path: [String]) -> String {
    path.isEmpty ? "`vault --help`" : "`vault help \(path.joined(separator: " "))`"
  }

  private func unknownCommand(_ name: String) -> Failure {
    let type = words.command
    let known = CommandTable.all(of: type) + (type == VaultCommand.self ? ["help"] : [])
    let nearest = Nearest.names(to: name, among: known, beginnings: true).map { near in
      (words.path + [near]).joined(separator: " ")
    }
    let typed = (words.path + [name]).joined(separator: " ")
    return Failure(
      .usage, "unknown command \(Printable.quoted(typed))", Suggestion.advice(nearest, help: help))
  }

  private func unknownOption(_ name: String) -> Failure {
    let nearest = nearestOptions(name)
    if !takesSecrets {
      return Failure(.usage, "unknown option \(Printable.quoted(name))", Suggestion.advice(nearest, help: help))
    }
    // It may be a secret that begins with a dash.
    if nearest.isEmpty, let taker = words.command as? any SecretTaking.Type {
      return Failure(.usage, Refused.text(taker.otherWay), "see \(help)")
    }
    return Failure(.usage, "unknown option", Suggestion.advice(nearest, help: help))
  }

  /// The failure for an option that lacks its dashes; what was typed is not repeated, because it may be a secret.
  private var leftOver: Failure? {
    guard let extra = words.extra else { return nil }
    let nearest = nearestOptions(extra)
    // Those that take secrets say more about it.
    if nearest.isEmpty && takesSecrets { return nil }
    return Failure(.usage, "unexpected argument", Suggestion.advice(nearest, help: help))
  }

  private var takesSecrets: Bool { words.command is any SecretTaking.Type }

  private func nearestOptions(_ text: String) -> [String] {
    let typed = String(text.prefix { $0 != "=" }.drop { $0 == "-" })
    let names = words.shape.options.flatMap(\.names).filter { $0.hasPrefix("--") }.map { String($0.dropFirst(2)) }
    return Nearest.names(to: typed, among: names + TypedWords.everywhere).map { "--" + $0 }
  }
}
