internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// A rekey with its progress and questions on the terminal, run by `vault rekey` or offered by another command.
struct Rekeying {
  let session: Session
  let answers: Answers
  let json: Bool

  init(_ session: Session, _ answers: Answers, json: Bool) {
    self.session = session
    self.answers = answers
    self.json = json
  }

  /// Tells a person, before the first question, that the recovery codes will be replaced.
  func announceCodes() {
    guard Keyboard.canAsk, let codes = Self.codesInWords(Self.codes(session)) else { return }
    Output.note("a rekey replaces \(codes), too")
  }

  func run(method: String?) throws(Failure) {
    var kept: [Int]?
    var leftOut: [Int] = []
    let progress = Progress()
    defer { progress.clear() }
    try session.converse(answers) { vault, again, answer in
      try vault.rekey(method: again ?? method, answer: answer) { reply in
        if let slots = reply.slots {
          // The rest takes time, and the daemon asks nothing more.
          answers.finish()
          kept = slots
          leftOut = reply.leftOut ?? []
        }
        guard let done = reply.done, let of = reply.of else { return }
        progress.show(
          done < of
            ? "\(done) of \(of) items, deleted ones too, are sealed again (control-C only ends the waiting)"
            : "the new store is checked (control-C only ends the waiting)")
      }
    }
    progress.clear()
    try report(kept, leftOut)
  }

  private func report(_ kept: [Int]?, _ leftOut: [Int]) throws(Failure) {
    if json {
      try Output.json { object in
        object.add("rekeyed", true)
        if let kept {
          object.add("slots", kept)
          object.add("left_out", leftOut)
        }
        answers.addRecoveryCode(to: &object)
      }
    } else if Keyboard.isAttended {
      Output.note("the vault has a new key, which older copies of the store do not give")
      if let kept { Output.note("it opens with \(Self.slots(kept))") }
    }
    guard !leftOut.isEmpty, !json else { return }
    Output.note("left out: \(Self.slots(leftOut)); see \(Hint.vault("slot add"))")
  }

  /// The slots in words.
  static func slots(_ numbers: [Int]) -> String {
    let texts = numbers.map(String.init)
    guard texts.count > 1, let last = texts.last else { return "slot \(texts.joined())" }
    return "slots \(texts.dropLast().joined(separator: ", ")) and \(last)"
  }

  /// The number of recovery codes that open the vault; 0 also if the daemon does not report the slots.
  private static func codes(_ session: Session) -> Int {
    let slots = try? session.call { vault in try vault.slots() }
    return (slots ?? []).count { $0.kind == SlotKind.recovery.name }
  }

  /// The question whether to rekey, with the effect on the recovery codes.
  static func question(_ codes: Int) -> String {
    // Each question fits on a line of 80 columns.
    guard let codes = codesInWords(codes) else { return "Re-encrypt with a new key, which old copies do not give?" }
    return "Re-encrypt with a new key, and replace \(codes), too?"
  }

  private static func codesInWords(_ codes: Int) -> String? {
    switch codes {
    case 0: nil
    case 1: "the recovery code"
    default: "the \(codes) recovery codes"
    }
  }

  /// Offers a rekey after a change that keeps the vault key: states the consequence and, if a person is at the
  /// terminal, asks whether to rekey now.
  ///
  /// - Parameter answers: the answers of the person who made that change; nil if nobody must be asked.
  static func offer(_ session: Session, because consequence: String, _ answers: Answers?) throws(Failure) {
    guard Keyboard.isAttended else { return }
    guard let answers, let keyboard = try? Keyboard(otherwise: "") else {
      return Output.note("\(consequence); \(Hint.vault("rekey")) makes a new key, which they do not give")
    }
    answers.begin()
    defer { answers.finish() }
    Output.note(consequence)
    guard try keyboard.confirm(question(codes(session))) else {
      return Output.note("\(Hint.vault("rekey")) does it later")
    }
    try session.unlockIfLocked()
    try Rekeying(session, answers, json: false).run(method: nil)
  }
}
