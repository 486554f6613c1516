internal import VaultAPI
internal import VaultCore
internal import VaultModel
internal import VaultStore

/// Items that ask for a person: Authenticate, and what it gives.
extension Service {
  /// True when the caller's session has shown what an item asks for, not too long ago.
  func isAuthorized(_ policy: Policy, _ connection: Connection) -> Bool {
    if policy.require == .none { return true }
    guard let session = connection.session else { return false }
    return authorizations.satisfy(policy, session, now: clock.boot())
  }

  /// Refuses a change of an item's policies to a session that has not shown what the present ones ask for.
  func checkPolicyChange(_ change: ItemChange, _ keychain: Keychain, _ connection: Connection) throws(Fault) {
    guard change.update, change.accessible != nil || change.require != nil || change.reuseWindow != nil else { return }
    let item: ItemInfo?
    do throws(VaultError) {
      item = try Self.present { () throws(VaultError) in try keychain.item(named: change.name) }
    } catch {
      throw fault(error, name: change.name.text)
    }
    guard let item, !isAuthorized(item.policy, connection) else { return }
    throw .presenceRequired(name: change.name.text, require: item.policy.require.name)
  }

  /// The item that `read` finds, or nil when there is none. One that cannot be read may ask for anything: it is no reason to
  /// let a change through.
  static func present(_ read: () throws(VaultError) -> ItemInfo) throws(VaultError) -> ItemInfo? {
    do throws(VaultError) { return try read() } catch .noSuchItem { return nil }
  }

  /// Has a person show what an item asks for, and remembers it for the caller's session.
  func authenticate(_ call: Wire.AuthenticateParameters, _ connection: Connection) {
    guard case .open(let keychain) = vault.content else { return connection.fail(storeFault) }
    personAsked(call.interactive, connection)
    let item: ItemInfo
    do throws(Fault) { item = try self.item(call.name, keychain) } catch { return connection.fail(error) }
    let name = item.name.text
    guard let session = connection.session else {
      return connection.fail(.denied(reason: "the process that asked is not the one that connected"))
    }
    if isAuthorized(item.policy, connection) { return connection.reply(Wire.ConversationReply()) }
    // Nobody sits at a system service: it must not make people think that it is theirs to let in.
    guard call.interactive == true, !connection.isSystemService else {
      return connection.fail(.presenceRequired(name: name, require: item.policy.require.name))
    }
    let conversation = Conversation(connection: connection, service: self)
    conversation.namesItem = true
    let purpose = Self.purpose("to use \(name)", call.reason)
    showEvidence(for: item.policy.require, conversation, keychain, purpose) { [unowned self] evidence, slots in
      guard conversation.mayConclude else { return }
      authorizations.add(evidence, by: session, with: slots, now: clock.boot())
      conversation.finish()
    }
  }

  /// Has the proof of an unlock count for the session it was made in, too.
  func remember(_ slot: SlotRecord, _ connection: Connection) {
    guard let session = connection.session else { return }
    switch slot.kind {
    case .password: authorizations.add(.password, by: session, with: [slot], now: clock.boot())
    case .pam, .login: authorizations.add(.presence, by: session, with: [slot], now: clock.boot())
    case .recovery: break
    }
  }

  private func showEvidence(
    for requirement: Requirement, _ conversation: Conversation, _ keychain: Keychain, _ purpose: String,
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
        case .failure(let fault): conversation.fail(fault)
        }
      }
    case .userPresence:
      ask(.userPresence, conversation, keychain, purpose) { shown in
        let fault: Fault
        switch shown {
        case .success(let shown): return then(shown.question.takesPassword ? .presence : .biometry, shown.slots)
        case .failure(let problem): fault = problem
        }
        if fault == .cancelled { return conversation.fail(fault) }
        if keychain.slots.contains(where: { $0.kind == .pam }) {
          conversation.tell(.info, method: "pam", text: "\(fault.sentence); the vault's password does as well")
        }
        typed()
      }
    }
  }

  private func question(for requirement: Requirement, _ uid: UInt32) -> PresencePrompt.Question {
    requirement == .biometry ? biometryQuestion(for: uid) : question(for: uid)
  }

  /// Asks PAM for the presence of a user that one of the slots lists; `then` gets, for a yes, what was asked and the slots
  /// that list them still.
  ///
  /// What is asked is decided when it is known which fingers are enrolled: an attempt that failed meanwhile has no password
  /// taken any more.
  private func ask(
    _ requirement: Requirement, _ conversation: Conversation, _ keychain: Keychain,
    _ purpose: String, then: @escaping (Result<(question: PresencePrompt.Question, slots: [SlotRecord]), Fault>) -> Void
  ) {
    func unavailable(_ reason: String) -> Result<(question: PresencePrompt.Question, slots: [SlotRecord]), Fault> {
      .failure(.methodUnavailable(method: "pam", reason: reason))
    }
    func obstacle(to question: PresencePrompt.Question) -> String? {
      PresenceCheck.availability(of: question.pam, uid: question.uid, through: presenceHelper)
    }
    let noSlot = "no slot says whose presence counts; make one with `vault slot add pam`"
    let uid = conversation.connection.peer.uid
    let slots = keychain.slots.filter { $0.terms?.users.contains(uid) == true }
    guard !slots.isEmpty else { return then(unavailable(noSlot)) }
    if let reason = obstacle(to: question(for: requirement, uid)) { return then(unavailable(reason)) }
    askFingers(uid) { [unowned self] fingers in
      guard !conversation.isOver else { return }
      let question = question(for: requirement, uid)
      if let reason = obstacle(to: question) { return then(unavailable(reason)) }
      let valid = slots.filter { fingers.agree(with: $0.terms?.fingers(of: question.uid) ?? []) }
      guard !valid.isEmpty else { return then(unavailable(fingers.objection)) }
      if !question.takesPassword, let obstacle = fingers.reason { return then(unavailable(obstacle)) }
      showPresencePrompt(question, for: conversation, purpose: purpose) { outcome, seconds in
        if let fault = outcome.fault(method: "pam", retryAfterMilliseconds: Int(seconds) * 1000) {
          return then(.failure(fault))
        }
        // Asked again, because slots may have been removed while the person was asked.
        let left = valid.filter(keychain.slots.contains)
        then(left.isEmpty ? unavailable(noSlot) : .success((question, left)))
      }
    }
  }
}
