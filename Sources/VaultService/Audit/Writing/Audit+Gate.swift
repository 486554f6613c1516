internal import VaultCore
package import VaultModel
internal import VaultStore

// The gate that every call of every door passes: the call is begun, recorded, its entry written to the disk if that is
// required, and only then answered.
extension Audit {
  /// Begins a call, which ends with ``pass(_:isLast:for:)`` or ``leave(for:)``.
  ///
  /// - Throws: the refusal of a call that needs the log while the log cannot be written.
  package func begin(_ terms: CallTerms, for caller: Caller) throws(Refusal) {
    caller.passage.begin(terms)
    switch terms.need {
    case .log, .logUnlessFailed: try settle(terms.need)
    // A failure is noted as the problem of the log, and then everything is locked to the call (``isBlocking``).
    case .logUnlessLocked: try? settle()
    case .nothing: break
    }
  }

  /// Records a call before its answer is made, if an entry must be on the disk before the answer. If none can be
  /// written, everything is locked to the rest of the call. Call this for the parts of an answer that have no entry of
  /// their own.
  package func recordAhead(for caller: Caller) {
    let passage = caller.passage
    guard isRequired, let terms = passage.terms, !passage.isRecorded else { return }
    recordPassage(.ok, terms, caller)
    // A failure is noted as the problem of the log; see ``isBlocking``.
    try? settle()
  }

  /// Records a call that is refused before it is begun; ``pass(_:isLast:for:)`` lets the refusal out. Calls that are
  /// recorded before the first of them passes are written together.
  ///
  /// - Parameter content: states the content of the call with ``isAbout(_:_:detail:_:for:)``.
  /// - Returns: false if the caller's call has begun; in that case the call's own entry has the outcome.
  package func refuses(
    _ terms: CallTerms, with outcome: AuditOutcome, for caller: Caller, content: () -> Void
  ) -> Bool {
    guard caller.passage.terms == nil else { return false }
    caller.passage.begin(terms)
    content()
    if caller.passage.wantsEntry(outcome, isLast: true) { recordPassage(outcome, terms, caller) }
    return true
  }

  /// Records the refusal of a call that has begun and that is refused soon; ``pass(_:isLast:for:)`` lets the refusal
  /// out. Refusals that are recorded before the first of them passes are written together.
  package func willRefuse(_ outcome: AuditOutcome, for caller: Caller) {
    guard let terms = caller.passage.terms else { return }
    if caller.passage.wantsEntry(outcome, isLast: true) { recordPassage(outcome, terms, caller) }
  }

  /// Notes the content of the call under way, in case the gate must record it.
  package func isAbout(
    _ action: AuditAction, _ item: String = "", detail: String = "", _ said: Said = Said(), for caller: Caller
  ) {
    let passage = caller.passage
    guard passage.terms != nil else { return }
    (passage.action, passage.item, passage.detail) = (action, item, detail)
    passage.said = said
    (passage.id, passage.version, passage.hasForgotten) = (nil, nil, false)
  }

  /// Notes that another call has unlocked the vault while this one asked for it, in case the gate must record the call.
  func wasUnlockedByAnother(for caller: Caller) {
    guard caller.passage.terms != nil, caller.passage.action == .call else { return }
    caller.passage.detail = "unlocked by another call"
  }

  /// Notes what a call has found before it waits, in case the gate must record it. The door's words about the same item
  /// stay.
  func hasFound(_ id: ItemID?, _ detail: String?, of action: AuditAction, _ reading: Reading) {
    let caller = reading.caller
    let passage = caller.passage
    let isKnown = passage.action == action && passage.item == reading.name.text && !passage.detail.isEmpty
    isAbout(
      action, reading.name.text, detail: isKnown ? passage.detail : detail ?? "", reading.said, for: caller)
    (passage.id, passage.version) = (id, reading.version)
  }

  /// True if the caller's call has begun and has not ended.
  package func hasBegun(for caller: Caller) -> Bool { caller.passage.terms != nil }

  /// True if a lock has made the audit log forget the content of the call under way, because the content names an item.
  func hasForgotten(_ caller: Caller) -> Bool { caller.passage.hasForgotten }

  /// Notes that the entries so far cover only a part of a call, so that a refusal of the call has an entry, too.
  func hasRecordedPart(for caller: Caller) { caller.passage.isRecorded = false }

  /// Lets an answer out. Call this right before the answer is sent.
  ///
  /// - Parameters:
  ///   - refusal: the outcome of a refused call; nil for a call that is not refused.
  ///   - isLast: false if other answers to the same call follow.
  /// - Throws: the refusal to send instead, because the entry cannot be written.
  package func pass(_ refusal: AuditOutcome?, isLast: Bool, for caller: Caller) throws(Refusal) {
    let passage = caller.passage
    guard let terms = passage.terms else { return }
    defer { if isLast { passage.end() } }
    if passage.wantsEntry(refusal, isLast: isLast) { recordPassage(refusal ?? .ok, terms, caller) }
    let isSettled = passage.isSettled
    passage.isAnswered = true
    passage.isSettled = true
    guard !isSettled else { return }
    // If no entry could be written when the answer was made, everything was locked to that answer.
    let wasLocked = terms.need == .logUnlessLocked && isBlocking
    do throws(Refusal) { try settle(terms.need) } catch {
      guard !wasLocked else { return }
      // The entry of the answer may be sealed by now, so another one says that the answer was not given.
      if refusal == nil { recordPassage(error.outcome, terms, caller) }
      throw error
    }
  }

  /// Notes that the client of a call left before the answer, or was disconnected.
  package func leave(for caller: Caller) {
    let passage = caller.passage
    guard let terms = passage.terms else { return }
    if !passage.isAnswered || terms.entry == .last, passage.wantsEntry(.cancelled, isLast: true) {
      recordPassage(.cancelled, terms, caller)
    }
    caller.passage.end()
  }

  private func recordPassage(_ outcome: AuditOutcome, _ terms: CallTerms, _ caller: Caller) {
    let passage = caller.passage
    let isNamed = passage.action != .call || !passage.item.isEmpty
    record(
      passage.action, outcome, caller, item: isNamed ? passage.item : "\(terms.name)", id: passage.id,
      detail: passage.detail.isEmpty ? nil : passage.detail, version: passage.version, passage.said)
  }

  /// Writes everything recorded to the disk now, if that is required and the call needs it.
  func settle(_ need: CallTerms.Need) throws(Refusal) {
    switch need {
    case .log, .logUnlessLocked: try settle()
    case .logUnlessFailed: if keychain()?.hasFailed != true { try settle() }
    case .nothing: if isRequired { write() }
    }
  }
}
