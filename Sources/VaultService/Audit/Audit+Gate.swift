package import VaultModel
internal import VaultStore

// The gate that every call of every door goes through: it is begun, recorded, on the disk where that is required, and
// only then answered.
extension Audit {
  /// Begins a call, of which ``pass(_:isLast:for:)`` or ``leave(for:)`` makes an end.
  ///
  /// - Throws: the refusal of one that needs the log while that cannot be written.
  package func begin(_ terms: CallTerms, for caller: Caller) throws(Refusal) {
    caller.memory.passage = Passage(terms: terms)
    if terms.need != .nothing { try settle(terms.need) }
  }

  /// Records a call that is refused before it is begun; ``pass(_:isLast:for:)`` lets the refusal out. Those that are
  /// recorded before the first of them passes are written together. False where the caller's call has begun: its entry
  /// says what came of it.
  ///
  /// - Parameter content: says by ``isAbout(_:_:detail:_:for:)`` what the call is about.
  package func refuses(
    _ terms: CallTerms, with outcome: AuditOutcome, for caller: Caller, content: () -> Void
  ) -> Bool {
    guard caller.memory.passage.terms == nil else { return false }
    caller.memory.passage = Passage(terms: terms)
    content()
    if caller.memory.passage.wantsEntry(outcome, isLast: true) { recordPassage(outcome, terms, caller) }
    return true
  }

  /// Takes note of what the call that is under way is about, for the case that the gate has to record it.
  package func isAbout(
    _ action: AuditAction, _ item: String = "", detail: String = "", _ said: Said = Said(), for caller: Caller
  ) {
    let memory = caller.memory
    guard memory.passage.terms != nil else { return }
    (memory.passage.action, memory.passage.item, memory.passage.detail) = (action, item, detail)
    memory.passage.said = said
  }

  /// Takes note that the call that is under way waits: what was recorded of it until now is not what will have come of
  /// it.
  package func waits(for caller: Caller) { caller.memory.passage.isRecorded = false }

  /// Lets an answer out: to be asked right before it is sent.
  ///
  /// - Parameters:
  ///   - refusal: what the call is refused with; nil where it is not.
  ///   - isLast: false where other answers to the same call follow.
  /// - Throws: the refusal that is to be sent in its place, because the entry cannot be written.
  package func pass(_ refusal: AuditOutcome?, isLast: Bool, for caller: Caller) throws(Refusal) {
    let memory = caller.memory
    guard let terms = memory.passage.terms else { return }
    if memory.passage.wantsEntry(refusal, isLast: isLast) { recordPassage(refusal ?? .ok, terms, caller) }
    let isSettled = memory.passage.isSettled
    memory.passage.isAnswered = true
    memory.passage.isSettled = true
    if isLast { memory.forgetPassage() }
    if !isSettled { try settle(terms.need) }
  }

  /// Takes note that the client of a call left before it was answered, or was cut off.
  package func leave(for caller: Caller) {
    let passage = caller.memory.passage
    guard let terms = passage.terms else { return }
    if !passage.isAnswered || terms.entry == .last, passage.wantsEntry(.cancelled, isLast: true) {
      recordPassage(.cancelled, terms, caller)
    }
    caller.memory.forgetPassage()
  }

  private func recordPassage(_ outcome: AuditOutcome, _ terms: CallTerms, _ caller: Caller) {
    let passage = caller.memory.passage
    let isNamed = passage.action != .call || !passage.item.isEmpty
    record(
      passage.action, outcome, caller, item: isNamed ? passage.item : "\(terms.name)",
      detail: passage.detail.isEmpty ? nil : passage.detail, passage.said)
  }

  /// Has everything that was recorded be on the disk now, where that is required and the call needs it.
  func settle(_ need: CallTerms.Need) throws(Refusal) {
    switch need {
    case .log: try settle()
    case .logUnlessFailed: if keychain()?.hasFailed != true { try settle() }
    case .nothing: if isRequired { write() }
    }
  }
}
