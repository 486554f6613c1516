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
    let kept = TypedValue(isTyped: isTyped)
    defer { _ = kept }
    while true {
      do throws(Failure) {
        if isTyped { try checkBeforeStoring(session) }
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
        try decide(about: error, &value, &given, session)
      }
    }
  }

  /// Lets a person decide about a value that could not be stored, and follows the decision. The value is kept until a
  /// decision could be followed.
  ///
  /// - Throws: ``Failure`` also if the person gives up.
  private mutating func decide(
    about failure: Failure, _ value: inout SecretBuffer, _ given: inout ValueInput, _ session: Session
  ) throws(Failure) {
    let taken = Failure(Fault.alreadyExists(name: name, failed: nil))
    let change: SecondChance.NameChange? =
      failure == taken && !updates ? .taken : failure.exit == .missing && wasThere ? .gone : nil
    // The usual advice is an option, which can no longer be given.
    let shown = change == .taken ? Failure(failure.exit, failure.event) : failure
    var chance = try SecondChance.after(shown, .set(change), session)
    while true {
      do throws(Failure) {
        switch chance {
        case .again: if change == .gone { wasThere = false }
        case .correct: value = try read(&given, session)
        case .otherKind: try giveOtherKind()
        case .replace: try replace(by: value, session)
        case .otherName: try giveOtherName()
        }
        return
      } catch {
        SecondChance.tell(error)
        chance = try SecondChance.asking(shown, .set(change))
      }
    }
  }

  private mutating func giveOtherKind() throws(Failure) {
    let cancelled = Failure(Fault.cancelled)
    // The person may type the value here by mistake, so the typed text is hidden.
    guard let other = try KindQuestion.ask("Its kind: ", .hidden, otherwise: cancelled) else { throw cancelled }
    kind = other.rawValue
    isOfOtherKind = true
  }

  /// Lets the value become the next version of the item that has the name, with the checks of an update.
  private mutating func replace(by value: borrowing SecretBuffer, _ session: Session) throws(Failure) {
    (updates, isChecked) = (true, false)
    do throws(Failure) {
      guard value.count > 0 || command.allowEmpty else {
        throw Failure(
          .invalid, "the value is empty, so it does not replace the old one",
          ValueInput.adviceOnEmpty(try kind(session)))
      }
      try checkBeforeAsking(session)
    } catch {
      updates = false
      throw error
    }
  }

  private mutating func giveOtherName() throws(Failure) {
    name = try SecondChance.askForName()
    // An item that has that name already is replaced only if the person says so.
    (updates, isChecked, wasThere) = (false, false, false)
  }

  /// Makes the checks that come right before a typed value is stored: the checks of a changed name, and whether an item
  /// to update is still there. An item that somebody has deleted or renamed meanwhile is not made again without a
  /// question.
  private mutating func checkBeforeStoring(_ session: Session) throws(Failure) {
    try checkBeforeAsking(session)
    guard wasThere else { return }
    do throws(Failure) { _ = try session.look(at: name) } catch { throw error.ofGoneItem }
  }

  private var input: ValueInput {
    var input = ValueInput(
      name: name, file: command.file, isExact: command.exact, mayBeEmpty: !command.update || command.allowEmpty)
    input.mayStay = command.update && changesMoreThanValue
    return input
  }

  private mutating func read(_ given: inout ValueInput, _ session: Session) throws(Failure) -> SecretBuffer {
    if given.isTyped { try checkBeforeAsking(session) }
    return try given.read { () throws(Failure) in try kind(session) }
  }

  /// Lets a person name the kind of a value that does not look like a password, if no kind was given. Splits the text
  /// of a network's QR code, which holds more than a value of its kind.
  private mutating func settleKind(of value: inout SecretBuffer, _ session: Session) throws(Failure) {
    if kind == nil, command.use == nil, let likely = value.withBytes({ LikelyKind(of: $0) }), Keyboard.canAsk,
      try kind(session) == .password
    {
      kind = try KindQuestion.ask(about: likely).rawValue
    }
    guard try kind(session) == .wifi else { return }
    try takeApart(&value)
    try askForNetwork(session, mayFollow: false)
  }
}
