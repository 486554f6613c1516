internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

// The value and the questions about it. If a mistake can be corrected, nothing that was typed is lost.
extension SetRequest {
  /// Gets the value and stores it.
  mutating func storeValue(_ session: Session) throws(Failure) -> Wire.SetReply {
    var given = input
    let isTyped = given.isTyped
    // Typed text stays hidden from the first question to the last: the daemon may ask for more before it stores the
    // value.
    let hush = isTyped ? Hush.onTerminal() : nil
    defer { _ = hush }
    if isTyped { try askForNetwork(session, mayFollow: true) }
    var value = try read(&given, session)
    while true {
      do throws(Failure) {
        if isOfOtherKind {
          try askForNetwork(session, mayFollow: true)
          isOfOtherKind = false
        }
        try settleKind(of: &value, session)
        let item = try item(session)
        let stored = try session.unlocking { vault in try vault.set(item, value: value) }
        given.noteCutBreak()
        return stored
      } catch {
        guard isTyped else { throw error }
        switch try SecondChance.after(error, .set, session) {
        case .again: break
        case .correct: try correct(error, &value, &given, session)
        }
      }
    }
  }

  /// Lets a person name another kind for a refused value, or type a value again.
  ///
  /// - Throws: ``Failure`` also if the person gives up.
  private mutating func correct(
    _ failure: Failure, _ value: inout SecretBuffer, _ given: inout ValueInput, _ session: Session
  ) throws(Failure) {
    let question = "Another kind for this value (Enter to give a value again, control-D to give up): "
    // The person may type the value again, which nobody must see.
    guard let other = try askForKind(question, .hidden, otherwise: SecondChance.givenUp(failure)) else {
      value = try read(&given, session)
      return
    }
    kind = other.rawValue
    isOfOtherKind = true
  }

  private var input: ValueInput {
    ValueInput(
      name: name, file: command.file, isExact: command.exact, mayBeEmpty: !command.update || command.allowEmpty)
  }

  private mutating func read(_ given: inout ValueInput, _ session: Session) throws(Failure) -> SecretBuffer {
    if given.isTyped { try checkBeforeAsking(session) }
    return try given.read { () throws(Failure) in try kind(session) }
  }

  /// Lets a person name the kind of a value that does not look like a password, if no kind was given. Splits the text
  /// of a network's QR code, which holds more than a value of its kind.
  private mutating func settleKind(of value: inout SecretBuffer, _ session: Session) throws(Failure) {
    if kind == nil, command.use == nil, let likely = value.withBytes({ LikelyKind(of: $0) }), canAsk,
      try kind(session) == .password
    {
      let question = "It looks like \(likely.form). Its kind (Enter for \(likely.kind.rawValue)): "
      kind = (try askForKind(question, otherwise: Failure(Fault.cancelled)) ?? likely.kind).rawValue
    }
    guard try kind(session) == .wifi else { return }
    try takeApart(&value)
    try askForNetwork(session, mayFollow: false)
  }

  // MARK: Questions

  /// True if somebody can be asked.
  private var canAsk: Bool { Keyboard.canAsk }

  /// Asks for a kind until a valid one is given; returns nil for an empty line.
  ///
  /// - Parameter failure: the failure to throw if the person gives up.
  private func askForKind(
    _ question: String, _ style: TerminalModes.Style = .shown, otherwise failure: Failure
  ) throws(Failure) -> ItemKind? {
    let keyboard = try Keyboard(otherwise: "give its --kind")
    while true {
      guard let typed = try keyboard.ask(question, style) else { throw failure }
      let word = typed.withBytes { bytes in
        let bytes = Span<UInt8>(_bytes: bytes)
        return String(decoding: bytes.indices.map { bytes[$0] }.filter { $0 != 0x20 }, as: UTF8.self)
      }
      if word.isEmpty { return nil }
      if let kind = ItemKind(rawValue: word) { return kind }
      try keyboard.show("vault: a kind is one of \(ItemKind.allCases.map(\.rawValue).joined(separator: ", "))\n")
    }
  }
}
