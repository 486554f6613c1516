internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The question for the kind of a value.
enum KindQuestion {
  /// Asks for the kind of a value that does not look like a password; an empty line means the kind that it looks like.
  static func ask(about likely: LikelyKind) throws(Failure) -> ItemKind {
    let question = "It looks like \(likely.form). Its kind (Enter for \(likely.kind.rawValue)): "
    return try ask(question, .shown, otherwise: Failure(Fault.cancelled)) ?? likely.kind
  }

  /// Asks for a kind until a valid one is given; returns nil for an empty line. With the style `hidden`, a value that a
  /// person types here by mistake does not show.
  ///
  /// - Parameter failure: the failure to throw if the person gives up.
  static func ask(
    _ question: String, _ style: TerminalModes.Style, otherwise failure: Failure
  ) throws(Failure) -> ItemKind? {
    let keyboard = try Keyboard(otherwise: "give its --kind")
    while true {
      guard let typed = try keyboard.ask(question, style) else { throw failure }
      if typed.isWord("") { return nil }
      for kind in ItemKind.allCases where typed.isWord(kind.rawValue) { return kind }
      try keyboard.show("vault: a kind is one of \(ItemKind.allCases.map(\.rawValue).joined(separator: ", "))\n")
    }
  }
}
