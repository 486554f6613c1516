internal import VaultClient
internal import VaultWire

/// A rekey as the terminal sees it, also the one that another command offers.
struct Rekeying {
  let session: Session
  let answers: Answers
  let json: Bool

  init(_ session: Session, _ answers: Answers, json: Bool) {
    self.session = session
    self.answers = answers
    self.json = json
  }

  func run(method: String?) throws(Failure) {
    var kept: [Int]?
    var leftOut: [Int] = []
    let progress = Progress()
    defer { progress.clear() }
    try session.converse(answers) { vault, again, answer in
      try vault.rekey(method: again ?? method, answer: answer) { reply in
        if let slots = reply.slots {
          // The rest takes its time, and asks nothing more.
          answers.finish()
          kept = slots
          leftOut = reply.leftOut ?? []
        }
        guard let done = reply.done, let of = reply.of else { return }
        progress.show(
          done < of
            ? "\(done) of \(of) items are sealed anew (control-C leaves only the waiting)"
            : "the new store is checked (control-C leaves only the waiting)")
      }
    }
    progress.clear()
    try report(kept, leftOut)
  }

  private func report(_ kept: [Int]?, _ leftOut: [Int]) throws(Failure) {
    if json {
      try Output.json { writer in
        writer.beginObject()
        writer.key("rekeyed")
        writer.bool(true)
        if let kept {
          for (name, numbers) in [("slots" as StaticString, kept), ("left_out", leftOut)] {
            writer.key(name)
            writer.beginArray()
            for number in numbers { writer.integer(Int64(number)) }
            writer.endArray()
          }
        }
        answers.writeRecoveryCode(to: &writer)
        writer.endObject()
      }
    } else if Keyboard.isAttended {
      Output.note("the vault has a new key; older copies of the store do not give it")
      if let kept { Output.note("it opens with \(Self.slots(kept))") }
    }
    guard !leftOut.isEmpty, !json else { return }
    Output.note("left out: \(Self.slots(leftOut)); see \(Hint.vault("slot add"))")
  }

  /// These slots in words.
  static func slots(_ numbers: [Int]) -> String {
    let texts = numbers.map(String.init)
    guard texts.count > 1, let last = texts.last else { return "slot \(texts.joined())" }
    return "slots \(texts.dropLast().joined(separator: ", ")) and \(last)"
  }

  /// The number of recovery codes that open the vault; 0 also where that is not told.
  private static func codes(_ session: Session) -> Int {
    let slots = try? session.call { vault in try vault.slots() }
    return (slots ?? []).count { $0.kind == SlotKindArgument.recovery.rawValue }
  }

  /// The question whether to rekey, with what becomes of the recovery codes.
  static func question(_ codes: Int) -> String {
    // Each fits a line of 80 columns.
    switch codes {
    case 0: "Re-encrypt with a new key, so that old copies are of no use?"
    case 1: "Re-encrypt with a new key, and replace the recovery code, too?"
    default: "Re-encrypt with a new key, and replace the \(codes) recovery codes, too?"
    }
  }

  /// After a change that leaves the vault key as it is: says what that means and, where somebody sits, does something about
  /// it.
  ///
  /// - Parameter answers: from the person who gave that change its answers; nil where nobody is to be asked.
  static func offer(_ session: Session, because consequence: String, _ answers: Answers?) throws(Failure) {
    guard Keyboard.isAttended else { return }
    guard let answers, let keyboard = try? Keyboard(otherwise: "") else {
      return Output.note("\(consequence), until \(Hint.vault("rekey")) gives the vault a new key")
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
