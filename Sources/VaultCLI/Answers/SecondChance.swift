internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// A person's decision about a typed value that could not be stored. Whatever the reason, a typed value is discarded
/// only if the person says so.
enum SecondChance {
  /// The same value is stored again: the person may have removed the reason in another terminal.
  case again
  /// The person types or edits the value again.
  case correct
  /// The person names another kind for the value.
  case otherKind
  /// The value becomes the next version of the item that has the name.
  case replace
  /// The person gives another name for the item.
  case otherName

  /// The place where the value was typed.
  enum Origin {
    /// The prompt of `vault set`.
    case set(NameChange?)
    /// The prompt of `vault deposit`.
    case deposit
    /// The editor of `vault edit`; with `isDone` false, the editor has failed and the text may be incomplete.
    case editor(isDone: Bool, NameChange?)
  }

  /// A change that concerns the item's name since the value was asked for.
  enum NameChange {
    /// An item has the name, which was to be new.
    case taken
    /// No item has the name any more.
    case gone
    /// The person has given another name.
    case chosen
  }

  /// The offer to store the same value, in words.
  static let sameValue = "try again with the same value"

  /// Shows why the value was not stored, and asks what is to happen to it.
  ///
  /// - Parameters:
  ///   - offer: the offer to store the same value.
  ///   - session: the session of the next attempt, which may start a daemon again.
  /// - Throws: ``Failure`` with the same exit code if the person gives up; the failure itself if nobody can be asked.
  static func after(
    _ failure: Failure, _ origin: Origin, offer: String = sameValue, _ session: Session
  ) throws(Failure) -> SecondChance {
    guard Keyboard.canAsk else { throw failure }
    tell(failure)
    session.mayStartAgain()
    return try asking(failure, origin, offer: offer)
  }

  /// Asks what is to happen to a value that was not stored because of a failure, which was shown.
  static func asking(
    _ failure: Failure, _ origin: Origin, offer: String = sameValue
  ) throws(Failure) -> SecondChance {
    let isRefused = failure.exit.blamesTheValue
    // At this question of `vault set`, a person may type the refused value again, so the answer does not show.
    let style: TerminalModes.Style = if case .set = origin, isRefused { .hidden } else { .shown }
    guard let chance = try choice(choices(origin, isRefused, offer), style) else { throw givenUp(failure) }
    return chance
  }

  /// Lets a person give another name for the item.
  static func askForName() throws(Failure) -> String {
    let keyboard = try Keyboard(otherwise: "give another name")
    guard let typed = try keyboard.ask("Another name: ", .shown) else { throw Failure(Fault.cancelled) }
    let name = typed.withBytes { bytes in
      let bytes = Span<UInt8>(_bytes: bytes)
      return String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
    }
    do throws(NameError) { _ = try ItemName(name) } catch {
      throw Failure(Fault.invalidName(name: name, reason: error.reason, failed: nil))
    }
    return name
  }

  /// Shows a failure after which the command continues, because a typed value is kept.
  static func tell(_ failure: Failure) {
    // This failure's own words are about the end of a command.
    if failure == Failure(Fault.cancelled) { return Output.note("canceled; the value is not stored yet") }
    let shown = failure.suggesting
    Output.note(shown.message)
    Output.note(names: shown.names)
  }

  /// The failure that ends the command after a person has given up the value.
  private static func givenUp(_ failure: Failure) -> Failure {
    Failure(failure.exit, "given up; what was typed is gone")
  }

  private typealias Choice = (letter: Character, text: String, chance: SecondChance)

  /// The choices besides giving up.
  private static func choices(_ origin: Origin, _ isRefused: Bool, _ offer: String) -> [Choice] {
    let again: Choice = ("y", offer, .again)
    let edit: Choice = ("e", "edit it again", .correct)
    let type: Choice = ("e", "type it again", .correct)
    let name: Choice = ("a", "give another name", .otherName)
    let replace: Choice = ("r", "replace its value", .replace)
    let make: Choice = ("y", "make a new item of that name", .again)
    return switch (origin, isRefused) {
    case (.set, true): [type, ("k", "give it another kind", .otherKind)]
    case (.set(.taken), false): [replace, name, ("y", "try again", .again)]
    case (.set(.gone), false): [make, name]
    case (.deposit, true): [type]
    case (.set(nil), false), (.set(.chosen), false), (.deposit, false): [again, type]
    case (.editor(isDone: true, .chosen), false): [again, name, edit]
    case (.editor(isDone: true, .chosen), true): [edit, name]
    case (.editor(isDone: false, _), _), (.editor, true): [edit]
    case (.editor(isDone: true, .taken), false): [replace, name, ("y", "try again", .again), edit]
    case (.editor(isDone: true, .gone), false): [make, name, edit]
    case (.editor(isDone: true, nil), false): [again, edit]
    }
  }

  /// Asks until one of the choices is made; returns nil for giving up. An empty line chooses none, because a value must
  /// not be lost to one key too many.
  private static func choice(_ choices: [Choice], _ style: TerminalModes.Style) throws(Failure) -> SecondChance? {
    let keyboard = try Keyboard(otherwise: Failure.askOnTerminal, decides: true)
    let offers = choices.map { "\($0.text) (\($0.letter))" }.joined(separator: ", ")
    let question = "\(offers.prefix(1).uppercased())\(offers.dropFirst()), or give up (n)? "
    while let answer = try keyboard.ask(question, style) {
      guard let letter = answer.withBytes(letter) else { continue }
      if letter == "n" { return nil }
      if let choice = choices.first(where: { $0.letter == letter }) { return choice.chance }
    }
    return nil
  }

  /// Returns the letter of an answer, which is a letter alone, or `yes` or `no`.
  private static func letter(_ answer: RawSpan) -> Character? {
    let bytes = Span<UInt8>(_bytes: answer)
    let small = bytes.indices.prefix(4).map { bytes[$0] | 0x20 }
    guard let first = small.first, small.count == 1 || ["yes", "no"].contains(where: { small == Array($0.utf8) }) else {
      return nil
    }
    return Character(Unicode.Scalar(first))
  }
}

extension Exit {
  /// True if the same value would be refused again. After any other failure, the value may be right.
  fileprivate var blamesTheValue: Bool {
    switch self {
    case .invalid: true
    case .usage, .missing, .unavailable, .software, .system, .exists, .io, .retry, .denied, .configuration,
      .notRunnable, .noProgram:
      false
    }
  }
}
