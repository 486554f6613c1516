internal import ArgumentParser
internal import VaultModel

/// The offers of a shell for the word that a person is typing.
///
/// The shells' scripts get them with a hidden command, `__complete -- WORD WORDS...`, where WORDS are the words before
/// WORD. Each line of the answer is one offer: `=` and a whole text, or `+` and a text that must be continued; a tab
/// and a line of help may follow. A line `:files` leaves the completion to the shell. The texts are data to the
/// scripts: no script evaluates one.
struct Completion {
  static let command = "__complete"

  /// One offer.
  struct Offer: Equatable {
    var text: String
    var help = ""
    /// False for a text that is only a beginning, such as a folder.
    var isWhole = true
  }

  /// The word as far as it is typed.
  private let word: String
  private let typed: TypedWords
  private let source: CompletionSource

  /// Prints the offers. Prints nothing else, whatever goes wrong with them.
  ///
  /// - Throws: ``Failure`` if the arguments are not those of a completion script, or the output cannot be written.
  static func print(_ arguments: ArraySlice<String>) throws(Failure) {
    let arguments = Array(arguments)
    guard arguments.count >= 2, arguments[0] == "--" else {
      throw Failure(.usage, "\(command) is for the completion scripts", "see `vault help completions`")
    }
    let completion = Completion(arguments[1], behind: arguments[2...])
    guard let offers = completion.offers() else { return try Output.line(":files") }
    var text = ""
    for offer in offers {
      text += (offer.isWhole ? "=" : "+") + offer.text + (offer.help.isEmpty ? "" : "\t" + offer.help) + "\n"
    }
    try Output.text(text)
  }

  init(_ word: String, behind words: ArraySlice<String>) {
    self.word = word
    typed = TypedWords(words)
    source = CompletionSource(socket: typed.socket, system: typed.isSystem)
  }

  /// Returns the offers; nil if the shell must offer files.
  ///
  /// A text that a terminal would not show unchanged is left out: nobody could tell what it completes.
  func offers() -> [Offer]? {
    guard let all = all() else { return nil }
    return all.filter { $0.text.utf8.starts(with: word.utf8) && Printable.isPlain($0.text) }
  }

  private func all() -> [Offer]? {
    if let option = typed.pending { return values(option, word, head: "") }
    if typed.isBehindDashes { return operand() }
    if word.utf8.starts(with: "--".utf8), let equals = word.firstIndex(of: "=") {
      let name = String(word[..<equals])
      guard let option = typed.nextShape.option(name), option.takesValue else { return [] }
      return values(option, String(word[word.index(after: equals)...]), head: name + "=")
    }
    if word.utf8.starts(with: "-".utf8) { return options() }
    return typed.isCommandNext ? commands() : operand()
  }

  private func commands() -> [Offer] {
    let isTop = typed.command == VaultCommand.self
    let own = isTop && !typed.isHelp ? [("help", "Show subcommand help information.")] : []
    let names = CommandTable.names(of: typed.command) + own
    let offers = names.map { Offer(text: $0.0, help: $0.1) }
    if names.contains(where: { $0.0.utf8.starts(with: word.utf8) }) { return offers }
    // Aliases only make the list longer, so they are offered only if no name matches.
    return CommandTable.all(of: typed.command).map { Offer(text: $0) }
  }

  private func options() -> [Offer] {
    let known = typed.nextShape.options.filter { option in
      option.isRepeating || typed.given.isDisjoint(with: option.names)
    }
    // Short options are for people who know them; they would only make the list longer.
    let offers = known.compactMap { option in
      option.names.first { $0.hasPrefix("--") }.map { Offer(text: $0, help: option.help) }
    }
    let isTop = typed.command == VaultCommand.self
    return offers + (isTop ? [Offer(text: "--version", help: "Show the version.")] : [])
      + (known.contains { $0.names.contains("--help") } ? [] : [Offer(text: "--help", help: "Show help information.")])
  }

