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
          // What follows takes its time, and asks nothing more.
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
      if let kept { Output.note("it opens with slot \(kept.map(String.init).joined(separator: ", "))") }
    }
    guard !leftOut.isEmpty, !json else { return }
    Output.note("left out: slot \(leftOut.map(String.init).joined(separator: ", ")); see `vault slot add`")
  }

  /// After a change that leaves the vault key as it is: says what that means and, where somebody sits, does something about
  /// it.
  static func offer(_ session: Session, because consequence: String, asks: Bool) throws(Failure) {
    guard Keyboard.isAttended else { return }
    guard asks, let keyboard = try? Keyboard(otherwise: "") else {
      return Output.note("\(consequence), until `vault rekey` gives the vault a new key")
    }
    Output.note(consequence)
    guard try keyboard.confirm("Re-encrypt with a new key, so that old copies cannot be used against this vault?")
    else {
      return Output.note("`vault rekey` does it later")
    }
    try session.unlockIfLocked()
    try Rekeying(session, Answers(fromInput: false, json: false), json: false).run(method: nil)
  }
}
