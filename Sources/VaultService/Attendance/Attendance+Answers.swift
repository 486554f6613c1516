package import VaultModel
internal import VaultStore

// The two ways in which an inquiry ends: an answer that an agent brings, or a dismissal.
extension Attendance {
  /// The item of the presence inquiry with this number. The caller must be an agent that was told of the inquiry.
  package func item(of number: QuestionNumber, for caller: Caller) throws(Refusal) -> ItemInfo {
    let inquiry = try inquiry(number, toldTo: caller)
    guard case .presence(let name, _, _) = inquiry.matter else { throw .invalid("inquiry") }
    return try items.itemToProve(name, for: caller)
  }

  /// The session that waits for the presence inquiry with this number; nil if the inquiry is over.
  func session(of number: QuestionNumber) -> AuthenticationSession? {
    if case .presence(_, _, let session) = inquiries[number]?.matter { session } else { nil }
  }

  /// Notes that a person has shown presence or said yes, so that the waiting calls continue.
  func isShown(_ number: QuestionNumber) {
    close(number, .answered)
    vault.waiting.go(.question(number)) { true }
  }

  /// Notes that a person allows the one use of a key that the inquiry with this number is about, so that the call
  /// continues.
  package func confirm(_ number: QuestionNumber, for caller: Caller) throws(Refusal) {
    let inquiry = try inquiry(number, toldTo: caller)
    guard case .confirmation(let fingerprint, _) = inquiry.matter else { throw .invalid("inquiry") }
    try vault.audit.recording(
      .approve, caller, nil, detail: "one use of \(fingerprint), number \(number)", needs: .nothing
    ) {
      () throws(Refusal) in isShown(number)
    }
  }

  /// Notes that a person does not want to answer now or, with `isUnable`, that this agent cannot ask.
  package func dismiss(_ number: QuestionNumber, isUnable: Bool, for caller: Caller) throws(Refusal) {
    let inquiry = try inquiry(number, toldTo: caller)
    if isUnable {
      for agent in agents where agent.isProcess(of: caller) { agent.unable.insert(number) }
      return checkSomebodyCanAsk(number)
    }
    try vault.audit.recording(
      .dismiss, caller, name(inquiry), detail: "\(about(inquiry)), number \(number)", needs: .nothing
    ) {
      () throws(Refusal) in
      let (topic, now) = (inquiry.matter.topic, vault.clock.boot())
      inquiries.dismiss(topic, until: now + Self.coolDown, now: now)
      for inquiry in inquiries.all where inquiry.matter.topic == topic {
        inquiry.isQuiet = true
        putAside(inquiry, .dismissed) { inquiry.giveUp(.dismissed) }
      }
    }
  }

  private func inquiry(_ number: QuestionNumber, toldTo caller: Caller) throws(Refusal) -> Inquiry {
    guard let inquiry = inquiries[number], !inquiry.isQuiet else { throw .noSuchRequest(number) }
    // Checked again now, because the agent's user may have lost the right to hear of this inquiry.
    guard agents.contains(where: { $0.isProcess(of: caller) && $0.told.contains(number) && mayHear($0, of: inquiry) })
    else {
      throw .denied("this process was not asked")
    }
    return inquiry
  }
}