  private func operand() -> [Offer]? {
    if typed.isHelp { return [] }
    guard let operand = typed.shape.operand(typed.operands.count) else { return [] }
    return values(operand, word, head: "")
  }

  /// Returns the values of an argument that begin with `text`, each with `head` before it: the part of the word that
  /// precedes `text`.
  private func values(_ argument: CommandShape.Argument, _ text: String, head: String) -> [Offer]? {
    let offers: [Offer]
    switch argument.values {
    case .unknown: offers = []
    case .files: return nil
    case .words(let words): offers = words.map { Offer(text: $0) }
    case .own(.item): offers = items(text)
    case .own(.trash): offers = names(source.trash())
    case .own(.deposit): offers = source.deposits()
    case .own(.request): offers = source.requests()
    case .own(.prompt): offers = source.prompts()
    case .own(.folder): offers = source.children(text).filter { !$0.isWhole }
    case .own(.field): offers = fields()
    case .own(.variable): offers = variables(text)
    case .own(.attribute): offers = PredicateOffers(text, source).attributes()
    case .own(.predicate): offers = PredicateOffers(text, source).all()
    case .own(.itemOrPredicate):
      offers = !typed.isBehindDashes && Predicates.isPredicate(text) ? PredicateOffers(text, source).all() : items(text)
    case .own(.subject): offers = SubjectOffers(text, source).all()
    case .own(.grantedSubject): offers = SubjectOffers(text, source).granted()
    case .own(.grantedItems): offers = grantedItems()
    case .own(.pattern): offers = patterns(text)
    case .own(.command): offers = []
    }
    return head.isEmpty ? offers : offers.map { Offer(text: head + $0.text, help: $0.help, isWhole: $0.isWhole) }
  }

  private func items(_ text: String) -> [Offer] {
    names(source.children(text))
  }

  /// Returns the items, and the patterns for a folder that is typed. An item whose name would stand for others, too, is
  /// left out.
  private func patterns(_ text: String) -> [Offer] {
    let offers = items(text).filter { !$0.text.utf8.contains { "*?".utf8.contains($0) } }
    guard text.utf8.last == UInt8(ascii: "/"), !offers.isEmpty else { return offers }
    return offers + ["*", "**"].map { Offer(text: text + $0) }
  }

  /// Returns the patterns of the grants of the subject that is typed.
  private func grantedItems() -> [Offer] {
    typed.operands.first.map { names(SubjectOffers($0, source).items()) } ?? []
  }

  /// Returns the items for a variable. The part up to the `=` is offered as typed.
  private func variables(_ text: String) -> [Offer] {
    guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else { return [] }
    let head = text[...equals]
    return source.children(String(text[text.utf8.index(after: equals)...])).map { offer in
      Offer(text: head + offer.text, help: offer.help, isWhole: offer.isWhole)
    }
  }

  private func names(_ offers: [Offer]) -> [Offer] {
    let isRemoval = typed.command == RemoveCommand.self
    return offers.filter { Completion.isName($0.text, isBehindDashes: typed.isBehindDashes, isRemoval) }
  }

  /// Returns true if the command would take `name` for a name. A name that begins with a dash would be an option, and
  /// `vault rm` may take a name for a predicate, unless two dashes come before it.
  static func isName(_ name: String, isBehindDashes: Bool, _ isRemoval: Bool) -> Bool {
    if isBehindDashes { return true }
    return !name.utf8.starts(with: "-".utf8) && !(isRemoval && Predicates.isPredicate(name))
  }

  private func fields() -> [Offer] {
    let keys = typed.operands.first.map(source.attributes(of:)) ?? source.keys()
    let attributes = keys.map { key in Attributes.isHidden(key) ? Attributes.field(ofKey: key) : key }
    return (ItemField.all + attributes).map { Offer(text: $0) }
  }
}
