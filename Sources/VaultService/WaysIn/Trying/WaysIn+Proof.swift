internal import VaultCore
package import VaultModel
internal import VaultStore

// The proofs of presence for items that require a person.
extension WaysIn {
  /// Asks a person for the proof that an item requires, and remembers it for the caller's session.
  package func prove(_ item: ItemInfo, _ said: Said, _ prompter: any Prompter) {
    prove(item.policy, of: item.name.text, Purpose(.other("to use \(item.name.text)"), said), said, prompter)
  }

  /// Asks a person for the proof that an item requires, for another caller's session, which waits for the inquiry with
  /// that number.
  package func prove(
    _ item: ItemInfo, for inquiry: QuestionNumber, _ attendance: Attendance, _ said: Said, _ prompter: any Prompter
  ) {
    let purpose = Purpose(.other("to use \(item.name.text)"), said)
    prove(item.policy, of: item.name.text, purpose, said, prompter, inquiry: (inquiry, attendance))
  }

  /// Asks a person for the proof that a change of grants in a user's vault, or a repair of the vault, requires.
  ///
  /// The proof counts for all such calls, so the question has words that are true for all of them.
  package func proveForGrants(_ said: Said, _ prompter: any Prompter) {
    let purpose = Purpose(.other("to administer the vault and its grants"), said)
    prove(Access.administration, of: nil, purpose, said, prompter)
  }

  private func prove(
    _ policy: Policy, of name: String?, _ purpose: Purpose, _ said: Said, _ prompter: any Prompter,
    inquiry: (number: QuestionNumber, attendance: Attendance)? = nil
  ) {
    let caller = prompter.caller
    let keychain: Keychain
    do throws(Refusal) {
      keychain = try vault.keychain()
      guard caller.session != nil else { throw .denied("the process that asked is not the one that connected") }
      if inquiry == nil, access.isShown(policy, by: caller) { return prompter.finish(.done) }
      // No person sits at a system service, and it must not make people believe that the prompt is theirs to answer.
      guard said.isInteractive, !caller.isSystemService else { throw .presenceRequired(name ?? "", policy.require) }
    } catch { return refuse(prompter, error, .proof, name) }
    let conversation = converse(prompter, .proof, name, said)
    conversation.namesItem = name != nil
    conversation.servedSession = inquiry.flatMap { $0.attendance.session(of: $0.number) }
    showEvidence(for: policy.require, conversation, keychain, purpose) { [unowned self] evidence, slots in
      guard conversation.mayConclude else { return }
      if let (number, attendance) = inquiry {
        guard let session = attendance.session(of: number) else { return conversation.fail(.noSuchRequest(number)) }
        access.add(evidence, in: session, with: slots)
        attendance.isShown(number)
      } else {
        access.add(evidence, by: caller, with: slots)
      }
      conversation.finish()
    }
  }

  private func showEvidence(
    for requirement: Requirement, _ conversation: Conversation, _ keychain: Keychain, _ purpose: Purpose,
    then: @escaping (Authorizations.Evidence, _ slots: [SlotRecord]) -> Void
  ) {
    func typed() {
      Authentication(self, conversation, keychain, kinds: [.password], purpose: purpose) { _, slot in
        then(.password, [slot])
      }
      .start()
    }
    switch requirement {
    case .none, .password: typed()
    case .biometry:
      ask(.biometry, conversation, keychain, purpose) { shown in
        switch shown {
        case .success(let shown): then(.biometry, shown.slots)
        case .failure(let refusal): conversation.fail(refusal)
        }
      }
    case .userPresence:
      ask(.userPresence, conversation, keychain, purpose) { shown in
        let refusal: Refusal
        switch shown {
        case .success(let shown): return then(shown.question.takesPassword ? .presence : .biometry, shown.slots)
        case .failure(let problem): refusal = problem
        }
        if refusal == .cancelled { return conversation.fail(refusal) }
        if !keychain.presenceSlots.isEmpty {
          conversation.tell(
            .info, method: "pam", text: refusal.obstacle.sentence(otherwise: .password))
        }
        typed()
      }
    }
  }

  private func question(for requirement: Requirement, _ uid: UInt32) -> Presence.Question {
    requirement == .biometry ? presence.biometryQuestion(for: uid) : presence.question(for: uid)
  }

  /// Asks PAM for the presence of a user that one of the slots lists. After a yes, `then` receives the question that
  /// was asked and the slots that still list the user.
  ///
  /// The question is chosen after the enrolled fingers are known: if an attempt has failed meanwhile, a password is no
  /// longer accepted.
  private func ask(
    _ requirement: Requirement, _ conversation: Conversation, _ keychain: Keychain,
    _ purpose: Purpose, then: @escaping (Result<(question: Presence.Question, slots: [SlotRecord]), Refusal>) -> Void
  ) {
    func unavailable(_ obstacle: Obstacle) -> Result<(question: Presence.Question, slots: [SlotRecord]), Refusal> {
      .failure(.unavailable("pam", obstacle))
    }
    let noSlot = Obstacle("the vault has no slot for your presence", "make one with `vault slot add pam`")
    let uid = conversation.caller.uid
    let slots = keychain.slots.filter { $0.terms?.users.contains(uid) == true }
    guard !slots.isEmpty else { return then(unavailable(noSlot)) }
    if let obstacle = presence.means.obstacle(question(for: requirement, uid)) { return then(unavailable(obstacle)) }
    presence.means.fingers(uid) { [unowned self] fingers in
      guard !conversation.isOver else { return }
      let question = question(for: requirement, uid)
      if let obstacle = presence.means.obstacle(question) { return then(unavailable(obstacle)) }
      let valid = slots.filter { fingers.agree(with: $0.terms?.fingers(of: question.uid) ?? []) }
      guard !valid.isEmpty else { return then(unavailable(fingers.objection)) }
      if !question.takesPassword, let obstacle = fingers.obstacle { return then(unavailable(obstacle)) }
      presence.show(question, to: conversation, purpose: purpose) { outcome, seconds in
        if let refusal = outcome.refusal(method: "pam", wait: Int(seconds) * 1000) { return then(.failure(refusal)) }
        // Checked again, because slots may have been removed while the person was asked.
        let left = valid.filter(keychain.slots.contains)
        then(left.isEmpty ? unavailable(noSlot) : .success((question, left)))
      }
    }
  }
}
