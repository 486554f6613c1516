internal import ArgumentParser
internal import VaultModel

/// The mistake in a command line that the argument parser refused.
struct Mistake {
  private let words: TypedWords
  /// The words as they were typed.
  private let typed: [String]

  init(_ words: [String]) { (self.words, typed) = (TypedWords(words), words) }

  /// The failure to report; it has the parser's own message if no better one is known.
  func failure(_ message: String) -> Failure {
    if let known = unknown ?? bareLength ?? wrongStyle ?? leftOver { return known }
    let text = UsageError.message(message)
    // A message that refers to another command needs no second reference.
    return Failure(.usage, text, text.contains("; see `") ? nil : "see \(help)")
  }

  /// The failure for an unknown command or option; nil if there is none.
  var unknown: Failure? {
    switch words.unknown {
    case .command(let name): unknownCommand(name)
    case .option(let name): optionOfProgram(name) ?? unknownOption(name)
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
    let typed = (words.path + [name]).joined(separator: " ")
    var nearest =
      Self.otherCommands[typed].map { [$0] }
      ?? Nearest.names(to: name, among: known, beginnings: true).map { near in
        (words.path + [near]).joined(separator: " ")
      }
    if nearest.isEmpty, type == AuditCommand.self, (try? ItemName(name)) != nil { nearest = ["audit item \(name)"] }
    return Failure(
      .usage, "unknown command \(Printable.quoted(typed))", Suggestion.advice(nearest, help: help))
  }

  private func unknownOption(_ name: String) -> Failure {
    if Self.recursion.contains(name), let advice = adviceOnFolders {
      return Failure(.usage, "unknown option \(Printable.quoted(name))", "\(advice); see \(help)")
    }
    if let advice = adviceOnKind(name) {
      return Failure(.usage, "unknown option \(Printable.quoted(name))", "\(advice); see \(help)")
    }
    if let attached = attached(name) { return attached }
    let nearest = nearestOptions(name)
    // The word may be a secret that begins with a dash.
    let isOption = !takesSecrets || isOption(name)
    let see = dashed(name) + "see \(help)"
    let event = isOption ? "unknown option \(Printable.quoted(name))" : "unknown option"
    guard nearest.isEmpty || mayCarrySecret(name) else {
      return Failure(.usage, event, Suggestion.advice(nearest, help: help))
    }
    if CommandShape(of: Globals.self).option(name) != nil {
      let command = Printable.quoted((["vault"] + words.path).joined(separator: " "))
      return Failure(
        .usage, "\(command) does not take \(Printable.quoted(name)), although nearly all commands do", see)
    }
    let others = Self.commands(with: name).map { Printable.quoted("vault " + $0) }
    if isOption, !others.isEmpty, !mayCarrySecret(name) {
      return Failure(.usage, event, "it is an option of \(others.prefix(3).joined(separator: ", ")); \(see)")
    }
    guard let taker = words.command as? any SecretTaking.Type else { return Failure(.usage, event, see) }
    guard isOption else { return Failure(.usage, Refused.text(taker.otherWay), see) }
    // The word after the option may be a secret.
    let hasWord = words.extra != nil || words.unknownHasValue
    return Failure(.usage, event, "\(hasWord ? Refused.text(taker.otherWay) : taker.otherWay); \(see)")
  }

  /// The names of other programs' commands and synonyms of ours, each with the command of `vault` to suggest.
  static let otherCommands = [
    "rename": "mv", "move": "mv", "copy": "cp", "duplicate": "cp", "remove": "rm", "del": "rm",
    "undelete": "trash restore", "undo": "trash restore", "recover": "unlock --recovery",
    "add": "set", "insert": "set", "create": "set", "new": "set", "put": "set", "store": "set", "read": "get",
    "cat": "get",
    "login": "unlock", "open": "unlock", "logout": "lock", "close": "lock", "change-password": "passwd",
    "password": "passwd", "grep": "find", "log": "audit", "otp": "totp", "exec": "run", "allow": "grant",
    "version": "--version", "slot rm": "slot remove", "slot delete": "slot remove", "slot del": "slot remove",
    "trash ls": "trash list", "audit verify": "audit --verify",
  ]

  /// The failure for an option after the name of the program that `vault run` starts; nil for any other option. The
  /// option belongs to that program.
  private func optionOfProgram(_ name: String) -> Failure? {
    guard words.command == RunCommand.self,
      let place = typed.firstIndex(where: { $0 == name || $0.hasPrefix(name + "=") }),
      !TypedWords(typed[..<place]).operands.isEmpty
    else { return nil }
    return Failure(
      .usage, "the program and its options come after --", "write -- before the program; see \(help)")
  }

  /// The options with which rm(1) and cp(1) take folders.
  private static let recursion: Set = ["-r", "-R", "-rf", "-fr", "-a", "--recursive"]

  /// The advice on folders for a command that takes them; nil for another command.
  private var adviceOnFolders: String? {
    switch words.path {
    case ["rm"], ["delete"]: "a name with a slash at its end is a folder, as in \(Hint.vault("rm NAME/"))"
    case ["cp"]: "names with a slash at their end are folders, as in \(Hint.vault("cp FROM/ TO/"))"
    default: nil
    }
  }

  /// The advice for a kind that is given to a command that lists items; nil for any other option or command.
  private func adviceOnKind(_ name: String) -> String? {
    guard name == "--kind", words.command == ListCommand.self || words.command == FindCommand.self,
      let place = typed.firstIndex(where: { $0 == name || $0.hasPrefix("\(name)=") })
    else { return nil }
    let word = typed[place]
    let value = word == name ? typed[(place + 1)...].first ?? "" : String(word.dropFirst(name.count + 1))
    let kind = ItemKind(rawValue: value)?.rawValue ?? "KIND"
    return "\(Hint.vault("find kind=\(kind)")) lists the items of that kind"
  }

  /// The failure for a short option with more in the same word, as in `-kapi-key`; nil for any other word. The word may
  /// be a secret, so the message does not repeat it.
  private func attached(_ name: String) -> Failure? {
    guard !name.hasPrefix("--"), name.utf8.count > 2, nearestOptions(name).isEmpty,
      let option = words.shape.option(String(name.prefix(2)))
    else { return nil }
    let event =
      option.takesValue
      ? "the value of a short option is a word of its own" : "a short option without a value has nothing attached to it"
    return Failure(.usage, event, dashed(name) + "see \(help)")
  }

  /// The advice on a name that begins with a dash; empty for a word that cannot be one.
  private func dashed(_ name: String) -> String {
    guard !name.hasPrefix("--"), name.utf8.count > 2, nearestOptions(name).isEmpty, !words.shape.operands.isEmpty else {
      return ""
    }
    return "a name that begins with a dash comes after --; "
  }

  /// The commands that have an option of that name.
  private static func commands(with name: String) -> [String] {
    guard name.hasPrefix("--") else { return [] }
    func search(_ type: any ParsableCommand.Type, _ path: [String]) -> [String] {
      type.configuration.subcommands.filter { $0.configuration.shouldDisplay }.flatMap { next in
        let path = path + [next._commandName]
        if !next.configuration.subcommands.isEmpty { return search(next, path) }
        return CommandShape(of: next).option(name) == nil ? [] : [path.joined(separator: " ")]
      }
    }
    return search(VaultCommand.self, [])
  }

  /// The failure for a number beside `--generate`, which is probably a length. The number may be a secret, so the
  /// message does not repeat it.
  private var bareLength: Failure? {
    guard words.extra != nil, words.shape.option("--generate") != nil, words.given.contains("--generate"),
      words.operands.contains(where: Self.isLength)
    else { return nil }
    return Failure(
      .usage, "a number is given where none is expected",
      "a length is given with --length, as in `--generate --length 20`; see \(help)")
  }

  /// Returns true for a number that may be the length of a password.
  static func isLength(_ word: String) -> Bool {
    (1...4).contains(word.utf8.count) && word.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }

  /// The failure for a word after `--generate` that is not a style. The word may be a secret, so the message does not
  /// repeat it.
  private var wrongStyle: Failure? {
    guard words.extra != nil, words.shape.option("--generate") != nil,
      let place = typed.firstIndex(of: "--generate=\(GeneratedStyle.password.rawValue)"), place + 1 < typed.count
    else { return nil }
    let (word, known) = (typed[place + 1], GeneratedStyle.allCases.map(\.rawValue))
    let isNear =
      known.contains { $0.hasPrefix(word) || word.contains($0) } || !Nearest.names(to: word, among: known).isEmpty
    // Otherwise this word may be the item's name, and the next word is the extra one.
    guard !word.hasPrefix("-"), isNear || words.operands.last == word else { return nil }
    return Failure(
      .usage, "the word after --generate is not a style", "give one of \(GeneratedStyle.names); see \(help)")
  }

  /// Returns true for a word that is spelled like an option: two dashes and lower-case letters, or a dash and one
  /// letter.
  private func isOption(_ name: String) -> Bool {
    if name.utf8.count == 2 { return true }
    return name.hasPrefix("--") && name.utf8.count > 3 && isSpelledAsOption(String(name.dropFirst(2)))
  }

  /// Returns true for lower-case letters and dashes. A word with a digit is more likely a secret.
  private func isSpelledAsOption(_ text: String) -> Bool {
    text.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-") }
  }

  /// The failure for a word too many, such as an option without its dashes. The message does not repeat a word that may
  /// be a secret.
  private var leftOver: Failure? {
    // Commands that take secrets give a better message themselves: there, a word without dashes is more likely a secret
    // than a slip, however near to an option it is.
    guard let extra = words.extra, !takesSecrets else { return nil }
    if words.path == ["generate"], words.operands.count == 2, let length = words.operands.first(where: Self.isLength) {
      let isOfStyle = words.operands.contains { GeneratedStyle(rawValue: $0) != nil }
      let way =
        isOfStyle
        ? "a length is given with --length \(length)"
        : "it stores nothing: \(Hint.vault("set NAME --generate --length \(length)")) makes the value of an item"
      return Failure(.usage, "unexpected argument", "\(way); see \(help)")
    }
    // A person may have typed a new value after the name of the item to edit.
    let isNamed = words.command != EditCommand.self && isHardlySecret(extra)
    let event = isNamed ? "unexpected argument \(Printable.quoted(extra))" : "unexpected argument"
    // Only an exact name without its dashes suggests the option; a similar word does not.
    let nearest = nearestOptions(extra).filter { $0 == "--" + extra }
    if nearest.isEmpty, words.command == InjectCommand.self {
      return Failure(.usage, event, "the template is given with -i; see \(help)")
    }
    if nearest.isEmpty, words.command == GrantCommand.self {
      return Failure(.usage, event, "one grant is for one name or pattern; give another for the next; see \(help)")
    }
    if nearest.isEmpty, words.command == ListCommand.self {
      return Failure(.usage, event, "the command lists one folder, or everything; see \(help)")
    }
    return Failure(.usage, event, Suggestion.advice(nearest, help: help))
  }

  /// Returns true for a short word of one or two parts, each of lower-case letters or of at most two digits, as in
  /// `web/mail` and `b/2`, or for a folder with stars, as in `web/*`. A phrase has more parts, and a password or a PIN
  /// other characters or more digits.
  private func isHardlySecret(_ word: String) -> Bool {
    for stars in ["/**", "/*"] where word.hasSuffix(stars) {
      return isHardlySecret(String(word.dropLast(stars.utf8.count)))
    }
    let parts = word.utf8.split { "/.-".utf8.contains($0) }
    return word.utf8.count <= 16 && (1...2).contains(parts.count)
      && parts.allSatisfy { part in
        part.allSatisfy { (0x61...0x7A).contains($0) }
          || part.count <= 2 && part.allSatisfy { (0x30...0x39).contains($0) }
      }
  }

  /// Returns true for an option of a command that takes secrets, if it is spelled as a secret might be, if its name
  /// promises one, or if it is a single letter with a word after it.
  private func mayCarrySecret(_ name: String) -> Bool {
    guard takesSecrets else { return false }
    let bare = String(name.drop { $0 == "-" })
    if bare.utf8.count == 1 { return words.extra != nil || words.unknownHasValue }
    return !isSpelledAsOption(bare) || Self.secretWords.contains(bare)
  }

  /// The names that other programs give to an option for a secret.
  private static let secretWords = SecretName.words.union(["value", "data", "content"])

  private var takesSecrets: Bool { words.command is any SecretTaking.Type }

  private func nearestOptions(_ text: String) -> [String] {
    let typed = String(text.prefix { $0 != "=" }.drop { $0 == "-" })
    let names = words.shape.options.flatMap(\.names).filter { $0.hasPrefix("--") }.map { String($0.dropFirst(2)) }
    // A single letter would match every option that begins with it.
    if text.hasPrefix("-"), typed.utf8.count == 1 {
      if words.path.isEmpty, typed.lowercased() == "v" { return ["--version"] }
      return names.filter { $0.hasPrefix(typed) }.prefix(3).map { "--" + $0 }
    }
    let nearest = Nearest.names(to: typed, among: names + TypedWords.everywhere)
    return (nearest.isEmpty ? names.filter { Self.otherWords[$0]?.contains(typed) == true } : nearest).map { "--" + $0 }
  }

  /// The words that other programs use for an option.
  private static let otherWords = [
    "attr": ["tag", "tags", "attribute", "field", "ssid", "security", "hidden", "user", "username", "url", "issuer"],
    "for": ["timeout", "duration"], "expires": ["ttl", "until", "expiry"], "kind": ["type"],
    "update": ["force", "replace", "overwrite"],
  ]
}
