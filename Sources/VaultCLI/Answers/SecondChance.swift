internal import VaultBytes
internal import VaultWire

/// A person's decision about a typed value that could not be stored. Whatever the reason is, what somebody typed is
/// given up only by an answer.
enum SecondChance {
  /// The same value is stored again: the person may have removed the reason in another terminal.
  case again
  /// The person changes the value, or what is said about it, before it is stored again.
  case correct

  /// The place where the value was typed.
  enum Origin {
    /// The prompt of `vault set`, which itself asks how a refused value is to be corrected.
    case set
    /// The prompt of `vault deposit`.
    case deposit
    /// The editor of `vault edit`; with `isDone` false, the editor has failed and the text may be half of one.
    case editor(isDone: Bool)
  }

  /// Shows why the value was not stored, and asks what is to happen to it.
  ///
  /// - Parameters:
  ///   - offer: the offer to store the same value, without a question mark.
  ///   - session: the session of the next attempt, which may start a daemon again.
  /// - Throws: ``Failure`` with the same exit code if the person gives up; the failure itself if nobody can be asked.
  static func after(
    _ failure: Failure, _ origin: Origin, offer: String = "Try again with the same value", _ session: Session
  ) throws(Failure) -> SecondChance {
    guard Keyboard.canAsk else { throw failure }
    let shown = failure.suggesting
    Output.note(shown.message)
    Output.note(names: shown.names)
    session.mayStartAgain()
    let keyboard = try Keyboard(otherwise: Failure.askOnTerminal)
    switch (origin, failure.exit.blamesTheValue) {
    case (.set, true): return .correct
    case (.deposit, true): if try keyboard.confirm("Give a value again?") { return .correct }
    case (.set, false), (.deposit, false): if try keyboard.confirm("\(offer)?") { return .again }
    case (.editor(isDone: false), _), (.editor, true): if try keyboard.confirm("Edit it again?") { return .correct }
    case (.editor(isDone: true), false): if let chance = try choice(offer, keyboard) { return chance }
    }
    throw givenUp(failure)
  }

  /// The failure of a command whose person has given the value up.
  static func givenUp(_ failure: Failure) -> Failure { Failure(failure.exit, "given up; what was typed is gone") }

  /// Asks until one of the three ways is chosen; returns nil for giving up. An empty line chooses none, because a
  /// long text must not be lost to one key too many.
  private static func choice(_ offer: String, _ keyboard: borrowing Keyboard) throws(Failure) -> SecondChance? {
    while let answer = try keyboard.ask("\(offer) (y), edit it again (e), or give up (n)? ", .shown) {
      let letter = answer.withBytes { bytes in bytes.byteCount > 0 ? Span<UInt8>(_bytes: bytes)[0] | 0x20 : 0 }
      switch letter {
      case UInt8(ascii: "y"): return .again
      case UInt8(ascii: "e"): return .correct
      case UInt8(ascii: "n"): return nil
      default: continue
      }
    }
    return nil
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
